import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Call, one_line, run

CORPUS = Path(__file__).parents[2] / "corpus"
FAILS = {"role": "a", "tool": "edit", "args": {"path": "secret.py"}, "result": "Error: secret not found"}
FINE = [{"role": "a", "tool": "read", "args": {"path": f"p{n}"}, "result": f"text {n}"} for n in range(9)]
KEYS = {"preset", "loops", "caught", "early", "legit", "false_trips", "median_steps", "families", "rules"}


def trace(name: str, label: str, steps: list[dict[str, Any]], flavour: str, onset: int | None = None) -> str:
    return json.dumps({"id": name, "label": label, "steps": steps, "flavour": flavour, "onset_step": onset})


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    rows = [
        trace("caught-1", "loop", [*FINE, *[FAILS] * 9], "[b]failing", 9),
        trace("missed-1", "loop", FINE, "quiet", 0),
        trace("sound-1", "legit", FINE, "quiet"),
        trace("false-1", "legit", [FAILS] * 9, "quiet"),
    ]
    (tmp_path / "traces.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return tmp_path


def test_the_table_has_a_row_a_family_and_names_what_went_wrong(call: Call, corpus: Path) -> None:
    done = call("bench", "--traces", corpus)
    assert (done.code, done.err) == (0, "")
    rows = [line.split() for line in done.out.splitlines()]
    assert ["[b]failing", "1", "of", "1", "4"] in rows
    assert ["quiet", "0", "of", "1", "1", "of", "2"] in rows
    assert ["all", "1", "of", "2", "1", "of", "2", "4"] in rows
    assert "Caught by rule: repeat 1\nMissed: missed-1\nFalse trips: false-1\n" in done.out


def test_json_has_the_promised_keys(call: Call, corpus: Path) -> None:
    done = call("bench", "--traces", corpus, "--json")
    figures = json.loads(done.out)
    assert figures.keys() >= KEYS
    assert [figures[key] for key in ("loops", "caught", "legit", "false_trips", "median_steps")] == [
        2,
        1,
        2,
        1,
        4,
    ]
    both = call("bench", "--traces", corpus, "--json", "--preset", "all").out.splitlines()
    assert [json.loads(line)["preset"] for line in both] == ["balanced", "eager"]


def test_explain_names_the_rule_and_nothing_of_the_run(call: Call, corpus: Path) -> None:
    out = call("bench", "--traces", corpus, "--explain", "all").out
    assert [line.split()[:2] for line in out.splitlines()] == [
        ["caught-1", "caught"],
        ["missed-1", "missed"],
        ["sound-1", "left"],
        ["false-1", "false"],
    ]
    assert re.search(r"^caught-1 +caught +repeat: the same call brought the same result 5 times", out)
    assert "secret" not in out
    one = json.loads(call("bench", "--traces", corpus, "--explain", "caught-1", "--json").out)
    assert (one["id"], one["verdict"], one["rule"], one["onset_step"], one["steps"]) == (
        "caught-1",
        "caught",
        "repeat",
        9,
        14,
    )


def test_explain_of_an_unknown_id_is_one_line_and_the_code_2(call: Call, corpus: Path) -> None:
    done = call("bench", "--traces", corpus, "--explain", "no\nsuch")
    assert (done.code, done.out) == (2, "")
    assert (
        one_line(done.err)
        == r"loopwatch: no run in the corpus has the id 'no\nsuch': the first is 'caught-1'"
    )


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--preset", "seed"], "--traces has no preset 'seed': choose balanced, eager, all."),
        (["--report", "x.html"], "--report draws replies: leave it out with --traces."),
    ],
)
def test_what_is_about_replies_is_refused(call: Call, corpus: Path, options: list[str], reason: str) -> None:
    done = call("bench", "--traces", corpus, *options)
    assert (done.code, done.out) == (2, "")
    assert reason in done.err


def test_a_folder_without_runs_is_one_line_and_the_code_2(call: Call, tmp_path: Path) -> None:
    done = call("bench", "--traces", tmp_path)
    assert done.code == 2
    assert "no traces.jsonl (or .gz, .zst) in this folder" in one_line(done.err)


def test_a_program_scores_the_runs_that_ship() -> None:
    done = run("bench", "--traces", CORPUS, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    figures = json.loads(done.stdout)
    assert (figures["loops"], figures["legit"], figures["false_trips"]) == (28, 23, 0)
