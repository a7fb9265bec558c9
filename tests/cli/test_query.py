"""``loopwatch query``, over runs on disk and calls in a database."""

import asyncio
import csv
import json
import shutil
import sys
from pathlib import Path

import pytest

from loopwatch.clock import SystemClock
from loopwatch.query.runs import INDEX
from loopwatch.store.opening import open_store
from tests.cli.program import Call, one_line
from tests.query.test_runs import write
from tests.store.calls import a_call, log, price_of

SEED = "has.summary:true | stats sum(summary.errors.loopAbortChars) as thrown by model"
EXAMPLES = Path(__file__).parents[2] / "examples" / "runs"


@pytest.fixture(name="runs")
def some_runs(tmp_path: Path) -> Path:
    write(tmp_path / "off" / "a")
    write(tmp_path / "on" / "b", preset="=two", startedAt="2026-12-01T12:00:00.000Z")
    return tmp_path


@pytest.fixture(name="database")
def some_calls(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path}/loopwatch.db"
    clock = SystemClock()

    async def fill() -> None:
        async with open_store(url, price=price_of, upgrade=True) as store:
            project = (await store.projects.create("Acme")).id
            burst = [a_call(clock, 30_000, plan="pro", plan_revenue_usd=1.0, ago=1) for _ in range(2)]
            await log(
                store,
                project,
                *burst,
                a_call(clock, 5, None, request_model="mystery", feature=None, loop_aborts=1),
            )

    asyncio.run(fill())
    return url


def test_the_seeds_query_over_the_recorded_runs(call: Call, tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "runs")
    code, out, err = call("query", SEED, "--runs", tmp_path / "runs", "--format", "json")
    assert code == 0, err
    found = [json.loads(line) for line in out.splitlines()]
    assert sum(row["thrown"] for row in found) > 0
    assert all(row["contributing"]["thrown"] == row["n"] for row in found)


def test_a_table_for_people(call: Call, runs: Path) -> None:
    code, out, err = call("query", "| stats count(), sum(cost) by folder, model", "--runs", runs)
    assert (code, err) == (0, "2 runs matched\n")
    assert [line.split() for line in out.splitlines()] == [
        ["folder", "model", "count()", "sum(cost)"],
        ["off", "acme/alpha", "1", "$0.75"],
        ["on", "acme/alpha", "1", "$0.75"],
    ]


def test_documents_show_a_few_columns_and_json_all(call: Call, runs: Path) -> None:
    table = call("query", "", "--runs", runs).out.splitlines()
    assert table[0].split() == [
        "id",
        "finished",
        "model",
        "state",
        "armed",
        "cost",
        "summary.errors.loopAborts",
    ]
    assert "2026-11-30 12:00" in table[1]
    first = json.loads(call("query", "| sort id", "--runs", runs, "--format", "json").out.splitlines()[0])
    assert first["root.loopDetection.windowWords"] == 256


def test_csv_and_chosen_fields(call: Call, runs: Path) -> None:
    out = call("query", "| fields id, preset, nope | sort id", "--runs", runs, "--format", "csv").out
    assert list(csv.reader(out.splitlines())) == [
        ["id", "preset", "nope"],
        ["off/a", "one", ""],
        ["on/b", "=two", ""],
    ]


def test_bars(call: Call, runs: Path) -> None:
    out = call("query", "| stats count() by folder", "--runs", runs, "--plot").out.splitlines()
    assert [line.split() for line in out[-2:]] == [["off", "█" * 40, "1"], ["on", "█" * 40, "1"]]
    assert call("query", "", "--runs", runs, "--plot").code == 2


def test_fields(call: Call, runs: Path) -> None:
    facts = [
        json.loads(line)
        for line in call("query", "--fields", "--runs", runs, "--format", "json").out.splitlines()
    ]
    found = {each["field"]: each for each in facts}
    assert found["finished"]["kind"] == "date"
    assert found["cost"] == {"field": "cost", "kind": "number", "count": 2, "top": [0.75]}
    assert "folder" in call("query", "--fields", "--runs", runs).out


def test_an_error_is_shown_in_its_place_and_nothing_is_asked(call: Call, runs: Path) -> None:
    code, out, err = call("query", "state:x | stats summ(cost)", "--runs", runs)
    assert (code, out) == (2, "")
    assert err.splitlines()[:2] == ["state:x | stats summ(cost)", "                ^^^^"]
    assert err.splitlines()[-1] == "loopwatch: the query has 1 error: nothing was asked"


def test_an_unknown_field_is_a_warning(call: Call, runs: Path) -> None:
    code, _, err = call("query", "stat:completed", "--runs", runs)
    assert code == 0
    assert "did you mean state?" in err


def test_what_was_cut_off_is_said(call: Call, runs: Path) -> None:
    assert (
        call("query", "| limit 1", "--runs", runs).err == "2 runs matched; the first 1 of 2 rows are shown\n"
    )


def test_a_run_that_cannot_be_read_is_left_out_and_said(call: Call, runs: Path) -> None:
    (runs / "on" / "b" / "summary.json").write_text("{")
    code, out, err = call("query", "", "--runs", runs)
    assert code == 0
    assert "off/a" in out
    assert err.startswith("left out: ")


def test_without_duckdb_the_answer_is_the_same(
    call: Call, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_index = call("query", SEED, "--runs", runs)
    monkeypatch.setitem(sys.modules, "loopwatch.query.duckdb", None)
    (runs / INDEX).unlink()
    assert call("query", SEED, "--runs", runs) == with_index
    assert not (runs / INDEX).exists()


def test_no_folder_is_one_line(call: Call, tmp_path: Path) -> None:
    code, _, err = call("query", "", "--runs", tmp_path / "none")
    assert code == 2
    assert "--runs names the folder" in one_line(err)


def test_calls(call: Call, database: str) -> None:
    text = "from calls alert:true | stats count(), sum(tokens), sum(cost), min(margin) as margin by user"
    code, out, err = call("query", text, "--db", database, "--format", "json")
    assert code == 0, err
    (row,) = map(json.loads, out.splitlines())
    assert row["user"] == "u1"
    assert (row["count()"], row["sum(tokens)"], row["sum(cost)"], row["margin"]) == (2, 60_000, 0.06, 0.94)
    lost = call("query", "loopAborts:>0 not has.cost:true", "--from", "calls", "--db", database)
    assert "mystery" in lost.out
    assert lost.err == "1 call matched\n"
