"""Part of rule ``phrases``: the same words in the same order, whatever marks stand between them.

What it sees: a passage said again and again whose commas, quotes, asterisks and line breaks change
from one copy to the next. With the marks left out, it is periodic.

What it must not confuse it with: data, where the marks carry the sense. Only ``text`` counts, cells
of a few names do not, and the passage must come ``COPIES`` times.
"""

from collections import deque
from typing import NamedTuple

from loopwatch.detect.lags import LEVELS, LagFinder, Tail
from loopwatch.detect.units import classify

COPIES = 4

REMEMBERED = 128
"""Stretches whose places are remembered; a refrain that counts is shorter."""


class Said(NamedTuple):
    """Where a stretch of words stands: its place among the words' characters, and in the reply."""

    words_end: int
    reply_end: int


class Refrain:
    """Reads the words of a reply and says for how long they have been the same ones over and over."""

    __slots__ = ("_finder", "_said", "_tail")

    def __init__(self) -> None:
        """Start at the beginning of a reply."""
        self._tail = Tail()
        self._finder = LagFinder(LEVELS[:1])
        self._said: deque[Said] = deque(maxlen=REMEMBERED)

    def read(self, words: list[str], end: int, needed: int) -> int | None:
        """Take the words up to character ``end``; return the onset once ``needed`` characters repeat."""
        piece = " ".join(words) + " " if words else ""
        self._tail.append(piece)
        self._finder.advance(self._tail, len(piece))
        self._said.append(Said(self._tail.end, end))
        if not self._finder.repetitions:
            return None
        (repetition,) = self._finder.repetitions
        if repetition.length(self._tail) < max(needed, COPIES * repetition.lag):
            return None
        unit = self._tail.last(repetition.lag)
        return self._place(repetition.onset) if classify(unit.replace(" ", "\n")) == "text" else None

    def _place(self, onset: int) -> int:
        """Roughly where in the reply the words at ``onset`` stand."""
        known = next(said for said in self._said if said.words_end >= onset)
        return max(0, known.reply_end - (known.words_end - onset))
