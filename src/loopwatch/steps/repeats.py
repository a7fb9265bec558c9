"""Rules ``repeat`` and ``poll``: the same call with the same outcome, in a row.

What they see: an agent that makes one call again and again and learns nothing from it, whether it fails
or not; a poll that waits for what can no longer come. Results are compared as well as arguments, without
what changes by itself (``volatile``); failures by what they complain of.

What they must not confuse it with: a poll whose answer moves (never the same outcome); a poll of something
that takes its time, so that pending answers get most patience, and more when they come slowly; a back-off,
whose gaps are long or grow; scrolling, clicking and throwing dice, where the same call is the point; a nod
(a call without arguments, a receipt) to what other agents did in between; what the user wants done so many
times. What the agent says between its calls neither counts nor ends the streak.
"""

from loopwatch.steps.finding import NEVER, Finding
from loopwatch.steps.gaps import RARE, SLOW, SPARSE, Gaps
from loopwatch.steps.reading import Reading
from loopwatch.steps.settings import StepSettings


class Repeats:
    """Counts the latest call of one agent; as often as the user ``asked`` for it is no loop."""

    __slots__ = ("_asked", "_count", "_gaps", "_last", "_onset", "_settings", "_turn")

    def __init__(self, settings: StepSettings, asked: int = 0) -> None:
        """Start with no call."""
        self._settings = settings
        self._asked = asked
        self._turn = 0
        self._last: Reading | None = None
        self._gaps = Gaps(0.0)
        self._count = self._onset = 0

    def read(self, reading: Reading) -> Finding | None:
        """Take the agent's next step; return the loop, if it is one by now."""
        between = reading.turn - self._turn - 1
        self._turn = reading.turn
        if reading.tool is None:
            return None
        last, self._last = self._last, reading
        if last is None or last.call != reading.call or not _same_outcome(last, reading):
            self._gaps = Gaps(reading.t)
            self._count, self._onset = 1, reading.at
            return None
        self._gaps.add(reading.t)
        self._count += 1
        needed = patience(reading, self._gaps, self._settings)
        if between and reading.bare and reading.failure is None and not reading.informative:
            needed = max(needed, self._settings.acting)
        if self._count < needed or self._count <= self._asked:
            return None
        return Finding("poll" if reading.waits else "repeat", self._onset, 1, self._count)


def _same_outcome(last: Reading, reading: Reading) -> bool:
    return last.outcome == reading.outcome or (last.fault is not None and last.fault == reading.fault)


def patience(reading: Reading, gaps: Gaps, settings: StepSettings) -> int:
    """How many equal calls in a row make a loop."""
    if reading.failure is not None:
        return _of_failure(reading, gaps, settings)
    if reading.tool in settings.waiting_tools:
        return NEVER
    slow = gaps.typical >= SLOW
    asks = slow and not reading.ended
    starts = reading.acts & {"hand", "write"} and not reading.acts & {"ask", "wait", "look", "locate"}
    if reading.pending and starts and not slow:
        return settings.writing  # each call starts the same anew
    if reading.pending or reading.idle or (asks and "wait" in reading.acts):
        return _of_wait(reading, settings, slow=slow, sparse=gaps.typical >= SPARSE)
    if asks and "ask" in reading.acts and gaps.typical < SPARSE:
        return settings.waiting_measured
    return _of_success(reading, gaps, settings)


def _of_wait(reading: Reading, settings: StepSettings, *, slow: bool, sparse: bool) -> int:
    if reading.measured:
        return settings.waiting_measured
    if sparse:
        return settings.watching
    return settings.waiting if slow else settings.waiting_quick


def _of_success(reading: Reading, gaps: Gaps, settings: StepSettings) -> int:
    if reading.acts & {"advance", "hand", "spawn"}:
        return settings.acting
    if gaps.typical >= SPARSE and not (reading.ended and "ask" in reading.acts):
        return settings.watching if gaps.typical >= RARE else settings.same_sparse
    if "write" in reading.acts:
        return settings.writing
    return settings.same_slow if gaps.typical >= SLOW else settings.same


def _of_failure(reading: Reading, gaps: Gaps, settings: StepSettings) -> int:
    if reading.failure == "transient":
        return settings.transient_slow if gaps.backing_off or gaps.unknown else settings.transient
    if reading.failure == "absent" and gaps.backing_off:
        return settings.absent_slow
    return settings.firm
