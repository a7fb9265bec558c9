"""What a scan says of one reply, and of what it could not read."""

from collections.abc import Iterable

import msgspec

from loopwatch.detect.detector import LoopDetector
from loopwatch.detect.engine import ENGINE
from loopwatch.detect.finding import Approach
from loopwatch.detect.settings import LoopDetection
from loopwatch.detect.trip import Rule
from loopwatch.detect.words import WordCount

PIECE = 64
"""Characters a push: some sixteen tokens."""


class Verdict(msgspec.Struct, kw_only=True):
    """One reply: whether it is a loop, since when, and what cutting it would have saved.

    All places and lengths in characters (code points) or words of the reply. ``saved_chars`` follow the
    trip. ``sample`` is a piece of what repeats; ``near`` is filled where the scan was asked to explain.
    """

    id: str
    source: str
    chars: int
    words: int
    tripped: bool
    rule: Rule | None = None
    at_char: int | None = None
    at_word: int | None = None
    onset_char: int | None = None
    period_chars: int | None = None
    repeats: float | None = None
    saved_chars: int = 0
    sample: str = ""
    engine: str = ENGINE
    near: list[Approach] | msgspec.UnsetType = msgspec.UNSET


class Problem(msgspec.Struct):
    """Something that could not be read: where (``FILE:LINE``) and why."""

    where: str
    reason: str

    def __str__(self) -> str:
        """``FILE:LINE: reason``."""
        return f"{self.where}: {self.reason}"


class Reading:
    """One reply being read, piece by piece, to the end: also after a trip, to know how long it was."""

    __slots__ = ("_detector", "_words", "chars")

    def __init__(self, settings: LoopDetection) -> None:
        """Start at the beginning of a reply."""
        self._detector = LoopDetector(settings)
        self._words = WordCount()
        self.chars = 0

    def read(self, text: str) -> None:
        """Take the next piece of the reply, of any length."""
        self.chars += len(text)
        self._words.read(text)
        push = self._detector.push
        for start in range(0, len(text), PIECE):
            if push(text[start : start + PIECE]) is not None:
                return

    def verdict(self, name: str, source: str, *, explain: bool = False) -> Verdict:
        """What is to be said of it."""
        trip = self._detector.trip
        near = self._detector.approaches if explain else msgspec.UNSET
        words = self._words.total + self._words.open  # the reply has ended, and its last word with it
        if trip is None:
            return Verdict(id=name, source=source, chars=self.chars, words=words, tripped=False, near=near)
        return Verdict(
            id=name,
            source=source,
            chars=self.chars,
            words=words,
            tripped=True,
            rule=trip.rule,
            at_char=trip.chars,
            at_word=trip.words,
            onset_char=trip.onset,
            period_chars=trip.period,
            repeats=None if trip.repeats is None else round(trip.repeats, 1),
            saved_chars=self.chars - trip.chars,
            sample=trip.sample,
            near=near,
        )


def judge(
    pieces: Iterable[str], settings: LoopDetection, name: str, source: str, *, explain: bool = False
) -> Verdict:
    """Read one reply whole."""
    reading = Reading(settings)
    for piece in pieces:
        reading.read(piece)
    return reading.verdict(name, source, explain=explain)
