"""The time between steps: whether somebody waits, watches or backs off."""

from collections import deque
from itertools import pairwise
from statistics import median

SLOW = 10.0
"""Seconds between two steps from which somebody waits rather than thinks: model calls take two to eight."""
SPARSE = 25.0
"""Seconds, half a minute unevenly kept, from which repetition is cheap and looks like a watch."""
RARE = 60.0
"""Seconds from which a step costs next to nothing by the hour: whoever asks so seldom keeps watch."""
GAPS = 6
"""The latest ones, by which a streak is judged."""


class Gaps:
    """The latest gaps between the steps of a streak, in seconds."""

    __slots__ = ("_gaps", "_last")

    def __init__(self, t: float) -> None:
        """Start with a streak's first step."""
        self._last = t
        self._gaps: deque[float] = deque(maxlen=GAPS)

    def add(self, t: float) -> None:
        """Take the time of the next step."""
        self._gaps.append(t - self._last)
        self._last = t

    @property
    def typical(self) -> float:
        """Their median; 0 before there is one."""
        return median(self._gaps) if self._gaps else 0.0

    @property
    def growing(self) -> bool:
        """Whether each is longer than the one before, as a back-off has it (one may not be)."""
        gaps = list(self._gaps)
        longer = sum(after > 1.15 * before for before, after in pairwise(gaps))
        return len(gaps) > 1 and longer >= max(1, len(gaps) - 2)

    @property
    def backing_off(self) -> bool:
        """Whether the caller leaves the other side time to recover."""
        return self.typical >= SLOW or self.growing

    @property
    def unknown(self) -> bool:
        """Whether nobody told the time."""
        return not any(self._gaps)
