"""Part of rule ``cycle``: the tail is periodic but for one number that counts on and on.

What it sees: ``Step 8: Add a feedback form. Step 9: Add a feedback form. …``; rows with a rising id
and one content; transcripts whose time stamps advance while the line does not. With each number as
one ``0`` (``skeleton``) such a text is periodic; then the numbers themselves are looked at: from one
copy to the next each must rise by the same amount as before, or stay.

What it must not confuse it with. Code unrolled with care (``out[7] = in[7] + in[8]``): there several
different numbers move; here all that move show one value (time stamps excepted: a line has a
beginning and an end). Songs that count down: they end by themselves. Bare lists of numbers: they
say nothing and are never a loop here. Long units (over ``UNIT_CHARS``): each carries work. Numbered
functions, utility classes, songs that count up: up to 27,000 characters of them have been
legitimate, so this is the most patient part of the rule. It is less patient with one sentence said
under a label that counts (``12. Review the report.``): there nothing at all follows from the number.
"""

import re
from collections import deque
from collections.abc import Iterable
from itertools import pairwise
from typing import Literal, NamedTuple

from loopwatch.detect.characters import letter, lexical_word, visible_run
from loopwatch.detect.lags import LEVELS, LagFinder, Repetition
from loopwatch.detect.skeleton import Number, Skeleton

STRIDE = 256
"""Characters read at a time: the most patient of rules may be late by a few lines."""

UNIT_CHARS = 300
"""Longest unit, each number in it counted as one character."""

UNIT_NUMBERS = 8
"""Numbers in a unit: a counter said a few times, a time stamp in parts; more are a row of data."""

SENTENCE_CHARS = 120
SENTENCE_WORDS = 4
SENTENCE_LETTERS = 0.75
"""A sentence: short, of four words or more, and three visible characters in four are letters."""

FORM_LINES = 3
"""Lines of a unit from which on it is a form, filled in for one thing after the other."""

CountedKind = Literal["counted_label", "counted_line", "counted_form"]

label = re.compile(r"0[^ \t\n]{0,2}[.:)\]\uff1a\u3001\uff09](?:[ \t\n]|[^\x00-\x7f])")
"""A number that is a label of what follows (``8:``, ``12.``, ``[3]``) and no part of what is said."""

line_end = re.compile("\n")
filled_line = re.compile(r"[^\n]*[^\n ][^\n]*")


class Counting(NamedTuple):
    """A run of copies in which each number rises by its own constant amount.

    ``onset`` in characters of the reply; ``kind`` says what it is that is counted (``_kind``).
    """

    onset: int
    copies: float
    kind: CountedKind


class _Run:
    """A counting that goes on: how much each number of the unit rises, and the last unit's values."""

    __slots__ = ("_last", "_rises", "_seen", "kind", "onset", "repetition")

    def __init__(self, repetition: Repetition, numbers: list[Number], per_unit: int, unit: str) -> None:
        """Take the numbers that count, oldest first."""
        last, before = numbers[-per_unit:], numbers[-2 * per_unit : -per_unit]
        times_that_move = [
            new.is_time for new, old in zip(last, before, strict=True) if new.value != old.value
        ]
        moving = times_that_move.count(False) + any(times_that_move)  # all time stamps together are one
        self.repetition = repetition
        self.onset = numbers[0].end - 1
        self.kind = _kind(unit, moving)
        self._seen = len(numbers)
        self._last = deque((known.value for known in last), per_unit)
        self._rises = deque((new.value - old.value for new, old in zip(last, before, strict=True)), per_unit)

    def goes_on(self, numbers: list[Number]) -> bool:
        """Count ``numbers`` in if they are what the run makes one expect."""
        for known in numbers:
            if known.value - self._last[0] != self._rises[0]:
                return False
            self._last.append(known.value)
            self._rises.rotate(-1)
            self._seen += 1
        return True

    @property
    def copies(self) -> float:
        """How many units have been counted."""
        return self._seen / len(self._last)


