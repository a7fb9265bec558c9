"""What a rule says to the detector: a loop seen, or how near it came to one."""

from typing import NamedTuple, Protocol

from loopwatch.detect.trip import Rule


class Finding(NamedTuple):
    """Where the loop began, its period and copies where the rule knows them, and a piece of it."""

    onset: int
    period: int | None = None
    repeats: float | None = None
    sample: str = ""


class Approach(NamedTuple):
    """How near a rule came to a trip: ``share`` of what it takes (1.0 is a trip), where, and in words."""

    rule: Rule
    share: float
    at_char: int
    detail: str


class BlockRule(Protocol):
    """A rule that reads a reply in blocks of a fixed size, so that no cutting into deltas can matter."""

    def read(self, block: str, end: int) -> Finding | None:
        """Take the block that ends at character ``end``; return the loop, if it is one by now."""
        ...

    @property
    def approach(self) -> Approach:
        """The nearest that the rule has come to a trip so far."""
        ...
