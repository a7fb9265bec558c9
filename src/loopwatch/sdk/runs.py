"""One agent's run, with ceilings: ``with tracker.agent("name", max_iterations=50) as run:``.

Each model call made in the block counts, whichever wrapped client makes it. The call that would pass a
ceiling is not made: LimitExceeded is raised in its place. An agent that runs within another one spends
the outer one's budget too.
"""

import math
import threading
from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from loopwatch.clock import Clock
from loopwatch.errors import AgentLoop, LimitExceeded, SettingsError
from loopwatch.records.money import NANO
from loopwatch.sdk.forking import renewed_after_fork
from loopwatch.sdk.numbers import require
from loopwatch.sdk.steps import Monitor, Transcript

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from loopwatch.steps.step import Step
    from loopwatch.wire.assembly import Format
    from loopwatch.wire.reply import ToolCall

_runs: ContextVar[tuple["AgentRun", ...]] = ContextVar("loopwatch_runs", default=())


def current_run() -> "AgentRun | None":
    """The agent run of this place."""
    runs = _runs.get()
    return runs[-1] if runs else None


class AgentRun:
    """A run, its ceilings and what it has spent. None: no ceiling. Enter it once; sync and async alike.

    ``max_cost`` is in US dollars, ``max_seconds`` on a monotonic clock. Calls that are made side by side
    are counted one by one, so no more than ``max_iterations`` begin; cost is known when a reply has
    ended, so calls under way may pass ``max_cost``, and one of a model without a price adds nothing but
    is counted in ``unpriced``. ``steps`` reads the tools' calls and results that the tracker sees. Raises
    SettingsError for a ceiling that is no number from 0 on.
    """

    def __init__(
        self,
        name: str,
        *,
        clock: Clock,
        max_iterations: int | None = None,
        max_cost: float | None = None,
        max_seconds: float | None = None,
        steps: Monitor | None = None,
    ) -> None:
        ceilings = {"max_iterations": max_iterations, "max_cost": max_cost, "max_seconds": max_seconds}
        for key, value in ceilings.items():
            if value is not None and value != math.inf:
                require(key, value)
        self.name = name
        self.max_iterations = max_iterations
        self.max_cost = max_cost
        self.max_seconds = max_seconds
        self.parent: AgentRun | None = None
        self.iterations = 0
        self.unpriced = 0
        self.tokens = 0
        self._cost_nano = 0
        self._clock = clock
        self._began = clock.monotonic()
        self._steps = steps
        self._transcript = Transcript(name)
        self._lock = threading.RLock()
        self._entered = False
        self._under_way = 0
        self._in_turn = True
        renewed_after_fork(self)

    def __repr__(self) -> str:
        """What it has spent."""
        return f"AgentRun({self.name!r}, {self.iterations} calls, {self.cost:.6f} USD, {self.seconds:.1f} s)"

    @property
    def cost(self) -> float:
        """US dollars spent so far, agents within included."""
        return self._cost_nano / NANO

    @property
    def seconds(self) -> float:
        """How long it has been running."""
        return self._clock.monotonic() - self._began

    def admit(self, spoken: "Format", body: dict[str, Any]) -> None:
        """Count a call that is about to be made.

        Raises LimitExceeded where it would pass a ceiling of this run or of one around it, and AgentLoop
        where the steps that the request completes make a loop; then it is counted nowhere.
        """
        self._observe(spoken, body)
        counted: list[AgentRun] = []
        try:
            for run in self._lineage():
                run.count()
                counted.append(run)
        except LimitExceeded:
            for run in counted:
                run.count(-1)
            raise
        with self._lock:
            self._under_way += 1
            self._in_turn = self._in_turn and self._under_way == 1

    def forget(self) -> None:
        """Go on in a forked child with a budget of its own, spent as far as it was.

        Calls that are under way are the parent's.
        """
        self._lock = threading.RLock()
        self._under_way = 0

    def check(self) -> None:
        """Raise LimitExceeded where no further call may be made, without counting one."""
        for run in self._lineage():
            run.count(0)

    def heard(self, calls: tuple["ToolCall", ...]) -> None:
        """A reply wants these tools called."""
        if self._steps is not None and calls:
            with self._lock:
                self._transcript.called(calls, in_turn=self._in_turn)

    def observe_tool(
        self, tool: str, args: "Mapping[str, Any]", result: str, *, error: str | None = None
    ) -> None:
        """Have the monitor read one use of a tool that no request shows. Raises AgentLoop."""
        if self._steps is not None:
            self.observe(self._transcript.step(tool, args, result, error, self.seconds))

    def observe(self, step: "Step") -> None:
        """Have the monitor read a step that no request shows. Raises AgentLoop."""
        with self._lock:
            verdict = None if self._steps is None else self._steps.observe(step)
        if verdict is not None:
            raise AgentLoop(verdict)

    def spend(self, nano: int | None, tokens: int) -> None:
        """A reply has ended that cost so many nano-US-dollars (None: not known) and had so many tokens."""
        with self._lock:
            self._under_way -= 1
        for run in self._lineage():
            run.add(nano, tokens)

    def _observe(self, spoken: "Format", body: dict[str, Any]) -> None:
        if self._steps is None:
            return
        with self._lock:
            done = list(self._transcript.steps(spoken, body, self.seconds))
        for step in done:
            self.observe(step)

    def _lineage(self) -> "Iterator[AgentRun]":
        """This run and those around it."""
        run: AgentRun | None = self
        while run is not None:
            yield run
            run = run.parent

    def count(self, calls: int = 1) -> None:
        """Count calls in this run alone; -1 takes back one. Raises LimitExceeded, but not for that."""
        with self._lock:
            if calls >= 0:
                self._judge()
            self.iterations += calls

    def add(self, nano: int | None, tokens: int) -> None:
        """Add what a reply had, to this run alone."""
        with self._lock:
            self.tokens += tokens
            self._cost_nano += nano or 0
            self.unpriced += nano is None

    def _judge(self) -> None:
        if self.max_iterations is not None and self.iterations >= self.max_iterations:
            raise LimitExceeded("iterations", self.iterations, self.max_iterations)
        if self.max_cost is not None and self._cost_nano >= self.max_cost * NANO:
            raise LimitExceeded("cost", self.cost, self.max_cost)
        if self.max_seconds is not None and self.seconds >= self.max_seconds:
            raise LimitExceeded("seconds", self.seconds, self.max_seconds)

    def __enter__(self) -> Self:
        """The run begins."""
        if self._entered:
            raise SettingsError("this run has begun already: make another with tracker.agent(...)")
        self._entered = True
        self.parent = current_run()
        self._began = self._clock.monotonic()
        _runs.set((*_runs.get(), self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The run is over; the one around it goes on."""
        _runs.set(tuple(run for run in _runs.get() if run is not self))  # whoever left before or will after

    async def __aenter__(self) -> Self:
        """As ``with``."""
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """As ``with``."""
        self.__exit__(kind, error, trace)
