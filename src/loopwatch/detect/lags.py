"""Finding the lag at which a growing text repeats itself, in constant time a character.

``Tail`` keeps the last characters of a text. ``LagFinder`` watches it: when the tail's last few
characters occur once more further back, the distance is a lag, and from then on each new piece is
compared with what stands one lag before it. As long as they are equal the text is periodic.

One anchor is not enough. In a row of a map, ``0, 0, 0, 0, 3, 0, 0, …``, the last 24 characters
recur three characters back; the row itself recurs 292 back, and only an anchor longer than the run
of zeros sees that. So there are levels: a short anchor looked for close by at every step, a long
one far away and seldom. The cost of each is a constant share of a character.
"""

from dataclasses import dataclass
from typing import NamedTuple


class Level(NamedTuple):
    """Look every ``step`` characters for the last ``anchor`` ones within the last ``reach``."""

    step: int
    anchor: int
    reach: int


LEVELS = (Level(64, 24, 1_024), Level(512, 192, 8_192), Level(4_096, 1_024, 40_960))
"""24 characters rarely recur by chance within 1,024; periods up to 39,936 (an answer of 12,000 that
restarts in the middle is in the corpus) are found within 5,120 characters of their second copy."""

SHORT_ANCHOR = 32
"""Up to here looking backwards costs little even at its worst."""

NEAR = 12_288
FAR = 36_864
"""Characters kept at hand and, put away in pieces of a third of ``NEAR``, further back: together
what the widest level reaches, and more than it takes to follow a run back to where it began."""


class Tail:
    """The last characters of a text; ``end`` counts all that it ever had."""

    __slots__ = ("_far", "_near", "end")

    def __init__(self) -> None:
        """Start empty."""
        self._far = ""
        self._near = ""
        self.end = 0

    def append(self, piece: str) -> None:
        """Add ``piece``; what is too far back is forgotten."""
        near = self._near = self._near + piece
        self.end += len(piece)
        if len(near) > NEAR:
            cut = len(near) - NEAR * 2 // 3
            self._far = (self._far + near[:cut])[-FAR:]
            self._near = near[cut:]

    def last(self, count: int) -> str:
        """The last ``count`` characters, or all that are kept where they are fewer."""
        if count <= len(self._near):
            return self._near[len(self._near) - count :]
        return (self._far + self._near)[-count:]

    def goes_on(self, lag: int, grown: int) -> bool:
        """Whether each of the last ``grown`` characters equals the one ``lag`` before it."""
        near = self._near
        size = len(near)
        start = size - lag - grown
        if start >= 0:
            return near[start : size - lag] == near[size - grown :]
        far = self._far
        start += len(far)
        stop = start + grown
        before = far[start:stop] + near[: max(0, stop - len(far))] if start >= 0 else ""
        return before == near[size - grown :]

    def nearest_lag(self, anchor: int, reach: int) -> int | None:
        """How far before the last ``anchor`` characters the same ones stand nearest, within ``reach``."""
        if anchor <= SHORT_ANCHOR:
            near = self._near
            size = len(near)
            at = near.rfind(near[size - anchor :], max(0, size - reach), size - 1) if size > anchor else -1
            return size - anchor - at if at >= 0 else None
        # str.rfind may take anchor times reach for text made to that end; str.find does not.
        mirrored = self.last(reach)[::-1]
        lag = mirrored.find(mirrored[:anchor], 1) if len(mirrored) > anchor else -1
        return lag if lag >= 0 else None


@dataclass(slots=True)
class Repetition:
    """A stretch of text in which every character equals the one ``lag`` before it, still going on.

    ``onset`` is where its first copy begins. Where that has been forgotten already, it is the oldest
    position known.
    """

    lag: int
    onset: int

    def length(self, tail: Tail) -> int:
        """Characters from the onset to the end of ``tail``, the first copy included."""
        return tail.end - self.onset


class LagFinder:
    """The repetitions that end where the tail ends, at most one a level."""

    __slots__ = ("_due", "_found", "_levels", "repetitions")

    def __init__(self, levels: tuple[Level, ...] = LEVELS) -> None:
        """Start with nothing found."""
        self._levels = levels
        self._found: list[Repetition | None] = [None] * len(levels)
        self._due = [level.step for level in levels]
        self.repetitions: tuple[Repetition, ...] = ()

    def advance(self, tail: Tail, grown: int) -> None:
        """Follow the tail after it has grown by ``grown`` characters."""
        if self.repetitions:
            self._drop_broken(tail, grown)
        for index, due in enumerate(self._due):
            if tail.end < due:
                break  # a higher level is never due before a lower one
            level = self._levels[index]
            self._due[index] = (tail.end // level.step + 1) * level.step
            if self._found[index] is None:
                self._look(tail, index, level)

    def _drop_broken(self, tail: Tail, grown: int) -> None:
        """Forget each repetition that the last ``grown`` characters do not go on with."""
        for index, found in enumerate(self._found):
            if found is not None and not tail.goes_on(found.lag, grown):
                self._found[index] = None
                self.repetitions = tuple(filter(None, self._found))

    def _look(self, tail: Tail, index: int, level: Level) -> None:
        lag = tail.nearest_lag(level.anchor, level.reach)
        if lag is None:
            return
        if any(known.lag == lag for known in self.repetitions):
            return
        kept = tail.last(NEAR + FAR)
        onset = tail.end - len(kept) + _periodic_from(kept, lag) - lag
        self._found[index] = Repetition(lag, onset)
        self.repetitions = tuple(filter(None, self._found))


def _periodic_from(text: str, lag: int) -> int:
    """The first index from which on, to the end, each character equals the one ``lag`` before it."""
    index = len(text)
    step = 1_024
    while step:
        while index - step >= lag and text[index - step : index] == text[index - step - lag : index - lag]:
            index -= step
        step //= 4
    return index
