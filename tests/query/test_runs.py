"""Runs on disk: found at any depth, read anew only where they changed."""

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from loopwatch.errors import InputError
from loopwatch.query.duckdb import Index
from loopwatch.query.runs import INDEX, RunFolders
from loopwatch.query.values import Document
from tests.query.test_flatten import RUN


def write(folder: Path, **changes: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "summary.json").write_bytes(msgspec.json.encode({**RUN, **changes}))


@pytest.fixture(name="runs")
def two_arms(tmp_path: Path) -> Path:
    write(tmp_path / "off" / "a")
    write(tmp_path / "on" / "b", preset="two")
    (tmp_path / "on" / "b" / "work").mkdir()
    return tmp_path


def test_a_run_is_named_by_its_place(runs: Path) -> None:
    found = {document["id"]: document["folder"] for document in RunFolders(runs).documents()}
    assert found == {"off/a": "off", "on/b": "on"}


def test_the_folder_of_one_run_is_one_run(runs: Path) -> None:
    assert [document["id"] for document in RunFolders(runs / "on" / "b").documents()] == ["."]


def test_an_index_follows_the_folder(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    document = RunFolders.document

    def noted(folders: RunFolders, run: str) -> Document | None:
        read.append(run)
        return document(folders, run)

    monkeypatch.setattr(RunFolders, "document", noted)
    with Index(runs / INDEX) as index:
        RunFolders(runs).refresh(index)
        RunFolders(runs).refresh(index)
        assert read == ["off/a", "on/b"]
        write(runs / "on" / "b", preset="three")
        os.utime(runs / "on" / "b" / "summary.json", ns=(1, 1))
        (runs / "off" / "a" / "summary.json").unlink()
        RunFolders(runs).refresh(index)
        assert read == ["off/a", "on/b", "on/b"]
        assert [(each["id"], each["preset"]) for each in index.documents()] == [("on/b", "three")]


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"format": "other"}', b'{"format": "loopwatch-summary", "version": 99}']
)
def test_a_run_that_cannot_be_read_is_named_and_the_rest_found(runs: Path, content: bytes) -> None:
    (runs / "off" / "a" / "summary.json").write_bytes(content)
    folders = RunFolders(runs)
    assert [document["id"] for document in folders.documents()] == ["on/b"]
    (problem,) = folders.problems
    assert problem.startswith(str(runs / "off" / "a"))
    assert "\n" not in problem


def test_a_folder_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such folder; --runs names the folder of the runs"):
        list(RunFolders(tmp_path / "none").documents())
