import io
import json
import logging
import os
import random
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from loopwatch import scan as public_scan
from loopwatch.detect.settings import LoopDetection
from loopwatch.errors import InputError, LoopwatchError, SettingsError
from loopwatch.offline import scan as scan_module
from loopwatch.offline.scan import MAX_LINE, RANGE, Progress, scan
from loopwatch.offline.verdict import Problem, Verdict
from tests.offline.files import LOOP, PACKS, SOUND, lines, write

Everything = list[Verdict | Problem]


def everything(*paths: Path | str, **how: Any) -> Everything:
    """Verdicts and problems in the order in which they are told."""
    told: Everything = []
    for verdict in scan(list(paths), on_problem=told.append, **how):
        told.append(verdict)
    return told


def records(size: int) -> bytes:
    """Records of many lengths, of so many bytes in all, some of them bad; the last line has no end."""
    chance = random.Random(size)
    words = "the scan reads every line once and only once é 日本 🌀".split()
    made: list[bytes] = []
    length = 0
    while length < size:
        text = " ".join(chance.choices(words, k=chance.choice([1, 5, 20, 400])))
        kind = chance.random()
        if kind < 0.02:
            line = b"\n"
        elif kind < 0.04:
            line = b'{"text": "cut\n'
        elif kind < 0.05:
            line = lines({"text": LOOP[: chance.randrange(len(LOOP))]})
        elif kind < 0.3:
            line = lines({"id": f"r{len(made)}", "text": text}).replace(b"\n", b"\r\n")
        else:
            line = lines({"text": text})
        made.append(line)
        length += len(line)
    return b"".join(made).rstrip(b"\n")


# What is found.


