"""``LoopDetector``: reads one reply as it arrives and says when it has become a loop.

The rules see the reply in blocks of ``BLOCK`` characters counted from its beginning, so that the
verdict cannot depend on how the wire cut it into deltas. Only the seed's rule ``words`` reads each
character at once, and only its companion, the length backstop, is read once a chunk (both as the
seed has it; ``Length`` says when).
"""

from collections.abc import Callable

from loopwatch.detect.blank import Blank
from loopwatch.detect.cycles import Cycles
from loopwatch.detect.finding import Approach, BlockRule, Finding
from loopwatch.detect.length import Length
from loopwatch.detect.phrases import Phrases
from loopwatch.detect.settings import LoopDetection
from loopwatch.detect.trip import Rule, Trip
from loopwatch.detect.words import WordCount, WordSaturation

BLOCK = 128
"""Characters: a trip comes up to 127 late, and what the rules cost is shared by some thirty tokens."""

HELD = 512
"""Characters that may wait, while they cannot bring a trip, where ``words`` is the only rule."""

_BLOCK_RULES: dict[Rule, Callable[[LoopDetection], BlockRule]] = {
    "cycle": lambda settings: Cycles(settings.cycle),
    "phrases": lambda settings: Phrases(settings.phrases),
    "blank": lambda settings: Blank(settings.blank_chars),
}


