"""Verdicts written to files: whole or not at all, the same in either kind."""

import sys
from pathlib import Path

import msgspec
import pytest
from pyarrow import parquet

from loopwatch.detect.settings import LoopDetection
from loopwatch.errors import InputError, LoopwatchError
from loopwatch.offline.results import ROWS, results
from loopwatch.offline.verdict import Verdict, judge
from tests.offline.files import LOOP, SOUND

BALANCED = LoopDetection.preset("balanced")
VERDICTS = [
    judge(text, BALANCED, f"r{number}", "a.jsonl", explain=explain)
    for number, (text, explain) in enumerate([(SOUND, False), (LOOP, False), (LOOP, True), ("", True)])
]


def write(path: Path, verdicts: list[Verdict]) -> Path:
    with results(path) as file:
        for verdict in verdicts:
            file.write(verdict)
    return path


def test_json_lines_are_what_json_prints(tmp_path: Path) -> None:
    path = write(tmp_path / "v.jsonl", VERDICTS)
    assert [msgspec.json.decode(line, type=Verdict) for line in path.read_bytes().splitlines()] == VERDICTS
    assert [found.name for found in tmp_path.iterdir()] == ["v.jsonl"]


def test_a_table_has_the_same_keys_and_values(tmp_path: Path) -> None:
    rows = parquet.read_table(write(tmp_path / "v.parquet", VERDICTS)).to_pylist()
    assert list(rows[0]) == list(Verdict.__struct_fields__)
    expected = [{"near": None} | msgspec.to_builtins(verdict) for verdict in VERDICTS]
    assert rows == expected


def test_many_rows_come_in_their_order(tmp_path: Path) -> None:
    many = [msgspec.structs.replace(VERDICTS[1], id=str(number)) for number in range(2 * ROWS + 3)]
    table = parquet.read_table(write(tmp_path / "v.parquet", many))
    assert table.column("id").to_pylist() == [one.id for one in many]


@pytest.mark.parametrize("name", ["v.jsonl", "v.parquet"])
def test_without_a_verdict_the_file_is_there_and_empty(tmp_path: Path, name: str) -> None:
    assert write(tmp_path / name, []).is_file()


def fail_midway(path: Path) -> None:
    with results(path) as file:
        file.write(VERDICTS[1])
        raise KeyError


@pytest.mark.parametrize("name", ["v.jsonl", "v.parquet"])
def test_a_scan_that_fails_leaves_what_was_there(tmp_path: Path, name: str) -> None:
    before = write(tmp_path / name, VERDICTS[:1]).read_bytes()
    with pytest.raises(KeyError):
        fail_midway(tmp_path / name)
    assert (tmp_path / name).read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == [name]


def test_a_name_that_tells_no_kind_a_folder_and_no_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").mkdir()
    for name, said in {
        "v.csv": r"verdicts are written as \.jsonl, \.ndjson, \.parquet",
        "d.jsonl": "it is a folder",
        "none/v.jsonl": "there is no such folder",
    }.items():
        with pytest.raises(InputError, match=said), results(tmp_path / name):
            pass


def test_without_pyarrow_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with (
        pytest.raises(LoopwatchError, match=r"pip install 'loopwatch\[parquet\]'"),
        results(tmp_path / "v.parquet"),
    ):
        pass
    assert list(tmp_path.iterdir()) == []
