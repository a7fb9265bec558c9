import io
import os
import pickle
import socket
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwatch.offline.sources import SNIFFED, Kind, Source, find_sources, told_by
from loopwatch.offline.verdict import Problem
from tests.offline.files import PACKS, source, write

NOBODY = 65_534
MARK = b"\xef\xbb\xbf"


@contextmanager
def no_root(folder: Path) -> Iterator[None]:
    """Root may read everything: for a while it is somebody else, who may enter the test's own folder."""
    mine = os.geteuid()
    closed = [place for place in (folder, *folder.parents) if not place.stat().st_mode & stat.S_IXOTH]
    entered = closed if mine == 0 else []
    modes = [place.stat().st_mode for place in entered]
    for place in entered:
        place.chmod(0o755)
    if mine == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(mine)
        for place, mode in zip(entered, modes, strict=True):
            place.chmod(mode)


def problem(*paths: Path | str) -> Problem:
    (found,) = find_sources(map(str, paths))
    assert isinstance(found, Problem)
    assert "\n" not in found.reason
    return found


def content(found: Source) -> bytes:
    with found.open() as stream:
        return stream.read()


def feed_slowly(descriptor: int, parts: list[bytes]) -> threading.Thread:
    """Write each part when the one before it has had time to be read."""

    def write_all() -> None:
        for part in parts:
            threading.Event().wait(0.02)
            os.write(descriptor, part)
        os.close(descriptor)

    thread = threading.Thread(target=write_all)
    thread.start()
    return thread


# The kind of a file.


@pytest.mark.parametrize("pack", PACKS)
@pytest.mark.parametrize(
    ("suffix", "kind"),
    [
        (".jsonl", "jsonl"),
        (".ndjson", "jsonl"),
        (".json", "json"),
        (".sse", "sse"),
        (".txt", "text"),
        (".md", "text"),
    ],
)
def test_the_suffix_tells_the_kind_whatever_is_inside(
    tmp_path: Path, pack: str, suffix: str, kind: Kind
) -> None:
    for name in (f"a{suffix}{pack}", f"a.b{suffix}{pack}".upper()):
        found = source(write(tmp_path / name, PACKS[pack](b"data: x")))
        assert (found.kind, found.packed) == (kind, pack != "")


@pytest.mark.parametrize("pack", PACKS)
@pytest.mark.parametrize("name", ["a", "a.log", "a.jsonl.1", "a.log.old"])
def test_without_a_known_suffix_the_beginning_tells(tmp_path: Path, pack: str, name: str) -> None:
    for beginning, kind in ((b'{"text": "a"}\n', "jsonl"), (b"data: {}\n\n", "sse"), (b"Hello", "text")):
        assert source(write(tmp_path / f"{name}{pack}", PACKS[pack](beginning))).kind == kind


def test_the_kind_may_be_said(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"{}")
    (found,) = find_sources([str(path)], "sse")
    assert isinstance(found, Source)
    assert found.kind == "sse"
    (found,) = find_sources([str(tmp_path)], "sse")
    assert isinstance(found, Source)
    assert found.kind == "sse"


@pytest.mark.parametrize(
    ("beginning", "kind"),
    [
        (b"", "text"),
        (b" \n\t", "text"),
        (b'{"text": "a"}', "jsonl"),
        (b'{"text": "a"}\n{"text"', "jsonl"),
        (b'{"text": "cut o\n{"text": "a"}\n', "jsonl"),
        (b'{"text": "' + b"x" * SNIFFED, "jsonl"),
        (b"{\n  'a'", "json"),
        (b'{ "choices": [\r\n', "json"),
        (b'{ "id": 1,\n', "json"),
        (b'[{"text": "a"}]', "json"),
        (b'[\n  {"text": "a"}\n]', "json"),
        (b"[link](https://example.org)", "text"),
        (b"[1] a footnote", "text"),
        (b"data: {}", "sse"),
        (b"data:{}", "sse"),
        (b"event: ping", "sse"),
        (b"id: 7\n", "sse"),
        (b"retry: 7\n", "sse"),
        (b": OPENROUTER PROCESSING\n", "sse"),
        (b"database: what it is", "text"),
        (b"Hello {", "text"),
        (b"\xff\xfe\x00", "text"),
    ],
)
@pytest.mark.parametrize(
    "before", [b"", MARK, b"\n \r\n", MARK + b"\n"], ids=["bare", "mark", "blank", "both"]
)
def test_what_a_beginning_tells(beginning: bytes, kind: Kind, before: bytes) -> None:
    assert told_by(before + beginning) == kind


