"""Rule ``cycle``: the tail of the reply is periodic, and has been for too long.

What it sees: any passage said again and again to the letter, from one character to forty thousand,
with blanks or without, in any script; through ``counters``, passages in which nothing changes but a
number that counts on; through ``stutter``, passages in which a word slips now and then.

What it must not confuse it with: data. A map, a matrix, a hex dump, the Base64 of a flat picture
are just as periodic, and longer than most loops. So how long is long enough depends on what repeats
(``units``): a sentence said over 800 characters is a loop, a row of zeros is not one before it has
filled a map of 128 by 128. And whatever it is, it must come four times over, a long passage five
times: refrains, rounds, and blocks repeated with care come two or three times.
"""

from loopwatch.detect.counters import Counters, Counting
from loopwatch.detect.finding import Approach, Finding
from loopwatch.detect.lags import LagFinder, Repetition, Tail
from loopwatch.detect.settings import CyclePatience
from loopwatch.detect.stutter import Stutter, is_near_copies
from loopwatch.detect.trip import SAMPLE_CHARS
from loopwatch.detect.units import Kind, classify

SLIPS_READ = 4_096
"""Characters looked through for words that are not the sentence's own."""

PROSE = ("text", "code")
"""What may slip: only words do."""

REMEMBERED = 8
"""Repetitions whose class is remembered; no more than three are followed at a time."""


class Cycles:
    """Follows the repetitions at the tail of a reply until one has gone on for too long."""

    __slots__ = ("_counters", "_finder", "_kinds", "_patience", "_stutter", "_tail", "approach")

    def __init__(self, patience: CyclePatience) -> None:
        """Start at the beginning of a reply."""
        self._patience = patience
        self._tail = Tail()
        self._finder = LagFinder()
        self._counters = Counters()
        self._stutter = Stutter()
        self._kinds: dict[tuple[int, int], Kind] = {}
        self.approach = Approach("cycle", 0.0, 0, "nothing repeated itself")

    def read(self, block: str, end: int) -> Finding | None:
        """Take the block that ends at character ``end``; return the loop, if it is one by now."""
        tail = self._tail
        tail.append(block)
        before = self._finder.repetitions
        self._finder.advance(tail, len(block))
        after = self._finder.repetitions
        for repetition in after:
            if repetition.length(tail) >= self._patience.least(repetition.lag):
                finding = self._judge(repetition, end)
                if finding:
                    return finding
        if before is not after:
            for repetition in before:
                if repetition not in after:
                    finding = self._judge_slips(repetition, end - len(block))
                    if finding:
                        return finding
        counting = self._counters.read(block)
        return counting and self._judge_counting(counting, end)

    def _judge(self, repetition: Repetition, end: int) -> Finding | None:
        kind = self._kind(repetition)
        length = repetition.length(self._tail)
        needed = self._patience.needed(kind, repetition.lag)
        self._note(length / needed, end, f"{kind} of {repetition.lag} characters for {length}", needed)
        if length < needed:
            return None
        unit = self._tail.last(repetition.lag)
        begin = -length % repetition.lag  # where in the last period the copies begin
        sample = (unit[begin:] + unit[:begin])[:SAMPLE_CHARS]
        return Finding(repetition.onset, repetition.lag, length / repetition.lag, sample)

    def _judge_slips(self, ended: Repetition, until: int) -> Finding | None:
        """Judge a repetition that ended with the block before, together with the like of it before."""
        slips = self._stutter.add(ended, until)
        if slips is None:
            return None
        needed = self._patience.needed("text", ended.lag)
        share = slips.repeated / needed
        since = self._tail.last(min(self._tail.end - slips.onset, SLIPS_READ))
        unit = self._tail.last(self._tail.end - ended.onset)[: ended.lag]
        if share >= 1 and not (classify(unit) in PROSE and is_near_copies(unit, since)):
            return None
        self._note(share, until, f"text of {ended.lag} characters, with slips, for {slips.repeated}", needed)
        if share < 1:
            return None
        return Finding(slips.onset, ended.lag, slips.repeated / ended.lag, unit[:SAMPLE_CHARS])

    def _judge_counting(self, counting: Counting, end: int) -> Finding | None:
        length = end - counting.onset
        needed = self._patience.chars(counting.kind)
        self._note(
            length / needed, end, f"{counting.kind} in {counting.copies:.0f} copies for {length}", needed
        )
        if length < needed:
            return None
        sample = self._tail.last(min(length, SAMPLE_CHARS))
        return Finding(counting.onset, round(length / counting.copies), counting.copies, sample)

    def _kind(self, repetition: Repetition) -> Kind:
        """The class of what repeats, looked at once a repetition."""
        key = (repetition.lag, repetition.onset)
        kind = self._kinds.get(key)
        if kind is None:
            if len(self._kinds) >= REMEMBERED:
                self._kinds.clear()
            kind = self._kinds[key] = classify(self._tail.last(repetition.lag))
        return kind

    def _note(self, share: float, end: int, what: str, needed: int) -> None:
        if share > self.approach.share:
            self.approach = Approach("cycle", share, end, f"{what} characters of {needed}")
