"""Runs to observe, and what a monitor says of them."""

from collections.abc import Iterable
from typing import Any

from loopwatch.steps.loop import StepLoop
from loopwatch.steps.monitor import StepMonitor
from loopwatch.steps.settings import StepSettings
from loopwatch.steps.step import Step


def call(
    tool: str, result: str, *, t: float = 0.0, role: str = "agent", error: str | None = None, **args: Any
) -> Step:
    return Step(role=role, tool=tool, args=args, result=result, t=t, error=error)


def say(text: str, *, role: str = "agent", t: float = 0.0) -> Step:
    return Step(role=role, result=text, t=t)


def paced(steps: Iterable[Step], seconds: float) -> list[Step]:
    """The same steps, so many seconds apart."""
    return [
        Step(
            role=one.role,
            tool=one.tool,
            args=one.args,
            result=one.result,
            error=one.error,
            t=number * seconds,
        )
        for number, one in enumerate(steps)
    ]


def verdict(steps: Iterable[Step], **settings: Any) -> StepLoop | None:
    monitor = StepMonitor(StepSettings(**settings))
    for step in steps:
        monitor.observe(step)
    return monitor.loop


def rule(steps: Iterable[Step], **settings: Any) -> str | None:
    loop = verdict(steps, **settings)
    return loop.rule if loop else None
