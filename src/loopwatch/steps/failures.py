"""Rules ``failure`` and ``stuck``: calls that keep failing in the same way.

What ``failure`` sees: one tool that complains of the same thing whatever it is given (guessed columns, a
missing URL with another query each time, a batch that goes on after the account was locked), tools that
fail in turn, a search that is worded anew and finds nothing. Complaints are compared without figures and
without what they echo of the arguments. What ``stuck`` sees: the same call failing as it did before, with
other steps between: the command that is run again after each reading of the same file, the tests that
flap between two results.

What they must not confuse it with: a list worked off of which some entries are dead (arguments that have
nothing in common get more patience); a back-off; tests that fail differently each time, or with fewer
failures, which is a new outcome; repairs that do not help at once, which get more patience as long as
something is really changed.
"""

from collections import OrderedDict, deque
from dataclasses import dataclass, field

from loopwatch.steps.calls import alike
from loopwatch.steps.finding import Finding
from loopwatch.steps.gaps import Gaps
from loopwatch.steps.memory import remember
from loopwatch.steps.reading import Reading
from loopwatch.steps.settings import StepSettings

TOOLS = 32
"""Tools, and calls, of one agent that are remembered; the one not used for longest is forgotten."""
ALIKE = 0.5
"""Share of words that two variants of one call have in common; two entries of a list have fewer."""
KINDS = 3
OUTCOMES = 8


@dataclass(slots=True)
class Streak:
    """Consecutive calls of one tool that came to the same nothing."""

    sort: bytes
    onset: int
    last: Reading
    gaps: Gaps
    changes: int
    count: int = 1
    near: int = 0
    calls: set[bytes] = field(default_factory=set)


class Failures:
    """Follows each tool of one agent, and all of them together."""

    __slots__ = ("_kinds", "_last", "_onsets", "_settings", "_tools")

    def __init__(self, settings: StepSettings) -> None:
        """Start with nothing tried."""
        self._settings = settings
        self._tools: OrderedDict[str, Streak] = OrderedDict()
        self._last: str | None = None
        self._kinds: deque[bytes] = deque(maxlen=settings.all_failing)
        self._onsets: deque[int] = deque(maxlen=settings.all_failing)

    def read(self, reading: Reading, changes: int) -> Finding | None:
        """Take the agent's next step and how often its world was changed so far."""
        if reading.tool is None:
            return None
        sort = reading.fault or (reading.outcome if _fruitless(reading) else None)
        together = self._together(reading)
        last, self._last = self._last, reading.tool
        if reading.fault is None and last != reading.tool:
            self._tools.pop(reading.tool, None)  # something else was found between
        streak = self._tools.get(reading.tool)
        if sort is None:
            self._tools.pop(reading.tool, None)
            return None
        if streak is None or streak.sort != sort:
            self._begin(reading, sort, changes)
            return together
        self._tools.move_to_end(reading.tool)
        self._extend(streak, reading)
        if len(streak.calls) > 1 and streak.count >= self._patience(streak, reading, changes):
            return Finding("failure", streak.onset, 1, streak.count)
        return together

    def _begin(self, reading: Reading, sort: bytes, changes: int) -> None:
        name = reading.tool or ""
        streak = Streak(sort, reading.at, reading, Gaps(reading.t), changes, calls={reading.call})
        remember(self._tools, name, streak, TOOLS)

    @staticmethod
    def _extend(streak: Streak, reading: Reading) -> None:
        streak.count += 1
        streak.gaps.add(reading.t)
        last = streak.last
        near = last.likeness == reading.likeness or alike(last.words, reading.words, ALIKE)
        streak.near += near and not _next_entry(last, reading)
        streak.last = reading
        if len(streak.calls) < KINDS:
            streak.calls.add(reading.call)

    def _patience(self, streak: Streak, reading: Reading, changes: int) -> int:
        settings = self._settings
        if reading.failure is None:
            return settings.same_answer if reading.informative else settings.barren
        if reading.failure == "transient" or "inspect" in reading.acts:
            return self._of_others(streak, reading)
        if reading.failure == "closed":
            return settings.failing
        if changes > streak.changes and "write" not in reading.acts:
            return settings.failing_after_work
        if reading.failure == "absent" and "search" in reading.acts:
            return settings.barren
        return settings.failing if 2 * streak.near >= streak.count - 1 else settings.failing_apart

    def _of_others(self, streak: Streak, reading: Reading) -> int:
        """Of failures that are no fault of the agent's: what it inspects, whoever is away."""
        if "inspect" in reading.acts and len(streak.calls) == KINDS:
            return self._settings.surveyed
        if streak.gaps.backing_off:
            return self._settings.transient_slow
        return self._settings.failing_transient

    def _together(self, reading: Reading) -> Finding | None:
        """Judge the calls of every tool: nothing but failures, of few kinds."""
        if reading.fault is None or reading.failure == "transient":
            self._kinds.clear()
            self._onsets.clear()
            return None
        self._kinds.append(reading.fault)
        self._onsets.append(reading.at)
        if len(self._kinds) < self._settings.all_failing or len(set(self._kinds)) > KINDS:
            return None
        if len(set(self._kinds)) == 1 and (reading.failure == "absent" or "inspect" in reading.acts):
            return None  # a list of dead entries: the tool's own streak decides
        return Finding("failure", self._onsets[0], None, len(self._kinds))


