"""Parquet: columns by name, nested and list columns, row groups, and what cannot be read."""

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from loopwatch.errors import InputError, LoopwatchError
from loopwatch.offline import scan as scanning
from loopwatch.offline.parquet import RowGroups, row_groups
from loopwatch.offline.scan import scan
from loopwatch.offline.sources import Source, find_sources, told_by
from tests.offline.files import LOOP, SOUND, lines, problems, results, sizes, verdicts, write
from tests.offline.tables import table

if TYPE_CHECKING:
    from loopwatch.offline.verdict import Problem

CHAT = [
    [{"role": "user", "content": LOOP}, {"role": "assistant", "content": SOUND}],
    [{"role": "assistant", "content": LOOP}],
    None,
]


def test_a_column_is_read_by_its_name(tmp_path: Path) -> None:
    path = table(tmp_path / "a.parquet", {"id": ["x", "y"], "answer": [SOUND, LOOP], "noise": [1.5, 2.5]})
    found = results(path, field="answer")
    assert [(one.id, one.tripped) for one in verdicts(found)] == [("x", False), ("y", True)]
    assert verdicts(found)[0].source == str(path)


def test_a_record_s_text_is_found_by_itself_and_rows_without_a_name_have_a_number(tmp_path: Path) -> None:
    path = table(tmp_path / "a.parquet", {"text": [SOUND, LOOP]})
    assert sizes(results(path)) == [("1", len(SOUND)), ("2", len(LOOP))]


@pytest.mark.parametrize("field", [None, "messages.0.content"])
def test_columns_of_chat_messages_are_read(tmp_path: Path, field: str | None) -> None:
    path = table(tmp_path / "a.parquet", {"id": [1, 2, 3], "messages": CHAT})
    found = results(path, field=field)
    expected = [("1", SOUND), ("2", LOOP)] if field is None else [("1", LOOP), ("2", LOOP)]
    assert sizes(found) == [(name, len(text)) for name, text in expected]
    assert len(problems(found)) == 1
    assert problems(found)[0].startswith(f"{path}:3: ")


def test_a_nested_column_and_one_with_a_dot_in_its_name_are_paths_alike(tmp_path: Path) -> None:
    nested = table(tmp_path / "a.parquet", {"output": [{"answer": {"text": LOOP}}]})
    dotted = table(tmp_path / "b.parquet", {"output.answer": [{"text": LOOP}], "output.id": ["q"]})
    for path in (nested, dotted):
        assert sizes(results(path, field="output.answer.text")) == [("1", len(LOOP))]


