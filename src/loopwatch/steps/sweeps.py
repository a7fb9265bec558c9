"""Rules ``sweep`` and ``recycled``: steps that have all been taken before, with the same outcomes.

What ``sweep`` sees: an agent that reads to the end and starts over, however long one pass is; it need not
wait for the end of the second pass. What ``recycled`` sees: few steps in no fixed order, none of them new.

What they must not confuse it with: verifying again what a change may have broken. So only what was seen
since the last new change counts as seen: an edit that was never made before makes every earlier result out
of date. Nor a poll, a game or a back-off, whose steps repeat by nature and do not count here, nor the same
call in a row, which is ``repeats``'.
"""

from collections import OrderedDict, deque

from loopwatch.steps.cycles import LONGEST
from loopwatch.steps.finding import Finding
from loopwatch.steps.gaps import SPARSE, Gaps
from loopwatch.steps.memory import remember
from loopwatch.steps.ranges import Coverage
from loopwatch.steps.reading import Reading
from loopwatch.steps.settings import StepSettings

REMEMBERED = 1_024
"""Distinct steps that are remembered: the longest pass whose repetition can be seen."""
THINGS = 32
SHORTEST = LONGEST + 1
FEW = 6
"""Distinct steps among recycled ones; work that is repeated for a reason has more."""


class Pages:
    """Follows how much of each thing that is read in parts was read before."""

    __slots__ = ("_onset", "_run", "_settings", "_things")

    def __init__(self, settings: StepSettings) -> None:
        """Start with nothing read."""
        self._settings = settings
        self._things: OrderedDict[bytes, tuple[int, Coverage]] = OrderedDict()
        self._run = self._onset = 0

    def read(self, reading: Reading, changes: int) -> Finding | None:
        """Take the next step and how often the world was changed so far."""
        if reading.part is None or reading.failure is not None or reading.waits:
            self._run = 0
            return None
        since, coverage = self._things.get(reading.likeness, (changes, Coverage()))
        if since != changes:
            coverage = Coverage()
        remember(self._things, reading.likeness, (changes, coverage), THINGS)
        if not coverage.add(*reading.part):
            self._run = 0
            return None
        if not self._run:
            self._onset = reading.at
        self._run += 1
        return Finding("sweep", self._onset, None, self._run) if self._run >= self._settings.swept else None


class Sweeps:
    """Remembers where each step was last taken, and how long the latest ones have followed earlier ones."""

    __slots__ = ("_few", "_gaps", "_known", "_lag", "_last", "_onset", "_order", "_run", "_seen", "_settings")

    def __init__(self, settings: StepSettings) -> None:
        """Start with no step."""
        self._settings = settings
        self._seen: OrderedDict[bytes, tuple[int, int]] = OrderedDict()
        self._lag = self._run = self._order = self._known = self._onset = 0
        self._last = b""
        self._gaps = Gaps(0.0)
        self._few: deque[bytes] = deque(maxlen=settings.recycled)

    def read(self, reading: Reading, changes: int) -> Finding | None:
        """Take the next step and how often the world was changed so far."""
        name = reading.whole
        if reading.waits or reading.failure == "transient" or name == self._last or reading.role == "system":
            return None
        self._last = name
        self._order += 1
        self._gaps.add(reading.t)
        at, since = self._seen.get(name, (0, -1))
        remember(self._seen, name, (self._order, changes), REMEMBERED)
        known = at > 0 and since == changes
        return self._swept(reading, self._order - at if known else 0) or self._recycled(reading, known=known)

    def _swept(self, reading: Reading, lag: int) -> Finding | None:
        if lag < SHORTEST or reading.tool is None:
            self._lag = self._run = 0
            return None
        self._run = self._run + 1 if lag == self._lag else 1
        if self._run == 1:
            self._onset = reading.at
        self._lag = lag
        needed = self._settings.swept * (4 if self._gaps.typical >= SPARSE else 1)
        if self._run < needed or "advance" in reading.acts:
            return None
        return Finding("sweep", self._onset, lag, self._run)

    def _recycled(self, reading: Reading, *, known: bool) -> Finding | None:
        if not known:
            self._known = 0
            self._few.clear()
            return None
        self._known += 1
        self._few.append(self._last)
        acting = bool(reading.acts & {"advance", "look", "add"})
        needed = self._settings.recycled_acting if acting else self._settings.recycled
        if self._known < needed or len(set(self._few)) > FEW:
            return None
        return Finding("recycled", reading.at - self._known + 1, None, self._known)
