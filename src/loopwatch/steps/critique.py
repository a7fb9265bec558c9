"""Rule ``critique``: a review that always finds one more thing.

What it sees: refusals by a reviewer (by its name, or by its tool's), one after the other, with repairs
between, while nothing gets better: the same remark stands, or as many new small ones are found each time;
or the score goes up and down.

What it must not confuse it with: a review that converges. A better score, or fewer faults than ever before,
starts the count anew, an acceptance ends it, and remarks that have little in common with the last ones get
nearly twice the patience.
"""

from loopwatch.steps.calls import alike
from loopwatch.steps.finding import Finding
from loopwatch.steps.reading import Reading
from loopwatch.steps.settings import StepSettings

SAME_REMARK = 0.5
"""Share of words that two refusals of one template have in common; free remarks stay below 0.3."""


class Critique:
    """Counts the refusals since something got better."""

    __slots__ = ("_best", "_count", "_last", "_onset", "_onset_same", "_same", "_settings")

    def __init__(self, settings: StepSettings) -> None:
        """Start with nothing reviewed."""
        self._settings = settings
        self._best: float | None = None
        self._last: frozenset[str] = frozenset()
        self._count = self._same = self._onset = self._onset_same = 0

    def read(self, reading: Reading) -> Finding | None:
        """Take the next step; return the loop, if it is one by now."""
        if reading.refused is None:
            return None
        if not reading.refused or self._better(reading.standing):
            self._count = self._same = 0
            self._last = reading.said
            return None
        if not self._count:
            self._onset = reading.at
        self._count += 1
        if alike(self._last, reading.said, SAME_REMARK):
            self._same += 1
        else:
            self._same = 1
            self._onset_same = reading.at
        self._last = reading.said
        if self._same >= self._settings.reviews:
            return Finding("critique", self._onset_same, None, self._same)
        if self._count >= self._settings.reviews_apart:
            return Finding("critique", self._onset, None, self._count)
        return None

    def _better(self, standing: float | None) -> bool:
        if standing is None:
            return False
        if self._best is None or standing > self._best:
            better = self._best is not None
            self._best = standing
            return better
        return False
