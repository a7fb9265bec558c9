"""What a scan says of one reply, and of what it could not read."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from loopwatch.detect.engine import ENGINE, LoopDetector, judge_all
from loopwatch.detect.reply import BLOCK, PIECE, Judged
from loopwatch.detect.settings import LoopDetection
from loopwatch.detect.trip import Rule
from loopwatch.detect.words import WordCount


class Near(msgspec.Struct):
    """How near one rule came to a trip: the share of its threshold, where, and of what."""

    rule: Rule
    share: float
    at_char: int
    detail: str


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
    near: list[Near] | msgspec.UnsetType = msgspec.UNSET


class Problem(msgspec.Struct):
    """Something that could not be read: where (``FILE:LINE``) and why.

    ``named`` where it is a path that was asked for, of which nothing could be read.
    """

    where: str
    reason: str
    named: bool = False

    def __str__(self) -> str:
        """``FILE:LINE: reason``."""
        return f"{self.where}: {self.reason}"


class Reading:
    """One reply being read, piece by piece, to the end: also after a trip, to know how long it was.

    However it comes, the detector gets it in pieces of ``PIECE`` characters: a verdict is the same of a
    stream, of a record and of a file.
    """

    __slots__ = ("_detector", "_rest", "_words", "chars")

    def __init__(self, settings: LoopDetection) -> None:
        """Start at the beginning of a reply."""
        self._detector = LoopDetector(settings)
        self._words = WordCount()
        self._rest = ""  # less than a piece
        self.chars = 0

    def read(self, text: str) -> None:
        """Take the next piece of the reply, of any length."""
        self.chars += len(text)
        for start in range(0, len(text), BLOCK):
            self._words.read(text[start : start + BLOCK])
        text = self._rest + text
        whole = len(text) - len(text) % PIECE
        self._rest = text[whole:]
        push = self._detector.push
        for start in range(0, whole, PIECE):
            if push(text[start : start + PIECE]) is not None:
                return

    def verdict(self, name: str, source: str, *, explain: bool = False) -> Verdict:
        """What is to be said of it, now that it has ended."""
        trip = self._detector.push(self._rest)
        self._rest = ""
        words = self._words.total + self._words.open  # the reply has ended, and its last word with it
        near = self._detector.approaches if explain else []
        return _verdict(Judged(self.chars, words, trip, near), name, source, explain=explain)


class Reply(NamedTuple):
    """A whole reply that waits to be judged: what it is called and where it was found."""

    text: str
    name: str
    source: str


def judge_replies(
    replies: Sequence[Reply], settings: LoopDetection, *, explain: bool, threads: int = 1
) -> Iterator[Verdict]:
    """The verdicts on whole replies, in their order."""
    texts = [reply.text for reply in replies]
    judged = judge_all(texts, settings, explain=explain, threads=threads)
    for one, (_, name, source) in zip(judged, replies, strict=True):
        yield _verdict(one, name, source, explain=explain)


def judge(text: str, settings: LoopDetection, name: str, source: str, *, explain: bool = False) -> Verdict:
    """Read one reply whole."""
    (verdict,) = judge_replies([Reply(text, name, source)], settings, explain=explain)
    return verdict


def _verdict(judged: Judged, name: str, source: str, *, explain: bool) -> Verdict:
    chars, words, trip, approaches = judged
    near = [Near(*one) for one in approaches] if explain else msgspec.UNSET
    if trip is None:
        return Verdict(id=name, source=source, chars=chars, words=words, tripped=False, near=near)
    return Verdict(
        id=name,
        source=source,
        chars=chars,
        words=words,
        tripped=True,
        rule=trip.rule,
        at_char=trip.chars,
        at_word=trip.words,
        onset_char=trip.onset,
        period_chars=trip.period,
        repeats=None if trip.repeats is None else round(trip.repeats, 1),
        saved_chars=chars - trip.chars,
        sample=trip.sample,
        near=near,
    )
