"""``bench``: how well a detector does on a labelled corpus.

Every reply is pushed in pieces of 64 characters. A loop is *caught* where the trip lies between its
onset and its end (where a reply recovers, else its length), *early* where it trips before the onset:
neither caught nor false. *Saved* are the characters of a caught loop from the trip to its end, as a
share of all characters from an onset to its end. Replies that the text alone cannot decide (label
``unsure``, family ``asked_repeat``) are counted apart.
"""

import statistics
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from loopwatch.detect.engine import LoopDetector
from loopwatch.detect.finding import Approach
from loopwatch.detect.settings import LoopDetection
from loopwatch.detect.trip import Rule, Trip
from loopwatch.offline.corpus import Case, read_corpus

PIECE = 64
"""Characters a push: some sixteen tokens."""

WITHIN = (1_000, 4_000, 16_000)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One reply and what the detector made of it."""

    case: Case
    trip: Trip | None

    @property
    def delay(self) -> int:
        """Characters of the loop that were read before it was cut; negative where the trip is early."""
        return self.trip.chars - self.case.onset if self.trip else 0

    @property
    def early(self) -> bool:
        """A loop that tripped before it began."""
        return self.case.label == "loop" and self.trip is not None and self.delay < 0

    @property
    def caught(self) -> bool:
        """A loop that tripped while it lasted."""
        return (
            self.case.label == "loop"
            and self.trip is not None
            and 0 <= self.delay <= self.case.end - self.case.onset
        )

    @property
    def false(self) -> bool:
        """A legitimate reply that tripped."""
        return self.case.label == "legit" and self.case.decidable and self.trip is not None

    @property
    def saved(self) -> int:
        """Characters of the loop that were never read."""
        return self.case.end - self.trip.chars if self.caught and self.trip else 0


@dataclass(slots=True)
class Score:
    """The figures of one detector on one corpus, or on one family of it."""

    preset: str
    outcomes: list[Outcome] = field(repr=False)

    @property
    def loops(self) -> list[Outcome]:
        """The replies that are loops."""
        return [outcome for outcome in self.outcomes if outcome.case.label == "loop"]

    @property
    def legit(self) -> list[Outcome]:
        """The legitimate replies that can be told by their text."""
        return [
            outcome for outcome in self.outcomes if outcome.case.label == "legit" and outcome.case.decidable
        ]

    @property
    def undecidable(self) -> list[Outcome]:
        """The replies that nobody could tell by their text."""
        return [outcome for outcome in self.outcomes if not outcome.case.decidable]

    @property
    def caught(self) -> list[Outcome]:
        """The loops that were caught."""
        return [outcome for outcome in self.loops if outcome.caught]

    @property
    def false(self) -> list[Outcome]:
        """The legitimate replies that tripped."""
        return [outcome for outcome in self.legit if outcome.false]

    @property
    def delays(self) -> list[int]:
        """The delays of the caught loops, in ascending order."""
        return sorted(outcome.delay for outcome in self.caught)

    @property
    def median_delay(self) -> float | None:
        """In characters; None where nothing was caught."""
        return statistics.median(self.delays) if self.delays else None

    @property
    def p90_delay(self) -> float | None:
        """Nine in ten caught loops were cut within so many characters (linear interpolation)."""
        delays = self.delays
        if not delays:
            return None
        place = 0.9 * (len(delays) - 1)
        below = int(place)
        above = min(below + 1, len(delays) - 1)
        return round(delays[below] + (place - below) * (delays[above] - delays[below]), 1)

    @property
    def saved_share(self) -> float:
        """Looped characters that were not read, of all; 0 where there are none."""
        total = sum(outcome.case.end - outcome.case.onset for outcome in self.loops)
        return round(sum(outcome.saved for outcome in self.loops) / total, 4) if total else 0.0

    def within(self, chars: int) -> int:
        """How many loops were caught within ``chars`` characters of their onset."""
        return sum(delay <= chars for delay in self.delays)

    @property
    def rules(self) -> dict[Rule, int]:
        """How many of the caught loops each rule caught."""
        return dict(Counter(outcome.trip.rule for outcome in self.caught if outcome.trip).most_common())

    @property
    def families(self) -> dict[str, "Score"]:
        """The same figures family by family, in alphabetical order."""
        names = sorted({outcome.case.family for outcome in self.outcomes})
        return {
            name: Score(self.preset, [outcome for outcome in self.outcomes if outcome.case.family == name])
            for name in names
        }

    def as_dict(self) -> dict[str, object]:
        """What ``loopwatch bench --json`` prints."""
        return {
            "preset": self.preset,
            "loops": len(self.loops),
            "caught": len(self.caught),
            "early": sum(outcome.early for outcome in self.loops),
            "caught_within": {str(chars): self.within(chars) for chars in WITHIN},
            "saved_share": self.saved_share,
            "legit": len(self.legit),
            "false_trips": len(self.false),
            "undecidable": len(self.undecidable),
            "undecidable_trips": sum(outcome.trip is not None for outcome in self.undecidable),
            "median_delay": self.median_delay,
            "p90_delay": self.p90_delay,
            "rules": self.rules,
            "families": {
                name: {
                    "loops": len(score.loops),
                    "caught": len(score.caught),
                    "legit": len(score.legit),
                    "false_trips": len(score.false),
                    "undecidable": len(score.undecidable),
                    "median_delay": score.median_delay,
                }
                for name, score in self.families.items()
            },
            "missed_ids": [o.case.id for o in self.loops if not o.caught and not o.early],
            "early_ids": [o.case.id for o in self.loops if o.early],
            "false_ids": [o.case.id for o in self.false],
        }


def bench(corpus: str | Path | Iterable[Case], preset: str = "balanced") -> Score:
    """Score ``preset`` on ``corpus``: a file, a folder, or cases at hand.

    Raises InputError where the corpus cannot be read, SettingsError for an unknown preset.
    """
    settings = LoopDetection.preset(preset)
    cases = read_corpus(Path(corpus)) if isinstance(corpus, str | Path) else corpus
    return Score(preset, [Outcome(case, _read(case.text, LoopDetector(settings))) for case in cases])


def explain(case: Case, preset: str) -> tuple[Trip | None, list[Approach]]:
    """What ``preset`` made of one reply, and how near each of its rules came to a trip."""
    detector = LoopDetector(LoopDetection.preset(preset))
    return _read(case.text, detector), detector.approaches


def _read(text: str, detector: LoopDetector) -> Trip | None:
    for start in range(0, len(text), PIECE):
        trip = detector.push(text[start : start + PIECE])
        if trip is not None:
            return trip
    return None
