"""Rewrite tests/offline/caught.json: the loops of the corpus that each preset catches by now."""

import json
from pathlib import Path

from loopwatch.offline.bench import bench

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "tests" / "offline" / "caught.json"
CORPORA = ("replies.jsonl.gz", "real.jsonl.gz")
PRESETS = ("balanced", "eager")


def caught(preset: str) -> list[str]:
    """The ids of the loops that ``preset`` catches, in alphabetical order."""
    scores = [bench(ROOT / "corpus" / name, preset) for name in CORPORA]
    return sorted(outcome.case.id for score in scores for outcome in score.caught)


if __name__ == "__main__":
    before: dict[str, list[str]] = json.loads(LIST.read_text(encoding="utf-8")) if LIST.exists() else {}
    after = {preset: caught(preset) for preset in PRESETS}
    LIST.write_text(json.dumps(after, indent=2) + "\n", encoding="utf-8")
    for preset, ids in after.items():
        known = before.get(preset, [])
        print(f"{preset}: {len(ids)} caught")
        print("  new: ", ", ".join(sorted({*ids} - {*known})) or "none")
        print("  lost:", ", ".join(sorted({*known} - {*ids})) or "none")
