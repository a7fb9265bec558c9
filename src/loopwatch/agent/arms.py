"""An arm of a comparison: the runs in one folder, summed up."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loopwatch.agent.folder import RunFolder, run_folders
from loopwatch.records.money import nano_usd, usd
from loopwatch.records.rollup import Rollup
from loopwatch.records.spending import added
from loopwatch.records.summary import Errors, RunSummary

STOPPED = ("exhausted", "timed_out", "limit_exceeded")


@dataclass(slots=True)
class Arm:
    """The sums over the runs of a folder. Money in nano-US-dollars, None where nothing is known."""

    name: str
    runs: int = 0
    armed: int = 0
    unfinished: int = 0
    unpriced: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    turns: int = 0
    errors: int = 0
    by_type: Counter[str] = field(default_factory=Counter)
    loop_aborts: int = 0
    loop_abort_words: int = 0
    loop_abort_chars: int = 0
    loop_abort_unpriced: int = 0
    step_loops: int = 0
    cost: int | None = None
    work_cost: int | None = None
    seconds: float = 0.0

    def add_summary(self, run: RunSummary) -> None:
        """Take a run that has ended."""
        figures = run.summary
        self._add(run.config, figures.errors)
        self.statuses[run.status] += 1
        self.seconds += figures.duration_secs
        self.loop_abort_unpriced += figures.loop_abort_unpriced
        self.step_loops += 0 if figures.step_loops is None else figures.step_loops.count
        self.unpriced += figures.cost is None
        self.cost = added(self.cost, None if figures.cost is None else nano_usd(figures.cost))
        work = figures.work_cost
        self.work_cost = added(self.work_cost, None if work is None else nano_usd(work))

    def add_unfinished(self, config: Any, rollup: Rollup) -> None:
        """Take a run that has no summary, as far as its journal goes."""
        self._add(config, rollup.errors.sums())
        self.unfinished += 1
        self.loop_abort_unpriced += rollup.unpriced_loops
        self.statuses["unfinished"] += 1
        self.step_loops += rollup.step_loops.total()
        self.unpriced += rollup.cost_nano is None
        self.cost = added(self.cost, rollup.cost_nano)
        self.work_cost = added(self.work_cost, rollup.work_nano)

    def as_dict(self) -> dict[str, Any]:
        """The arm for programs, in US dollars; null where nothing is known."""
        ended = self.runs - self.unfinished
        cost = None if self.cost is None else usd(self.cost)
        priced = self.runs - self.unpriced
        stopped = sum(self.statuses[status] for status in STOPPED)
        return {
            "arm": self.name,
            "runs": self.runs,
            "armed": self.armed,
            "completed": self.statuses["completed"],
            "stopped": stopped,
            "otherwise": self.runs - stopped - self.statuses["completed"],
            "statuses": dict(sorted(self.statuses.items())),
            "turns": self.turns,
            "turns_per_run": self.turns / self.runs if self.runs else None,
            "errors": self.errors,
            "error_share": self.errors / self.turns if self.turns else None,
            "errors_by_type": dict(sorted(self.by_type.items())),
            "loop_aborts": self.loop_aborts,
            "loop_abort_words": self.loop_abort_words,
            "loop_abort_chars": self.loop_abort_chars,
            "loop_abort_unpriced": self.loop_abort_unpriced,
            "step_loops": self.step_loops,
            "cost_usd": cost,
            "work_cost_usd": None if self.work_cost is None else usd(self.work_cost),
            "cost_per_run_usd": cost / priced if cost is not None and priced else None,
            "seconds_per_run": self.seconds / ended if ended else None,
        }

    def remarks(self) -> Iterator[str]:
        """What the figures do not hold."""
        if self.unfinished:
            yield f"{self.unfinished} of {self.runs} runs have no summary: they count as far as journals go"
        if self.unpriced and self.cost is not None:
            yield f"{self.unpriced} of {self.runs} runs are of unknown cost and in no sum of money"
        if self.loop_abort_unpriced:
            yield f"the price of {self.loop_abort_unpriced} replies cut as loops is unknown and in no sum"

    def _add(self, config: Any, errors: Errors) -> None:
        self.runs += 1
        self.armed += _is_armed(config)
        self.turns += errors.turns
        self.errors += errors.errors
        self.by_type.update(errors.by_type)
        self.loop_aborts += errors.loop_aborts
        self.loop_abort_words += errors.loop_abort_words
        self.loop_abort_chars += errors.loop_abort_chars


def read_arm(path: Path) -> Arm:
    """Sum up the runs in a folder. Raises InputError for one that cannot be read."""
    arm = Arm(str(path))
    for folder in run_folders(path):
        _take(arm, folder)
    return arm


def _take(arm: Arm, folder: RunFolder) -> None:
    summary = folder.read_summary()
    if summary is not None:
        arm.add_summary(summary)
        return
    record = folder.read_journal()
    arm.add_unfinished(record.header.config, record.rollup)


def _is_armed(config: Any) -> bool:
    """Whether the root of a configuration watches its replies."""
    agents = config.get("agents") if isinstance(config, dict) else None
    root = agents[0] if isinstance(agents, list) and agents else None
    block = root.get("loopDetection") if isinstance(root, dict) else None
    return isinstance(block, dict) and block.get("enabled") is True
