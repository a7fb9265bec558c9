"""Scanning tables, writing verdicts to files, and choosing the engine, as whoever types it sees it."""

import os
import subprocess
from pathlib import Path

import pytest
from pyarrow import parquet

from tests.cli.program import Call, one_line
from tests.cli.test_scan import LOOP, SCAN, SOUND, objects
from tests.detect.conftest import MISSING
from tests.offline.files import lines, write
from tests.offline.tables import table


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    return write(tmp_path / "logs.jsonl", lines({"id": "a", "text": SOUND}, {"id": "b", "text": LOOP}))


def test_a_parquet_file_is_scanned_and_its_verdicts_written_to_either_kind_of_file(
    call: Call, tmp_path: Path
) -> None:
    source = table(tmp_path / "a.parquet", {"id": ["a", "b"], "answer": [SOUND, LOOP]})
    shown = objects(call("scan", source, "--field", "answer", "--json").out)
    assert [(one["id"], one["tripped"]) for one in shown] == [("a", False), ("b", True)]
    for name in ("v.jsonl", "v.parquet"):
        done = call("scan", source, "--field", "answer", "--out", tmp_path / name)
        assert done.code == 0
        assert done.out.splitlines()[0] == "1 of 2 replies are loops (cycle 1)."
    assert objects((tmp_path / "v.jsonl").read_text()) == shown
    rows = parquet.read_table(tmp_path / "v.parquet").to_pylist()
    assert [{key: row[key] for key in shown[0]} for row in rows] == shown


def test_a_file_of_verdicts_of_no_known_kind_is_a_usage_error(call: Call, logs: Path) -> None:
    done = call("scan", logs, "--out", logs.with_name("v.csv"))
    assert done.code == 2
    assert "verdicts are written as .jsonl, .ndjson, .parquet" in one_line(done.err)


def test_a_cluster_without_its_runner_is_a_usage_error(call: Call, logs: Path) -> None:
    done = call("scan", logs, "--cluster", "auto")
    assert (done.code, one_line(done.err)) == (2, "loopwatch: a cluster needs the runner ray")


@pytest.mark.parametrize("wanted", ["python", "native"])
def test_the_engine_that_is_asked_for_is_the_one_that_a_verdict_names(wanted: str, logs: Path) -> None:
    if wanted == "native":
        pytest.importorskip("loopwatch_native", reason=MISSING)
    environment = os.environ | {"LOOPWATCH_ENGINE": wanted}
    done = subprocess.run([*SCAN, str(logs), "--json"], capture_output=True, env=environment, check=True)
    assert {one["engine"] for one in objects(done.stdout.decode())} == {wanted}


def test_an_engine_that_is_not_there_is_one_line(logs: Path) -> None:
    environment = os.environ | {"LOOPWATCH_ENGINE": "rust"}
    done = subprocess.run([*SCAN, str(logs)], capture_output=True, env=environment, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"loopwatch: LOOPWATCH_ENGINE is 'rust': it may be python or native\n"
