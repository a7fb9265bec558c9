"""The face of the Rust twin, ``loopwatch-native``: the same classes and functions, the same verdicts.

Imported by ``engine`` alone, and only where the twin is there and wanted.
"""

from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, Self

from loopwatch.detect.finding import Approach
from loopwatch.detect.reply import PIECE, Judged
from loopwatch.detect.settings import LoopDetection
from loopwatch.detect.trip import Trip

rust: Any = import_module("loopwatch_native")

figures_of = lru_cache(maxsize=64)(rust.Figures)
"""The figures of a ``LoopDetection`` as Rust has them, made once: a program has few settings."""


class LoopDetector(rust.Detector):  # type: ignore[misc]  # a class that no stub describes
    """One detector for one reply (of one channel): ``push`` each piece of text, look at the answer.

    Without settings it runs the preset ``balanced``. Its memory is bounded whatever the reply holds
    (under 2 MiB), its work a constant a character. After a trip it is inert.
    """

    __slots__ = ()

    def __new__(cls, settings: LoopDetection | None = None) -> Self:
        """Start at the beginning of a reply."""
        settings = LoopDetection.preset("balanced") if settings is None else settings
        detector: Self = super().__new__(cls, figures_of(settings), Trip)
        return detector

    @property
    def approaches(self) -> list[Approach]:
        """How near each rule has come to a trip, in the order of the rules."""
        return [Approach(*near) for near in self.near()]


def judge_all(texts: Sequence[str], settings: LoopDetection, *, explain: bool, threads: int) -> list[Judged]:
    """Judge whole replies, on up to ``threads`` threads and without the interpreter's lock.

    Each is read as if it came in pieces of ``PIECE`` characters.
    """
    judged = rust.judge_all(figures_of(settings), texts, PIECE, explain, threads)
    return [
        Judged(chars, words, Trip(*trip) if trip else None, [Approach(*one) for one in near])
        for chars, words, trip, near in judged
    ]