def test_it_is_a_public_name_and_takes_a_path_or_many(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", lines({"text": SOUND}, {"text": LOOP}))
    assert public_scan is scan
    for paths in (path, str(path), [path], (str(path),), iter([path]), tmp_path):
        assert [(one.id, one.tripped) for one in scan(paths)] == [("1", False), ("2", True)]
    assert list(scan([])) == []


def test_a_preset_or_settings_may_be_chosen(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", LOOP.encode())
    assert [one.tripped for one in scan(path, "seed")] == [False]
    places = {preset: [one.at_char for one in scan(path, preset)] for preset in ("balanced", "eager")}
    assert places["eager"] < places["balanced"]
    assert list(scan(path, "seed", settings=LoopDetection.preset("eager"))) == list(scan(path, "eager"))


def test_an_unknown_preset_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no preset 'lazy'"):
        scan(tmp_path / "none", "lazy")


def test_field_kind_length_and_explanation_are_passed_on(tmp_path: Path) -> None:
    path = write(tmp_path / "a.log", lines({"a": "x", "text": "no"}, {"a": "x" * 99}))
    told = everything(path, field="a", kind="jsonl", max_line=50, explain=True)
    assert [str(one) for one in told if isinstance(one, Problem)] == [
        f"{path}:2: the line is longer than 50 bytes: raise --max-line"
    ]
    (verdict,) = (one for one in told if isinstance(one, Verdict))
    assert verdict.chars == 1
    assert isinstance(verdict.near, list)
    assert MAX_LINE == 64 << 20


def test_files_of_every_kind_are_told_in_order(tmp_path: Path) -> None:
    stream = b'data: {"choices": [{"delta": {"content": "abcd"}}]}\n\n'
    write(tmp_path / "a.jsonl", lines({"text": "a"}, {"text": "ab"}))
    write(tmp_path / "b.json", json.dumps([{"text": "abc"}]).encode())
    write(tmp_path / "c.sse.gz", PACKS[".gz"](stream))
    write(tmp_path / "d" / "e.txt.zst", PACKS[".zst"](b"abcde"))
    write(tmp_path / "f.md", b"abcdef")
    for jobs in (1, 2):
        assert [one.chars for one in scan(tmp_path, jobs=jobs)] == [1, 2, 3, 4, 5, 6]


def test_problems_are_told_between_the_verdicts_where_they_belong(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", lines({"text": "a"}) + b"oops\n" + lines({"text": "ab"}))
    assert [type(one) for one in everything(path)] == [Verdict, Problem, Verdict]


def test_problems_are_logged_where_nobody_wants_them(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(tmp_path / "a.jsonl", b"oops\n")
    with caplog.at_level(logging.WARNING, logger="loopwatch"):
        assert list(scan(path)) == []
    assert [record.name for record in caplog.records] == ["loopwatch"]
    assert caplog.messages[0].startswith(f"{path}:1: not JSON: ")


def test_a_path_that_cannot_be_read_is_told_first_and_the_rest_goes_on(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"x")
    first, second, verdict = everything("none.txt", path, tmp_path / "none")
    assert first == Problem("none.txt", "No such file or directory", named=True)
    assert second == Problem(str(tmp_path / "none"), "No such file or directory", named=True)
    assert isinstance(verdict, Verdict)


def test_paths_of_which_none_can_be_read_are_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^none.txt: No such file or directory$"):
        scan("none.txt")
    with pytest.raises(InputError, match=r"^none: No such .*; .*: nothing to scan in this folder .*\)$"):
        scan(["none", tmp_path])


def test_standard_input_and_pipes_are_read_here_in_their_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.txt", b"x")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for jobs in (1, 2):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines({"text": "abc"}))))
        writer = threading.Thread(target=pipe.write_bytes, args=(b"ab",))
        writer.start()
        progress: list[Progress] = []
        told = everything(path, pipe, "-", path, jobs=jobs, on_progress=progress.append)
        writer.join()
        assert [(one.source, one.chars) for one in told if isinstance(one, Verdict)] == [
            (str(path), 1),
            (str(pipe), 2),
            ("-", 3),
            (str(path), 1),
        ]
        assert progress == [Progress(done, None) for done in (1, 1, 1, 2)]


# Large files, in ranges.


SIZES = {"one range": 40_000, "several": 150_000}


@pytest.mark.parametrize("ranges_of", [7_000, 50_000])
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_two_processes_say_the_same_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, ranges_of: int
) -> None:
    path = write(tmp_path / "a.jsonl", records(size))
    whole = everything(path, explain=True)  # in one range
    monkeypatch.setattr(scan_module, "RANGE", ranges_of)
    for jobs in (1, 2, 3):
        assert everything(path, jobs=jobs, explain=True) == whole
    numbers = [int(one.where.rpartition(":")[2]) for one in whole if isinstance(one, Problem)]
    bad = [n for n, line in enumerate(path.read_bytes().split(b"\n"), 1) if line.endswith(b'"cut')]
    assert numbers == bad


@pytest.mark.parametrize("length", [200, 5_000, 30_000])
def test_a_line_longer_than_a_range_is_one_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, length: int
) -> None:
    content = lines({"text": "a"}, {"text": "x" * length}, {"text": "ab"}, {"text": "y" * length}) + b"oops"
    path = write(tmp_path / "a.jsonl", content)
    whole = everything(path, max_line=6_000)
    monkeypatch.setattr(scan_module, "RANGE", 100)
    assert everything(path, max_line=6_000, jobs=2) == whole
    assert everything(path, max_line=6_000, jobs=1) == whole


def test_a_file_of_several_real_ranges_is_the_same_for_two_processes(tmp_path: Path) -> None:
    content = records(3 * RANGE)
    path = write(tmp_path / "a.jsonl", content)
    progress: list[Progress] = []
    quick = LoopDetection(rules=("blank",))
    one = everything(path, settings=quick, on_progress=progress.append)
    assert everything(path, settings=quick, jobs=2) == one
    assert len(one) > 1_000
    assert len(progress) == 4
    assert progress[-1] == Progress(len(content), len(content))
    assert [at.done for at in progress] == sorted(at.done for at in progress)


def test_many_more_results_than_are_handed_over_at_a_time_are_all_told(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl.gz", PACKS[".gz"](b"oops\n" * 30_000 + lines({"text": "a"})))
    told = everything(path, path, jobs=2)
    assert len(told) == 60_002
    assert told[:30_001] == told[30_001:]


def test_a_file_that_can_no_longer_be_opened_is_a_problem_at_its_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan_module, "RANGE", 10)
    first, second = (
        write(tmp_path / name, lines({"text": "a"}, {"text": "ab"})) for name in ("a.jsonl", "b.jsonl")
    )
    third = write(tmp_path / "c.jsonl", lines({"text": "abc"}))
    told: list[Problem] = []
    found = scan([first, second, third], on_problem=told.append)
    second.unlink()
    assert [one.chars for one in found] == [1, 2, 3]
    assert [str(one) for one in told] == [f"{second}: No such file or directory"]


def test_a_file_that_may_no_longer_be_opened_is_a_problem_at_its_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan_module, "RANGE", 10)
    path = write(tmp_path / "a.jsonl", lines({"text": "a"}, {"text": "ab"}))
    told: list[Problem] = []
    found = scan(path, on_problem=told.append)
    path.unlink()
    path.symlink_to("a.jsonl")
    monkeypatch.setattr(scan_module, "_size", lambda _: 99)
    assert list(found) == []
    assert [str(one) for one in told] == [f"{path}: Too many levels of symbolic links"]


def test_a_scan_that_is_left_ends_its_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import multiprocessing

    monkeypatch.setattr(scan_module, "RANGE", 10_000)
    found = scan(write(tmp_path / "a.jsonl", records(150_000)), jobs=2, on_problem=lambda _: None)
    next(found)
    assert multiprocessing.active_children()
    found.close()
    assert not multiprocessing.active_children()


def test_a_process_that_dies_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import multiprocessing

    monkeypatch.setattr(scan_module, "RANGE", 10_000)
    found = scan(write(tmp_path / "a.jsonl", records(400_000)), jobs=2, on_problem=lambda _: None)
    next(found)
    for child in multiprocessing.active_children():
        child.kill()
    with pytest.raises(LoopwatchError, match="a scanning process was killed by signal 9"):
        list(found)
    assert not multiprocessing.active_children()
