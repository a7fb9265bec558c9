"""What a rule is, and what it tells the monitor."""

from dataclasses import dataclass
from typing import Protocol

from loopwatch.steps.loop import StepRule
from loopwatch.steps.reading import Reading

NEVER = 1 << 62
"""Copies that no run has: of what may be repeated for ever."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A loop that a rule has seen: where it began, how long a round is, how many were counted."""

    rule: StepRule
    onset: int
    period: int | None
    repeats: int


class Rule(Protocol):
    """Reads step after step; stateful, one for each stretch between two messages of the user."""

    def read(self, reading: Reading) -> Finding | None:
        """Take the next step; return the loop, if it is one by now."""
