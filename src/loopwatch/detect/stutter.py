"""Part of rule ``cycle``: a passage repeated with slips.

What it sees: a sentence said again and again in which, now and then, sampling picks another word.
No run of exact copies grows long, but one lag comes back again and again: what the runs at that lag
repeat is added up, as long as they follow each other closely and make up a good part of the text.

What it must not confuse it with: a form filled in again and again. There too one lag comes back,
but something changes in every copy, so that no run ever holds a whole copy twice; only runs that do
are counted. Nor a list of rows or log lines of a few kinds, of which equal ones stand side by side
by chance: the unit must be a sentence of some length, and what stands between the runs must be made
of its words.
"""

from typing import NamedTuple

from loopwatch.detect.characters import lexical_word
from loopwatch.detect.lags import Repetition

SHARE = 0.2
"""Of the text since the first run, how much must repeat: with one word in twenty wrong, 0.3 does."""

GAP_COPIES = 12
"""Runs further apart than this many copies belong to different stories."""

UNIT_WORDS = 8
"""Distinct words of the sentence: rows of tiles and moves of a puzzle have up to six."""

OWN_WORDS = 0.85
"""Of the words since the first run, how many must be the sentence's own."""

LAGS = 8
"""Lags remembered; the one not seen for longest goes."""


class Slips(NamedTuple):
    """Runs at one lag, close to each other: where the first began, what they repeat, where the last ended."""

    onset: int
    repeated: int
    until: int


class Stutter:
    """Adds up the runs of repetition that have ended, by their lag."""

    __slots__ = ("_by_lag",)

    def __init__(self) -> None:
        """Start at the beginning of a reply."""
        self._by_lag: dict[int, Slips] = {}

    def add(self, ended: Repetition, until: int) -> Slips | None:
        """Count a repetition of text that ended at character ``until``; return the sum for its lag.

        None where it held no copy twice, or where too little of the text since the onset repeats.
        """
        lag = ended.lag
        repeated = until - ended.onset - lag
        if repeated < lag:
            return None
        known = self._by_lag.pop(lag, None)
        if known is None or ended.onset - known.until > GAP_COPIES * lag:
            known = Slips(ended.onset, 0, until)
        slips = self._by_lag[lag] = Slips(known.onset, known.repeated + repeated, until)
        if len(self._by_lag) > LAGS:
            del self._by_lag[next(iter(self._by_lag))]
        return slips if slips.repeated >= SHARE * (until - slips.onset) else None


def is_near_copies(unit: str, text: str) -> bool:
    """Whether ``text`` is little else than ``unit``, a sentence, with slips."""
    own = set(lexical_word.findall(unit))
    words = lexical_word.findall(text)
    return len(own) >= UNIT_WORDS and sum(word in own for word in words) >= OWN_WORDS * len(words)
