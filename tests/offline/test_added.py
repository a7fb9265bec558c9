"""The cases made by rule: balanced cuts none of the legitimate ones and every loop."""

import runpy
from pathlib import Path

import pytest

from loopwatch.detect.settings import PRESETS
from loopwatch.offline.bench import Score, bench
from loopwatch.offline.corpus import read_corpus

ROOT = Path(__file__).parents[2]
ADDED = ROOT / "corpus" / "added.jsonl.gz"


@pytest.fixture(scope="module")
def balanced() -> Score:
    return bench(ADDED)


def test_no_legitimate_case_trips(balanced: Score) -> None:
    assert len(balanced.legit) == 23
    assert [outcome.case.note for outcome in balanced.false] == []


def test_every_loop_is_caught(balanced: Score) -> None:
    assert [outcome.case.note for outcome in balanced.loops if not outcome.caught] == []
    assert len(balanced.loops) == 5


def test_every_preset_can_be_scored_on_them() -> None:
    assert [bench(ADDED, preset).preset for preset in PRESETS] == list(PRESETS)


def test_the_file_is_what_its_maker_makes() -> None:
    made = runpy.run_path(str(ROOT / "tools" / "make_cases.py"))
    assert [(case["id"], case["text"]) for case in made["cases"]()] == [
        (case.id, case.text) for case in read_corpus(ADDED)
    ]
