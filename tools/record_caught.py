"""Rewrite tests/offline/caught.json and caught_traces.json: the loops that are caught by now."""

import json
from pathlib import Path

from loopwatch.offline.bench import bench
from loopwatch.offline.traces import bench_traces
from loopwatch.steps.settings import STEP_PRESETS

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "tests" / "offline" / "caught.json"
CORPORA = ("replies.jsonl.gz", "real.jsonl.gz")
PRESETS = ("balanced", "eager")
TRACE_LIST = LIST.with_name("caught_traces.json")
TRACES = tuple(f"traces{name}.jsonl.gz" for name in ("", "_added", "_unseen", "_further"))


def caught(preset: str) -> list[str]:
    """The ids of the loops that ``preset`` catches, in alphabetical order."""
    scores = [bench(ROOT / "corpus" / name, preset) for name in CORPORA]
    return sorted(outcome.case.id for score in scores for outcome in score.caught)


def caught_traces(preset: str) -> list[str]:
    """The same of the agent runs."""
    scores = [bench_traces(ROOT / "corpus" / name, preset) for name in TRACES]
    return sorted(one.trace.id for score in scores for one in score.caught)


def record(path: Path, after: dict[str, list[str]]) -> None:
    """Write what is caught, and print what that changes."""
    before: dict[str, list[str]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(json.dumps(after, indent=2) + "\n", encoding="utf-8")
    for preset, ids in after.items():
        known = before.get(preset, [])
        print(f"{preset}: {len(ids)} caught")
        print("  new: ", ", ".join(sorted({*ids} - {*known})) or "none")
        print("  lost:", ", ".join(sorted({*known} - {*ids})) or "none")


if __name__ == "__main__":
    record(LIST, {preset: caught(preset) for preset in PRESETS})
    record(TRACE_LIST, {preset: caught_traces(preset) for preset in STEP_PRESETS})
