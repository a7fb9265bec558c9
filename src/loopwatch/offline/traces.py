"""``bench --traces``: how well a step monitor does on labelled agent runs.

A loop is *caught* where the verdict comes at its onset or later, *early* where it comes before: neither
caught nor false. Its delay is counted in steps after the onset.
"""

import statistics
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec

from loopwatch.detect.engine import LoopDetector
from loopwatch.offline.corpus import read_labelled
from loopwatch.steps.loop import StepLoop, StepRule
from loopwatch.steps.monitor import StepMonitor
from loopwatch.steps.settings import StepSettings
from loopwatch.steps.step import Step

TRACES = "traces.jsonl"
"""The file of a corpus folder that holds its labelled agent runs."""


class Trace(msgspec.Struct, frozen=True):
    """One labelled agent run. ``onset_step`` is where its loop begins, counted from 0."""

    id: str
    label: Literal["loop", "legit"]
    steps: list[Step]
    flavour: str = ""
    onset_step: int | None = None
    note: str = ""

    @property
    def fault(self) -> str | None:
        """What makes a loop's place meaningless, in words; None where nothing does."""
        if self.label != "loop" or (self.onset_step is not None and 0 <= self.onset_step < len(self.steps)):
            return None
        return "a loop needs an onset_step among its steps"


@dataclass(frozen=True, slots=True)
class Watched:
    """One run and what the monitor made of it."""

    trace: Trace
    loop: StepLoop | None

    @property
    def delay(self) -> int:
        """Steps of the loop that were taken before it was seen; negative where the verdict is early."""
        return self.loop.steps - 1 - (self.trace.onset_step or 0) if self.loop else 0

    @property
    def caught(self) -> bool:
        """A loop that was seen while it lasted."""
        return self.trace.label == "loop" and self.loop is not None and self.delay >= 0

    @property
    def early(self) -> bool:
        """A loop that was flagged before it began."""
        return self.trace.label == "loop" and self.loop is not None and self.delay < 0

    @property
    def false(self) -> bool:
        """A legitimate run that was flagged."""
        return self.trace.label == "legit" and self.loop is not None

    @property
    def verdict(self) -> str:
        """``caught``, ``early``, ``missed``, ``false`` or ``left alone``."""
        if self.trace.label == "legit":
            return "false" if self.false else "left alone"
        return "early" if self.early else "caught" if self.caught else "missed"


@dataclass(slots=True)
class TraceScore:
    """The figures of one preset on labelled runs, or on one family of them."""

    preset: str
    watched: list[Watched] = field(repr=False)

    @property
    def loops(self) -> list[Watched]:
        """The runs that loop."""
        return [one for one in self.watched if one.trace.label == "loop"]

    @property
    def legit(self) -> list[Watched]:
        """The legitimate runs."""
        return [one for one in self.watched if one.trace.label == "legit"]

    @property
    def caught(self) -> list[Watched]:
        """The loops that were caught."""
        return [one for one in self.loops if one.caught]

    @property
    def false(self) -> list[Watched]:
        """The legitimate runs that were flagged."""
        return [one for one in self.legit if one.false]

    @property
    def median_steps(self) -> float | None:
        """The median delay of the caught loops in steps; None where nothing was caught."""
        return statistics.median(one.delay for one in self.caught) if self.caught else None

    @property
    def rules(self) -> dict[StepRule, int]:
        """How many of the caught loops each rule caught."""
        return dict(Counter(one.loop.rule for one in self.caught if one.loop).most_common())

    @property
    def families(self) -> dict[str, "TraceScore"]:
        """The same figures family by family, in alphabetical order."""
        names = sorted({one.trace.flavour for one in self.watched})
        return {
            name: TraceScore(self.preset, [one for one in self.watched if one.trace.flavour == name])
            for name in names
        }

    def as_dict(self) -> dict[str, object]:
        """What ``loopwatch bench --traces --json`` prints."""
        return {
            "preset": self.preset,
            "loops": len(self.loops),
            "caught": len(self.caught),
            "early": sum(one.early for one in self.loops),
            "legit": len(self.legit),
            "false_trips": len(self.false),
            "median_steps": self.median_steps,
            "rules": self.rules,
            "families": {
                name: {
                    "loops": len(score.loops),
                    "caught": len(score.caught),
                    "legit": len(score.legit),
                    "false_trips": len(score.false),
                    "median_steps": score.median_steps,
                }
                for name, score in self.families.items()
            },
            "missed_ids": [one.trace.id for one in self.loops if one.loop is None],
            "early_ids": [one.trace.id for one in self.loops if one.early],
            "false_ids": [one.trace.id for one in self.false],
        }


def read_traces(path: Path) -> list[Trace]:
    """The runs of a file, or of the ``traces.jsonl`` (also .gz, .zst) of a folder.

    Raises InputError, naming the file and the line, where there is none or a line is no labelled run.
    """
    return read_labelled(path, TRACES, Trace, ("run", "runs"))


def bench_traces(corpus: str | Path | Iterable[Trace], preset: str = "balanced") -> TraceScore:
    """Score ``preset`` on ``corpus``: a file, a folder, or runs at hand.

    What the agents say is read for loops of its own by a LoopDetector, one for each text.
    Raises InputError where the corpus cannot be read, SettingsError for an unknown preset.
    """
    settings = StepSettings.preset(preset)
    traces = read_traces(Path(corpus)) if isinstance(corpus, str | Path) else corpus
    return TraceScore(preset, [Watched(trace, watch_steps(trace.steps, settings)) for trace in traces])


def watch_steps(steps: Iterable[Step], settings: StepSettings | None = None) -> StepLoop | None:
    """The verdict on a whole run: that of the step at which it comes, None where there is none."""
    monitor = StepMonitor(settings, LoopDetector)
    for step in steps:
        if monitor.observe(step) is not None:
            break
    return monitor.loop