class LoopDetector:
    """One detector for one reply (of one channel): ``push`` each piece of text, look at the answer.

    Without settings it runs the preset ``balanced``. Its memory is bounded whatever the reply holds
    (under 2 MiB), its work a constant a character. After a trip it is inert.
    """

    __slots__ = (
        "_counted",
        "_hold",
        "_lazy",
        "_left",
        "_length",
        "_next",
        "_pieces",
        "_rules",
        "_saturation",
        "_words",
        "trip",
    )

    def __init__(self, settings: LoopDetection | None = None) -> None:
        """Start at the beginning of a reply."""
        settings = LoopDetection.preset("balanced") if settings is None else settings
        rules = settings.rules if settings.enabled else ()
        self.trip: Trip | None = None
        self._saturation = WordSaturation(settings) if "words" in rules else None
        self._rules = [(name, make(settings)) for name, make in _BLOCK_RULES.items() if name in rules]
        limit = settings.max_response_chars if "length" in rules else 0
        self._length = Length(limit, per_chunk=self._saturation is not None)
        # Pieces may wait until a block is full, or until the words in them could matter.
        self._lazy = self._saturation is None or not self._rules
        self._words = WordCount()
        self._counted = 0  # characters of the waiting pieces whose words are in _words already
        self._pieces: list[str] = []
        self._hold = self._pieces.append
        self._next = self._left = 0  # where something must be judged next, and how far away that is
        if self._saturation is not None and self._lazy:
            self._read_words(self._saturation)
        else:
            self._await_next()

    def push(self, text: str) -> Trip | None:
        """Read the next piece of the reply; answer with the trip once it has become a loop, else None."""
        left = self._left - len(text)
        if left > 0 and self._lazy:
            if text:  # an endless stream of empty deltas must not fill the memory
                self._left = left
                self._hold(text)
            return None
        if self.trip is None:
            self.trip = self._read(text)
            if self.trip is not None:
                self._lazy = False
        return self.trip

    def _read(self, text: str) -> Trip | None:
        """Feed the rules up to each place where one of them must judge."""
        if self._saturation is not None and self._lazy:
            return self._read_words(self._saturation, text)
        at = 0
        while at < len(text):
            stop = min(len(text), at + self._left)
            trip = self._take(text[at:stop])
            if trip is not None:
                return trip
            at = stop
        if self._length.per_chunk and self._length.passed(self.chars_seen):
            return self._trip("length")
        return None

    def _read_words(self, saturation: WordSaturation, text: str = "") -> Trip | None:
        """Read what has waited and ``text``, where there is only the rule ``words`` and the backstop."""
        held = "".join(self._pieces)
        self._pieces.clear()
        seen = self.chars_seen
        stop = saturation.read(held + text)
        seen += len(text) if stop is None else stop - len(held)
        slack = min(HELD, saturation.slack)
        if self._length.limit:
            slack = max(1, min(slack, self._length.limit + 1 - seen))
        self._next, self._left = seen + slack, slack
        if stop is not None:
            return self._trip("words", Finding(saturation.saturated_from))
        return self._trip("length") if text and self._length.passed(seen) else None

    def _take(self, piece: str) -> Trip | None:
        self._left -= len(piece)
        if self._saturation is not None:
            stop = self._saturation.read(piece)
            if stop is not None:
                self._left += len(piece) - stop  # the rest of the piece is not read
                return self._trip("words", Finding(self._saturation.saturated_from))
        self._hold(piece)
        return None if self._left else self._judge()

    def _judge(self) -> Trip | None:
        """Let the block rules read a block that is full, and the backstop a reply that is too long."""
        chars = self._next
        if chars % BLOCK == 0:
            block = "".join(self._pieces)
            self._words.read(block[self._counted :])
            self._pieces.clear()
            self._counted = 0
            for name, rule in self._rules:
                finding = rule.read(block, chars)
                if finding is not None:
                    return self._trip(name, finding)
        if not self._length.per_chunk and self._length.passed(chars):
            return self._trip("length")
        self._await_next()
        return None

    def _await_next(self) -> None:
        """Set the place where something must be judged next."""
        seen = self._next
        self._next = (seen // BLOCK + 1) * BLOCK
        if self._length.limit and not self._length.per_chunk:
            self._next = min(self._next, self._length.limit + 1)
        self._left = self._next - seen

    def _seed(self) -> WordSaturation | None:
        """The rule ``words``, where it runs, with all that it has been told."""
        if self._saturation is not None and self._lazy and self._pieces:
            self._read_words(self._saturation)
        return self._saturation

    @property
    def chars_seen(self) -> int:
        """Characters (code points) read so far; after a trip, up to the one that tripped."""
        return self._next - self._left

    def _trip(self, rule: Rule, finding: Finding | None = None) -> Trip:
        words_rule = self._saturation if rule == "words" else None
        return Trip(
            rule=rule,
            words=self.words_seen,
            chars=self.chars_seen,
            onset=finding.onset if finding else None,
            period=finding.period if finding else None,
            repeats=finding.repeats if finding else None,
            offenders=words_rule.offenders if words_rule else None,
            saturated_run=words_rule.saturated_run if words_rule else None,
            sample=finding.sample if finding else "",
        )

    def _count_words(self) -> None:
        text = "".join(self._pieces)[self._counted :]
        self._words.read(text)
        self._counted += len(text)

    @property
    def words_seen(self) -> int:
        """Words that have ended so far; a last one without white space after it has not."""
        seed = self._seed()
        if seed is not None:
            return seed.words_seen
        self._count_words()
        return self._words.total

    @property
    def offenders(self) -> int:
        """Distinct words now over the threshold of the rule ``words``; 0 where that rule is off."""
        seed = self._seed()
        return seed.offenders if seed else 0

    @property
    def saturated_run(self) -> int:
        """Consecutive words up to now with the window saturated; 0 where the rule ``words`` is off."""
        seed = self._seed()
        return seed.saturated_run if seed else 0

    @property
    def peak_saturated_run(self) -> int:
        """The longest saturated run of the reply; 0 where the rule ``words`` is off."""
        seed = self._seed()
        return seed.peak_saturated_run if seed else 0

    @property
    def approaches(self) -> list[Approach]:
        """How near each rule has come to a trip, in the order of the rules."""
        seed = self._seed()
        near = [seed.approach] if seed else []
        near += [rule.approach for _, rule in self._rules]
        if self._length.limit:
            near.append(self._length.approach(self.chars_seen))
        return near
