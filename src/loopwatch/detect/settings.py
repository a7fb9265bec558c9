"""Every figure that decides how long a reply may go on, each with its reason.

``LoopDetection`` is what a profile's ``loopDetection`` block becomes. Its five knobs are the first
seed's and carry the seed's figures; the patience of the further rules stands in ``CyclePatience``,
``PhrasePatience`` and ``blank_chars``, measured on ``corpus/`` (``loopwatch bench corpus``). What a
module needs to recognise a shape (anchors, windows, shares) stands in that module, with its reason.
"""

from dataclasses import dataclass, fields
from math import isfinite
from typing import Any, Literal, Self, get_args

from loopwatch.detect.counters import CountedKind
from loopwatch.detect.trip import RULES, Rule
from loopwatch.detect.units import Kind
from loopwatch.errors import SettingsError

Channel = Literal["content", "reasoning", "tools"]
Preset = Literal["seed", "balanced", "eager"]
PRESETS: tuple[Preset, ...] = get_args(Preset)
CHANNELS: tuple[Channel, ...] = get_args(Channel)
SEED_RULES: tuple[Rule, ...] = ("words", "length")


def require_positive(settings: Any, but: tuple[str, ...] = ()) -> None:
    """Raise SettingsError unless each figure of a dataclass is above 0 (those in ``but``: 0 or above).

    Lengths and counts are whole numbers; only a share may be a fraction.
    """
    for field in fields(settings):
        value = getattr(settings, field.name)
        kind, called = (int, "whole number") if field.type is int else (int | float, "number")
        if (
            isinstance(value, bool)
            or not isinstance(value, kind)
            or not isfinite(value)
            or value < 0
            or (value == 0 and field.name not in but)
        ):
            raise SettingsError(f"{field.name} is {value!r}: it must be a {called} above 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class CyclePatience:
    """How many characters a passage may go on repeating itself, by the class of what repeats.

    The first ten classes are those of ``units.classify``, the three ``counted_`` ones those of
    ``counters``. Besides, the passage must have come ``copies`` times, or ``long_copies`` times where
    one copy is longer than ``long_unit`` characters: a chorus, a tale told as a round and a block of
    SQL repeated with care come two or three times over.
    """

    text: int
    code: int
    phrase: int
    mark: int
    record: int
    markup: int
    token: int
    data: int
    fill: int
    grid: int
    counted_label: int
    counted_line: int
    counted_form: int
    copies: int
    long_copies: int
    long_unit: int = 400

    def chars(self, kind: Kind | CountedKind) -> int:
        """The least length in characters at which a repetition of ``kind`` is a loop."""
        patience: int = getattr(self, kind)
        return patience

    def least(self, period: int) -> int:
        """No repetition at ``period`` shorter than this can be a loop, whatever repeats."""
        return max(self.shortest, self._copies(period) * period)

    def needed(self, kind: Kind, period: int) -> int:
        """Characters, the first copy included, at which a repetition of ``kind`` at ``period`` is a loop."""
        return max(self.chars(kind), self._copies(period) * period)

    @property
    def shortest(self) -> int:
        """The least patience of all."""
        return min(self.chars(kind) for kind in get_args(Kind))

    def _copies(self, period: int) -> int:
        return self.copies if period <= self.long_unit else self.long_copies

    def __post_init__(self) -> None:
        """Refuse a patience of nothing."""
        require_positive(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class PhrasePatience:
    """When the recent words are nothing but phrases already said.

    Over the last ``window`` words and numbers: at least ``recycled`` of the four-word phrases have
    been said three times before and at most ``new_phrases`` of them never; of the last ``clauses``
    clauses at most ``new_clauses`` are new; and that for ``lasting`` words. (Clauses are counted where
    at least half of the phrases are known.) So that cells of a table are not taken for clauses, at
    least ``lexical`` of the words are words of two letters or more, ``distinct`` of them are
    different, and a clause has ``clause_words`` of them on average. Or the words alone, without the
    marks between them, have been periodic for ``refrain_chars`` characters.
    """

    window: int
    recycled: float
    new_phrases: float
    lasting: int
    clauses: int
    new_clauses: float
    refrain_chars: int
    lexical: float = 0.45
    distinct: int = 10
    clause_words: float = 1.5

    def __post_init__(self) -> None:
        """Refuse windows of nothing."""
        require_positive(self, but=("lasting",))


# balanced: no legitimate reply of the corpus may trip, and none that it makes one think of.
BALANCED_CYCLE = CyclePatience(
    text=800,  # legitimate: choruses and calls up to 500 characters; a reader is certain after 300
    code=1_350,  # a board of 64 equal squares, a page of equal blanks: half as patient as markup
    phrase=1_250,  # a refrain of two words, sixty equal statements of an unrolled loop
    mark=1_350,  # rulers, leaders and progress bars end within a line or two
    record=1_400,  # forty equal slots of an inventory
    markup=2_500,  # fifty empty table rows of a form
    token=5_000,  # 700 times `false, ` on one line; the seed lets `void 0;` go on for 12,261
    data=25_000,  # 4,096 cells `0x00, ` on one line are 24,600; DNA repeats, Base64 of a pattern
    fill=13_000,  # 2,400 letters A of Base64 are in the corpus; a padded sector is 8,000
    grid=52_000,  # a map of 128 by 128 zeros, `0, ` a cell, is 49,800 and legitimate
    counted_label=12_000,  # a list of two hundred equal entries serves nobody
    counted_line=28_000,  # songs, numbered functions and utility classes: up to 27,000 seen
    counted_form=28_000,  # as counted_line; 7,600 are in the corpus (forty rooms)
    copies=4,
    long_copies=5,
)
BALANCED_PHRASES = PhrasePatience(
    window=256,  # some forty lines, the seed's window
    recycled=0.88,  # highest legitimate: 0.83, a search narrated step by step, with 5 % new phrases
    new_phrases=0.02,  # a form filled in with one name brings four new phrases a copy
    lasting=600,  # some 3,600 characters: a rota, a puzzle solved or a game narrated is over by then
    clauses=32,
    new_clauses=0.15,  # prose, code and numbers in words bring nearly nothing but new ones
    refrain_chars=1_500,  # no legitimate text of the corpus does that for 300
)
BALANCED_BLANK = 3_000  # a letterhead has 900 in a row; forty empty lines of eighty blanks are 3,200

# eager: for an agent that writes prose and code, where a lost table costs less than a minute of loop.
EAGER_CYCLE = CyclePatience(
    text=300,
    code=450,
    phrase=450,
    mark=500,
    record=600,
    markup=600,
    token=800,
    data=1_100,
    fill=3_000,
    grid=13_000,  # a map of 64 by 64 zeros, `0, ` a cell, is 12,600
    counted_label=2_500,
    counted_line=5_000,
    counted_form=28_000,  # a form is work even here
    copies=3,
    long_copies=4,
)
EAGER_PHRASES = PhrasePatience(
    window=150, recycled=0.85, new_phrases=0.03, lasting=0, clauses=20, new_clauses=0.2, refrain_chars=600
)
EAGER_BLANK = 1_500


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopDetection:
    """What a detector runs on. Without arguments: the seed's rule with the seed's figures.

    ``window_words``, ``repeat_threshold``, ``min_offenders``, ``min_saturated_run`` and
    ``max_response_chars`` are the seed's five knobs: the lookback in words, the occurrences in it
    above which a word offends, the distinct offenders that saturate the window, the consecutive
    saturated words that make a loop, and the ceiling in characters (0: none). ``rules`` names the
    rules that run. ``channels``, ``stop_on_same_loop`` and ``shadow`` are read by whoever runs the
    detectors: the channels of a reply that are watched, each by a detector of its own; whether two
    trips at the same place end the retries; whether a trip is recorded only. Raises SettingsError
    on a figure that no detector can run on.
    """

    enabled: bool = True
    window_words: int = 256
    repeat_threshold: int = 32
    min_offenders: int = 2
    min_saturated_run: int = 3_000
    max_response_chars: int = 250_000
    rules: tuple[Rule, ...] = SEED_RULES
    channels: tuple[Channel, ...] = ("content",)
    stop_on_same_loop: bool = False
    shadow: bool = False
    cycle: CyclePatience = BALANCED_CYCLE
    phrases: PhrasePatience = BALANCED_PHRASES
    blank_chars: int = BALANCED_BLANK

    def __post_init__(self) -> None:
        """Refuse what cannot be meant; what may be (more offenders than words) runs as written."""
        for name in ("window_words", "repeat_threshold", "min_offenders", "blank_chars"):
            self._require(name, least=1)
        for name in ("min_saturated_run", "max_response_chars"):
            self._require(name, least=0)
        for name in ("rules", "channels"):
            object.__setattr__(self, name, tuple(getattr(self, name) or ()))
        self._require_names("rules", self.rules, RULES)
        self._require_names("channels", self.channels, CHANNELS)

    def _require(self, name: str, least: int) -> None:
        value = getattr(self, name)
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise SettingsError(f"{name} is {value!r}: it must be a whole number of at least {least}")

    @staticmethod
    def _require_names(name: str, values: tuple[str, ...], known: tuple[str, ...]) -> None:
        unknown = [value for value in values if value not in known]
        if unknown:
            raise SettingsError(f"{name} has {unknown[0]!r}: it may have {', '.join(known)}")

    @classmethod
    def preset(cls, name: str) -> Self:
        """The settings called ``seed``, ``balanced`` or ``eager``. Raises SettingsError for any other name.

        ``seed`` is the first seed's rule to the figure. ``balanced``, the default of every command,
        runs the four further rules so that no legitimate reply of the corpus trips. ``eager`` runs
        the same ones sooner.
        """
        further: tuple[Rule, ...] = ("cycle", "phrases", "blank", "length")
        if name == "seed":
            return cls()
        if name == "balanced":
            return cls(rules=further)
        if name == "eager":
            return cls(rules=further, cycle=EAGER_CYCLE, phrases=EAGER_PHRASES, blank_chars=EAGER_BLANK)
        raise SettingsError(f"there is no preset {name!r}: choose {', '.join(PRESETS)}")