@pytest.mark.parametrize(
    "kind", [pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
)
def test_text_may_be_stored_in_several_ways(tmp_path: Path, kind: Any) -> None:
    path = table(tmp_path / "a.parquet", {"text": pa.array([SOUND, LOOP], pa.string()).cast(kind)})
    for field in (None, "text"):
        assert sizes(results(path, field=field)) == [("1", len(SOUND)), ("2", len(LOOP))]


def test_columns_that_hold_no_text_are_not_even_read(tmp_path: Path) -> None:
    never = pa.array([2**62], pa.timestamp("us"))  # a date that Python has none of
    path = table(tmp_path / "a.parquet", {"text": [LOOP], "picture": [b"\xff"], "at": never})
    assert sizes(results(path)) == [("1", len(LOOP))]


def test_a_value_that_cannot_be_a_python_one_is_a_problem(tmp_path: Path) -> None:
    never = pa.array([[2**62]], pa.list_(pa.timestamp("us")))
    path = table(tmp_path / "a.parquet", {"text": [LOOP], "at": never})
    assert [one.partition(": cut short: ")[0] for one in problems(results(path))] == [str(path)]


def test_a_field_that_is_no_column_is_said_once_with_those_that_are(tmp_path: Path) -> None:
    path = table(tmp_path / "a.parquet", {"id": ["x"] * 50, "answer": [SOUND] * 50})
    assert problems(results(path, field="reply.text")) == [f"{path}: no column 'reply': there are id, answer"]


def test_a_null_is_a_problem_of_its_row(tmp_path: Path) -> None:
    path = table(tmp_path / "a.parquet", {"text": [SOUND, None, LOOP]})
    found = results(path, field="text")
    assert [one.id for one in verdicts(found)] == ["1", "3"]
    assert problems(found) == [f"{path}:2: no text at 'text'"]


def test_a_file_without_rows_has_nothing_in_it(tmp_path: Path) -> None:
    path = table(tmp_path / "a.parquet", {"text": pa.array([], pa.string())})
    assert problems(results(path)) == [f"{path}: there is nothing in it"]


def test_a_damaged_file_is_a_problem_and_the_rest_goes_on(tmp_path: Path) -> None:
    whole = table(tmp_path / "a.parquet", {"text": [LOOP]}).read_bytes()
    for name, content in {
        "b": whole[:-9],
        "c": b"PAR1",
        "d": b"",
        "e": b"PAR1" + b"x" * 500 + b"PAR1",
    }.items():
        write(tmp_path / f"{name}.parquet", content)
    seen: list[Problem] = []
    assert [one.tripped for one in scan(tmp_path, on_problem=seen.append)] == [True]
    assert [Path(one.where).name for one in seen] == ["b.parquet", "c.parquet", "d.parquet", "e.parquet"]
    assert all("\n" not in one.reason for one in seen)


def test_row_groups_are_parts_of_a_scan_whose_sizes_add_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"{SOUND} {number}" for number in range(95)] + [LOOP] * 5
    path = table(tmp_path / "a.parquet", {"text": texts}, row_group=20)
    parts = [part for part, _ in row_groups(str(path))]
    assert parts == [RowGroups(index, index + 1, 20 * index) for index in range(5)]
    whole = list(scan(path))
    assert [one.id for one in whole] == [str(number) for number in range(1, 101)]
    monkeypatch.setattr(scanning, "RANGE", 1)
    done: list[scanning.Progress] = []
    for jobs in (1, 2):
        assert list(scan(path, jobs=jobs, on_progress=done.append)) == whole
        assert len(done) == 5 * jobs
        assert 0 < done[-1].done <= path.stat().st_size


def test_it_is_known_by_its_first_bytes_where_its_name_does_not_tell(tmp_path: Path) -> None:
    path = table(tmp_path / "part-00000", {"text": [LOOP]})
    assert told_by(path.read_bytes()) == "parquet"
    assert [one.tripped for one in scan(path)] == [True]


def test_a_pipe_and_a_packed_file_are_refused(tmp_path: Path) -> None:
    packed = write(tmp_path / "a.parquet.gz", b"")
    pipe = tmp_path / "b.parquet"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(pipe, os.O_WRONLY)
    try:
        found = list(find_sources([str(packed), str(pipe)]))
    finally:
        os.close(writer)
        os.close(reader)
    assert [str(one) for one in found] == [
        f"{path}: Parquet is read from its end: give it as a plain file" for path in (packed, pipe)
    ]
    with pytest.raises(InputError, match="give it as a plain file"):
        scan(packed)


def test_a_folder_of_both_is_scanned_in_the_order_of_its_names(tmp_path: Path) -> None:
    table(tmp_path / "b.parquet", {"text": [LOOP]})
    write(tmp_path / "a.jsonl", lines({"text": SOUND}))
    assert [one.kind for one in find_sources([str(tmp_path)]) if isinstance(one, Source)] == [
        "jsonl",
        "parquet",
    ]
    assert [one.tripped for one in scan(tmp_path)] == [False, True]


def test_without_pyarrow_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = table(tmp_path / "a.parquet", {"text": [LOOP]})
    for name in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(LoopwatchError, match=r"pip install 'loopwatch\[parquet\]'"):
        list(scan(path))


def test_pyarrow_is_imported_only_where_there_is_such_a_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", lines({"text": SOUND}))
    program = f"import sys; from loopwatch import scan; print(len(list(scan({str(path)!r}))), 'pyarrow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "1 False\n"