# Folders.


def test_a_folder_is_searched_for_known_suffixes_in_sorted_order(tmp_path: Path) -> None:
    names = ["b.txt", "a.jsonl", "c/d.md", "c/e/f.sse.gz", "B.TXT", "z.json.zst", "c.ndjson"]
    for name in [*names, "x.bin", "c/x", "x.gz", "README"]:
        write(tmp_path / name, b"x")
    (tmp_path / "folder.txt").mkdir()
    (tmp_path / "dangling.txt").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe.jsonl")  # nobody writes to it: opening it would be for ever
    (tmp_path / "link.md").symlink_to("b.txt")
    found = list(find_sources([str(tmp_path)]))
    expected = sorted(tmp_path / name for name in [*names, "link.md"])
    assert [Path(one.name) for one in found if isinstance(one, Source)] == expected
    assert len(found) == len(expected)


def test_paths_are_found_in_the_order_in_which_they_are_named(tmp_path: Path) -> None:
    paths = [write(tmp_path / name, b"x") for name in ("b.txt", "a.txt", "c/d.txt")]
    paths[2] = tmp_path / "c"
    found = list(find_sources(map(str, [*paths, paths[0]])))
    names = ["b.txt", "a.txt", "d.txt", "b.txt"]
    assert [Path(one.name).name for one in found if isinstance(one, Source)] == names


@pytest.mark.parametrize("name", ["", "a.bin", "empty/"])
def test_a_folder_without_anything_to_scan_is_a_problem(tmp_path: Path, name: str) -> None:
    if name.endswith("/"):
        (tmp_path / name).mkdir()
    elif name:
        write(tmp_path / name, b"x")
    found = problem(tmp_path)
    assert found.named
    assert str(found).startswith(f"{tmp_path}: nothing to scan in this folder (.jsonl, ")


# What cannot be read.


@pytest.mark.parametrize(
    "name", ["none", "none.jsonl", "none.jsonl.gz", "none.txt.zst", "dangling.jsonl", "dangling"]
)
def test_a_path_that_is_not_there_is_a_problem_whatever_its_name(tmp_path: Path, name: str) -> None:
    if name.startswith("dangling"):
        (tmp_path / name).symlink_to("nowhere")
    assert problem(tmp_path / name) == Problem(str(tmp_path / name), "No such file or directory", named=True)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("a.txt/b", "Not a directory"),
        ("x" * 5_000, "File name too long"),
        ("nul\0", "embedded null byte"),
        ("loop", "Too many levels of symbolic links"),
    ],
    ids=["below a file", "too long", "NUL", "link to itself"],
)
def test_a_path_that_can_be_none_is_a_problem(tmp_path: Path, path: str, reason: str) -> None:
    write(tmp_path / "a.txt", b"x")
    (tmp_path / "loop").symlink_to("loop")
    assert problem(f"{tmp_path}/{path}").reason == reason


@pytest.mark.parametrize("name", ["closed.jsonl", "closed", "closed.gz", "folder", "folder/a.txt"])
def test_a_path_that_may_not_be_read_is_a_problem(tmp_path: Path, name: str) -> None:
    write(tmp_path / "folder" / "a.txt", b"x")
    for closed in ("closed.jsonl", "closed", "closed.gz"):
        write(tmp_path / closed, b"x").chmod(0)
    (tmp_path / "folder").chmod(0)
    try:
        with no_root(tmp_path):
            assert problem(tmp_path / name) == Problem(str(tmp_path / name), "Permission denied", named=True)
    finally:
        (tmp_path / "folder").chmod(0o755)


