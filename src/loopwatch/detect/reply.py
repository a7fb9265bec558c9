"""Whole replies: what is to be said of one that has ended, however it came."""

from collections.abc import Sequence
from typing import NamedTuple

from loopwatch.detect.detector import LoopDetector
from loopwatch.detect.finding import Approach
from loopwatch.detect.settings import LoopDetection
from loopwatch.detect.trip import Trip
from loopwatch.detect.words import WordCount

PIECE = 64
"""Characters a push: some sixteen tokens."""

BLOCK = 1 << 16
"""Characters whose words are counted at a time: as a list they take ten times the room."""


class Judged(NamedTuple):
    """How long a reply is, in characters and words; its trip; how near each rule came, if that was asked."""

    chars: int
    words: int
    trip: Trip | None
    approaches: list[Approach]


def judge_all(texts: Sequence[str], settings: LoopDetection, *, explain: bool, threads: int) -> list[Judged]:
    """Judge whole replies, each as if it came in pieces of ``PIECE`` characters.

    ``threads`` is for the twin: here one reply is read after the other.
    """
    del threads
    return [_judge(text, settings, explain=explain) for text in texts]


def _judge(text: str, settings: LoopDetection, *, explain: bool) -> Judged:
    detector = LoopDetector(settings)
    push = detector.push
    for start in range(0, len(text), PIECE):
        if push(text[start : start + PIECE]) is not None:
            break
    words = count_words(text)
    return Judged(len(text), words, detector.trip, detector.approaches if explain else [])


def count_words(text: str) -> int:
    """The words of a reply that has ended, and its last word with it."""
    count = WordCount()
    for start in range(0, len(text), BLOCK):
        count.read(text[start : start + BLOCK])
    return count.total + count.open
