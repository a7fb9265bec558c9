"""The agent runs that ship: none of the legitimate is flagged, no loop that was caught is lost."""

import gzip
import json
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loopwatch.errors import InputError, SettingsError
from loopwatch.offline.traces import Trace, TraceScore, bench_traces, read_traces
from loopwatch.steps.settings import STEP_PRESETS
from loopwatch.steps.step import Step

ROOT = Path(__file__).parents[2]
HANDED = ROOT / "corpus" / "traces.jsonl.gz"
MADE = ("traces_added", "traces_unseen", "traces_further")
MAKERS = dict(zip(MADE, ("make_traces", "make_unseen_traces", "make_further_traces"), strict=True))
FILES = (HANDED, *(ROOT / "corpus" / f"{name}.jsonl.gz" for name in MADE))
CAUGHT = Path(__file__).with_name("caught_traces.json")
Scored = Callable[[str], list[TraceScore]]
FAILS = Step(role="a", tool="edit", result="Error: not unique")
FINE = [Step(role="a", tool="read", args={"path": f"p{n}"}, result=f"text {n}") for n in range(9)]


@pytest.fixture(scope="module")
def scored() -> Scored:
    """The scores of a preset on every file, made once."""
    done: dict[str, list[TraceScore]] = {}

    def score(preset: str) -> list[TraceScore]:
        if preset not in done:
            done[preset] = [bench_traces(path, preset) for path in FILES]
        return done[preset]

    return score


def test_no_legitimate_run_is_flagged(scored: Scored) -> None:
    assert [one.trace.id for score in scored("balanced") for one in score.false] == []
    assert [len(score.legit) for score in scored("balanced")] == [23, 60, 50, 30]


def test_nine_loops_in_ten_are_caught_within_six_steps(scored: Scored) -> None:
    for score in scored("balanced"):
        assert len(score.caught) >= 0.9 * len(score.loops)
    handed = scored("balanced")[0]
    assert handed.median_steps is not None
    assert handed.median_steps <= 6


@pytest.mark.parametrize("preset", STEP_PRESETS)
def test_no_loop_that_was_caught_is_lost(scored: Scored, preset: str) -> None:
    known = {*json.loads(CAUGHT.read_text(encoding="utf-8"))[preset]}
    assert known - {one.trace.id for score in scored(preset) for one in score.caught} == set()


def test_eager_is_sooner(scored: Scored) -> None:
    for patient, eager in zip(scored("balanced"), scored("eager"), strict=True):
        assert patient.median_steps is not None
        assert eager.median_steps is not None
        assert eager.median_steps < patient.median_steps


@pytest.mark.parametrize("name", MADE)
def test_the_file_is_what_its_maker_makes(name: str) -> None:
    made = runpy.run_path(str(ROOT / "tools" / f"{MAKERS[name]}.py"))["traces"]()
    lines = gzip.decompress((ROOT / "corpus" / f"{name}.jsonl.gz").read_bytes()).decode().splitlines()
    assert [json.loads(line) for line in lines] == json.loads(json.dumps(list(made)))


def test_a_verdict_before_the_onset_is_early_and_neither_caught_nor_false() -> None:
    late = Trace(id="t", label="loop", steps=[FAILS] * 9, onset_step=7)
    sound = Trace(id="s", label="legit", steps=FINE)
    missed = Trace(id="m", label="loop", steps=FINE, onset_step=0)
    false = Trace(id="f", label="legit", steps=[FAILS] * 9)
    score = bench_traces([late, sound, missed, false])
    assert [one.verdict for one in score.watched] == ["early", "left alone", "missed", "false"]
    figures = score.as_dict()
    assert (figures["early"], figures["caught"], figures["median_steps"]) == (1, 0, None)
    assert (figures["missed_ids"], figures["early_ids"], figures["false_ids"]) == (["m"], ["t"], ["f"])


def test_a_delay_is_counted_in_steps_after_the_onset() -> None:
    trace = Trace(id="t", label="loop", steps=[*FINE, *[FAILS] * 9], onset_step=9, flavour="f")
    score = bench_traces([trace])
    assert (score.median_steps, score.rules) == (4, {"repeat": 1})
    assert score.families["f"].as_dict()["caught"] == 1


def row(**more: Any) -> str:
    return json.dumps({"id": "a", "label": "legit", "steps": [{"role": "a"}], **more})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no labelled runs"),
        ("{", "not a labelled run"),
        (row(label="maybe"), "not a labelled run"),
        (row() + "\n" + row(), ":2: 'a': its id stands twice"),
        (row(label="loop"), "a loop needs an onset_step among its steps"),
        (row(label="loop", onset_step=1), "a loop needs an onset_step among its steps"),
    ],
)
def test_what_is_no_corpus_of_runs_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=reason):
        read_traces(path)


def test_a_folder_s_traces_are_found_and_blank_lines_passed_over(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no traces.jsonl \(or .gz, .zst\) in this folder"):
        read_traces(tmp_path)
    (tmp_path / "traces.jsonl.gz").write_bytes(gzip.compress(f"\n{row()}\n\n".encode()))
    assert [trace.id for trace in read_traces(tmp_path)] == ["a"]


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(SettingsError, match="there is no preset 'seed'"):
        bench_traces([], "seed")