def test_a_folder_inside_that_may_not_be_read_is_named_and_the_rest_found(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", b"x")
    closed = write(tmp_path / "folder" / "a.txt", b"x").parent
    closed.chmod(0)
    try:
        with no_root(tmp_path):
            found = list(find_sources([str(tmp_path)]))
    finally:
        closed.chmod(0o755)
    assert found == [Problem(str(closed), "Permission denied"), Source(str(tmp_path / "a.txt"), "text")]


def test_a_packed_file_whose_kind_cannot_be_told_is_a_problem(tmp_path: Path) -> None:
    assert problem(write(tmp_path / "a.gz", b"junk")).reason.startswith("Not a gzipped file")


def test_a_socket_is_a_problem(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as served:
        try:
            served.bind(str(tmp_path / "s.jsonl"))
        except OSError:
            pytest.skip("the temporary folder has too long a name for a socket")
        assert problem(tmp_path / "s.jsonl").reason == "No such device or address"


def test_the_rest_of_the_paths_goes_on(tmp_path: Path) -> None:
    path = str(write(tmp_path / "a.txt", b"x"))
    found = list(find_sources(["none", path, "none.txt"]))
    assert [type(one).__name__ for one in found] == ["Problem", "Source", "Problem"]


# What can be read only once.


@pytest.mark.parametrize(
    "parts", [[b'{"text": "a"}\n'], [b"\n", b"{", b'"text": "a"}', b"\n", b"{}"], [b"{}"]]
)
def test_a_pipe_is_read_once_and_from_its_beginning(tmp_path: Path, parts: list[bytes]) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # so that opening it to write does not wait
    thread = feed_slowly(os.open(path, os.O_WRONLY), parts)
    found = source(path)
    os.close(reading)
    assert (found.kind, found.divisible) == ("jsonl", False)
    assert content(found) == b"".join(parts)
    thread.join()


def test_a_pipe_of_a_known_suffix_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "pipe.txt.gz"
    os.mkfifo(path)
    reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    thread = feed_slowly(os.open(path, os.O_WRONLY), [PACKS[".gz"](b"text")])
    found = source(path)
    os.close(reading)
    assert (found.kind, found.packed, content(found)) == ("text", False, b"text")
    thread.join()


class Pipe(io.TextIOWrapper):
    """Standard input as a program has it, where somebody writes bit by bit."""

    def __init__(self, parts: list[bytes]) -> None:
        reading, writing = os.pipe()
        self.thread = feed_slowly(writing, parts)
        super().__init__(io.BufferedReader(io.FileIO(reading)))


@pytest.mark.parametrize(
    ("parts", "kind"),
    [
        ([b"", b"d", b"a", b"ta: {}\n", b"\n"], "sse"),
        ([MARK[:1], MARK[1:], b"{", b"}\n{}"], "jsonl"),
        ([b"{\n", b"}"], "json"),
        ([b"Hel", b"lo"], "text"),
        ([], "text"),
    ],
)
def test_standard_input_is_told_by_its_first_line_however_slowly_it_comes(
    monkeypatch: pytest.MonkeyPatch, parts: list[bytes], kind: Kind
) -> None:
    with Pipe(parts) as pipe:
        monkeypatch.setattr(sys, "stdin", pipe)
        found = source("-")
        assert (found.name, found.kind, found.divisible) == ("-", kind, False)
        assert content(found) == b"".join(parts)
        del found
        assert not pipe.buffer.closed
        pipe.thread.join()


def test_standard_input_of_a_known_kind_is_not_read_before_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    with Pipe([b"a", b"b"]) as pipe:
        monkeypatch.setattr(sys, "stdin", pipe)
        (found,) = find_sources(["-"], "text")
        assert isinstance(found, Source)
        assert content(found) == b"ab"
        assert not pipe.buffer.closed
        pipe.thread.join()


def test_standard_input_that_is_closed_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert problem("-") == Problem("-", "standard input is closed", named=True)


@given(beginning=st.binary(max_size=20), reads=st.lists(st.integers(1, 30), max_size=9))
def test_a_beginning_that_was_read_is_not_lost(beginning: bytes, reads: list[int]) -> None:
    stdin: Any = io.TextIOWrapper(io.BytesIO(beginning + b"rest"))
    before, sys.stdin = sys.stdin, stdin
    try:
        (found,) = find_sources(["-"])
    finally:
        sys.stdin = before
    assert isinstance(found, Source)
    with found.open() as stream:
        got = b"".join(stream.read1(size) for size in reads)
        assert got + stream.read() == beginning + b"rest"


# A source by itself.


def test_only_a_plain_file_of_lines_is_divisible(tmp_path: Path) -> None:
    names = {
        "a.jsonl": True,
        "a.ndjson": True,
        "a.jsonl.gz": False,
        "a.json": False,
        "a.sse": False,
        "a.txt": False,
    }
    for name, divisible in names.items():
        assert source(write(tmp_path / name, b"x")).divisible == divisible


def test_a_source_goes_to_another_process() -> None:
    sent = Source("a.jsonl.gz", "jsonl", packed=True)
    assert pickle.loads(pickle.dumps(sent)) == sent  # noqa: S301  our own


def test_a_name_that_is_no_text_is_shown_as_text(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    found = Source(name, "text")
    assert found.shown == "caf\\xe9.txt"
    assert problem(tmp_path / name).where == f"{tmp_path}/caf\\xe9.txt"
    try:
        write(tmp_path / name, b"x")
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    assert content(source(tmp_path / name)) == b"x"
