"""The verdict: an agent is going in circles."""

from dataclasses import dataclass
from typing import Literal, get_args

StepRule = Literal[
    "repeat",
    "poll",
    "failure",
    "stuck",
    "cycle",
    "sweep",
    "recycled",
    "handover",
    "recursion",
    "critique",
    "rewrite",
    "complaint",
    "text",
]
RULES: tuple[StepRule, ...] = get_args(StepRule)
"""Every way to see an agent going in circles, in the order in which a step is judged."""

_SEEN: dict[StepRule, str] = {
    "repeat": "the same call brought the same result {repeats} times in a row",
    "poll": "a poll brought the same answer {repeats} times in a row",
    "failure": "{repeats} calls in a row failed in the same way, whatever their arguments",
    "stuck": "the same call failed as before {repeats} times, whatever was done in between",
    "cycle": "{period} steps were repeated {repeats} times over",
    "sweep": "a sweep started over: {repeats} steps in a row brought what it had brought before",
    "recycled": "{repeats} steps in a row brought nothing that had not been there before",
    "handover": "agents passed work back and forth {repeats} times without doing any",
    "recursion": "the same task was handed on to another agent {repeats} times",
    "critique": "{repeats} reviews in a row found fault and nothing got better",
    "rewrite": "a file was put back into an earlier state {repeats} times",
    "complaint": "the same complaint was answered {repeats} times and came again",
    "text": "the same was said {repeats} times and nothing done",
}


@dataclass(frozen=True, slots=True)
class StepLoop:
    """Why and where an agent's run is a loop. ``str()`` gives one sentence without any of its contents.

    ``onset`` is the step (from 0) where the loop began, ``steps`` how many had been read, ``period`` how
    many steps one round of it takes (None where the rounds differ), ``repeats`` how many rounds, or
    steps, were counted.
    """

    rule: StepRule
    onset: int
    steps: int
    period: int | None
    repeats: int

    def __str__(self) -> str:
        """The reason, then how much was read."""
        return f"{self.reason} (from step {self.onset} on, {self.steps} steps read)"

    @property
    def reason(self) -> str:
        """What was seen, without arguments and results."""
        if self.rule == "text" and not self.repeats:
            return "what one step said became a loop of its own"
        return _SEEN[self.rule].format(period=self.period, repeats=self.repeats)