class Counters:
    """Reads a reply block by block and says how long it has been nothing but counting."""

    __slots__ = ("_data", "_finder", "_run", "_skeleton", "_unread")

    def __init__(self) -> None:
        """Start at the beginning of a reply."""
        self._skeleton = Skeleton()
        self._finder = LagFinder(LEVELS[:1])
        self._unread = ""
        self._run: _Run | None = None
        self._data: Repetition | None = None  # a repetition known to say nothing

    def read(self, block: str) -> Counting | None:
        """Take the next block; return the counting that ends here, if there is one."""
        self._unread += block
        if len(self._unread) < STRIDE:
            return None
        grown = self._skeleton.append(self._unread)
        self._unread = ""
        self._finder.advance(self._skeleton.tail, grown)
        run = self._run
        if (
            run is None
            or run.repetition not in self._finder.repetitions
            or not run.goes_on(self._skeleton.newest())
        ):
            run = self._run = self._begin()
        return None if run is None else Counting(run.onset, run.copies, run.kind)

    def _begin(self) -> _Run | None:
        """The run that ends here, followed back to where it began."""
        if not self._finder.repetitions:
            return None
        (repetition,) = self._finder.repetitions
        lag = repetition.lag
        if lag > UNIT_CHARS or repetition is self._data:
            return None
        unit = self._skeleton.tail.last(lag)
        if not lexical_word.search(unit * 2):
            self._data = repetition
            return None
        start = self._skeleton.tail.end - lag
        newest_first = list(self._skeleton.newest_first(start - 2 * lag))
        per_unit = sum(known.skeleton_end > start for known in newest_first)
        if not 0 < per_unit <= UNIT_NUMBERS or len(newest_first) < 2 * per_unit:
            return None
        rises = [
            new.value - old.value for new, old in zip(newest_first, newest_first[per_unit:], strict=False)
        ]
        del rises[per_unit:]
        cuts = [start + found.end() for found in line_end.finditer(unit)]
        if min(rises) < 0 or not _is_one_series(newest_first, rises, cuts):
            return None
        counted = _steady(self._skeleton.newest_first(repetition.onset), rises)
        return _Run(repetition, counted, per_unit, unit) if len(counted) >= 2 * per_unit else None


def _is_one_series(newest_first: list[Number], rises: list[int], cuts: list[int]) -> bool:
    """Whether what moves in a unit is one counter; where units are lines, of a unit cut there.

    Either all numbers that move show one value, or they count on from one to the next, as where two
    sentences take turns. Time stamps may differ: a line has a beginning and an end.
    """
    per_unit = len(rises)
    begun = [sum(known.skeleton_end > cut for known in newest_first[:per_unit]) for cut in cuts]
    for first in begun or range(per_unit):
        unit = list(enumerate(newest_first[first : first + per_unit], first))
        shown = [known.value for place, known in unit if rises[place % per_unit] and not known.is_time]
        steps = {new - old for new, old in pairwise(shown)}
        if steps <= {0} or steps == {rises[0] / len(shown)}:
            return True
    return False


def _steady(newest_first: Iterable[Number], rises: list[int]) -> list[Number]:
    """The numbers, oldest first, from where on each rises as its place of the last unit did."""
    per_unit = len(rises)
    steady: list[Number] = []
    for place, known in enumerate(newest_first):
        if place >= per_unit and steady[place - per_unit].value - known.value != rises[place % per_unit]:
            break
        steady.append(known)
    return steady[::-1]


def _kind(unit: str, moving: int) -> CountedKind:
    """What is counted: a sentence under one moving number, a line or two of anything else, or a form."""
    if len(filled_line.findall(unit * 2)) >= 2 * FORM_LINES:
        return "counted_form"
    words = {found.group() for found in lexical_word.finditer(unit * 2)}
    visible = sum(len(found.group()) for found in visible_run.finditer(unit))
    is_labelled = (
        moving == 1
        and label.search(unit * 2) is not None
        and len(unit) <= SENTENCE_CHARS
        and len(words) >= SENTENCE_WORDS
        and len(letter.findall(unit)) >= SENTENCE_LETTERS * visible
    )
    return "counted_label" if is_labelled else "counted_line"
