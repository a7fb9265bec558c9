"""Files that are read, files that cannot be, and documents that nobody would write."""

import copy
import json
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwatch.config.launch import launch_lines
from loopwatch.config.loading import Config, load_config
from loopwatch.errors import ConfigError, InputError
from tests.config.documents import EVERYTHING, sound

# Files.


def test_a_path_is_read_as_a_file_and_text_as_the_document(tmp_path: Path) -> None:
    path = tmp_path / "loopwatch.json"
    text = "\N{BYTE ORDER MARK}// mine\r\n" + json.dumps(sound())
    path.write_text(text, encoding="utf-8")
    assert load_config(path) == load_config(text) == load_config(text.encode())


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing.json", "No such file or directory"),
        (".", "Is a directory"),
        ("a\0b", "embedded null byte"),
        ("x" * 300, "File name too long"),
    ],
)
def test_a_file_that_cannot_be_read_is_an_input_error(tmp_path: Path, name: str, reason: str) -> None:
    path = tmp_path / name
    with pytest.raises(InputError, match=f"{reason}$") as caught:
        load_config(path)
    assert str(caught.value).startswith(f"{path}: ")


NOBODY = 65_534


@contextmanager
def no_root() -> Iterator[None]:
    """Root may read everything: for a while it is somebody else."""
    mine = os.geteuid()
    if mine == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(mine)


def test_a_file_that_may_not_be_read_is_an_input_error(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.touch(mode=0o000)
    with pytest.raises(InputError, match=r"Permission denied$"), no_root():
        load_config(path)


@pytest.mark.parametrize(
    "content", [b"", b"\x00" * 64, random.Random(1).randbytes(64) + b"\xff", b"[" * 10_000_000]
)
def test_junk_is_one_defect(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "junk.json"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert len(caught.value.defects) == 1


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs a file without an end")
def test_a_file_without_an_end_is_too_large() -> None:
    with pytest.raises(ConfigError, match="larger than 1048576 bytes"):
        load_config(Path("/dev/zero"))


# Any value in place of any other.

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.sampled_from([*"x", "primary", "lead", "worker", "sk-abcdefghij", "\x1b[2J", "http://[", "", " "])
    | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "name", "modelSlot", "enabled", "windowWords", "maxTurns", "", "$schema"])
            | st.text(max_size=3),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


def paths(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Every path of a value, its own included."""
    children = (
        value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else [])
    )
    return [path, *(found for key, child in children for found in paths(child, (*path, key)))]


def replaced(path: tuple[str | int, ...], value: Any) -> Any:
    """The document that has every key, with one value in it replaced."""
    if not path:
        return value
    document = copy.deepcopy(EVERYTHING)
    holder: Any = document
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return document


def outcome(document: Any) -> Config | ConfigError:
    try:
        return load_config(json.dumps(document))
    except ConfigError as error:
        return error


@given(path=st.sampled_from(paths(EVERYTHING)), value=VALUES)
def test_whatever_stands_anywhere_is_a_configuration_or_a_refusal(
    path: tuple[str | int, ...], value: Any
) -> None:
    found = outcome(replaced(path, value))
    if isinstance(found, Config):
        lines = [*map(str, found.warnings), *launch_lines(found)]
        assert isinstance(found.root.name, str)
    else:
        assert found.defects
        lines = [defect.placed for defect in found.defects]
        assert len(
            {(defect.agent, defect.locus, defect.reason, defect.line) for defect in found.defects}
        ) == len(lines)
    assert all(line.isprintable() for line in lines)


@given(path=st.sampled_from([path for path in paths(EVERYTHING) if path and isinstance(path[-1], str)]))
def test_whatever_is_left_out_is_a_configuration_or_a_refusal(path: tuple[str | int, ...]) -> None:
    document = copy.deepcopy(EVERYTHING)
    holder: Any = document
    for key in path[:-1]:
        holder = holder[key]
    del holder[path[-1]]
    assert isinstance(outcome(document), Config | ConfigError)


@given(path=st.sampled_from([path for path in paths(EVERYTHING) if path]))
def test_a_null_anywhere_but_in_free_objects_is_refused(path: tuple[str | int, ...]) -> None:
    is_free = {"retryWith", "request"} & {*path[:-1]}
    assert isinstance(outcome(replaced(path, None)), Config if is_free else ConfigError)