def _next_entry(last: Reading, reading: Reading) -> bool:
    """Whether it is another of a list of numbered things."""
    return reading.numbered and last.likeness == reading.likeness and last.call != reading.call


def _fruitless(reading: Reading) -> bool:
    """Whether a success may be none: a search that found nothing, or the same again; an empty page."""
    if reading.waits or reading.idle:
        return False
    if reading.undone:
        return True
    return "search" in reading.acts if reading.informative else reading.barren and _asks(reading)


def _asks(reading: Reading) -> bool:
    return "search" in reading.acts or reading.part is not None


@dataclass(slots=True)
class Attempts:
    """What came of one call so far."""

    onset: int
    changes: int
    seen: set[bytes] = field(default_factory=set)
    known: int = 0


class Stuck:
    """Follows each call of one agent over whatever lies between."""

    __slots__ = ("_attempts", "_last", "_settings")

    def __init__(self, settings: StepSettings) -> None:
        """Start with nothing tried."""
        self._settings = settings
        self._attempts: OrderedDict[bytes, Attempts] = OrderedDict()
        self._last = b""

    def read(self, reading: Reading, changes: int) -> Finding | None:
        """Take the agent's next step and how often its world was changed so far."""
        if reading.tool is None:
            return None
        repeated, self._last = reading.call == self._last, reading.call
        if reading.fault is None:
            self._attempts.pop(reading.call, None)
            return None
        attempts = self._attempts.get(reading.call) or Attempts(reading.at, changes)
        remember(self._attempts, reading.call, attempts, TOOLS)
        if repeated:  # in a row: ``repeat`` decides
            return None
        worked = changes > attempts.changes
        attempts.changes = changes
        if not {reading.outcome, reading.fault if not worked else reading.outcome} & attempts.seen:
            attempts.known = 0
            attempts.onset = reading.at
        if len(attempts.seen) > OUTCOMES:
            attempts.seen.clear()
        attempts.seen.update((reading.outcome, reading.fault))
        attempts.known += 1
        if attempts.known < self._patience(reading, worked=worked):
            return None
        return Finding("stuck", attempts.onset, None, attempts.known)

    def _patience(self, reading: Reading, *, worked: bool) -> int:
        if reading.failure in {"transient", "absent"}:
            return self._settings.transient_slow
        return self._settings.stuck_after_work if worked else self._settings.stuck
