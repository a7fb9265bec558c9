import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from loopwatch.errors import InputError
from loopwatch.offline.corpus import Case, read_corpus

Pack = Callable[[bytes], bytes]
PACKS: dict[str, Pack] = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}


def line(name: str, **more: Any) -> bytes:
    fields = {"id": name, "family": "prose", "label": "legit", "text": "Well said."}
    return json.dumps({**fields, **more}).encode() + b"\n"


def lines(count: int) -> bytes:
    """So many replies that do not compress well."""
    chance = random.Random(count)
    return b"".join(line(f"r{number}", note=chance.randbytes(200).hex()) for number in range(count))


def write(folder: Path, content: bytes, name: str = "replies.jsonl") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def ids(path: Path) -> list[str]:
    return [case.id for case in read_corpus(path)]


def refusal(path: Path) -> str:
    """The message with which a corpus is refused: one line, of this package."""
    with pytest.raises(InputError) as refused:
        read_corpus(path)
    message = str(refused.value)
    assert "\n" not in message
    assert refused.value.__cause__ is None
    return message


# What is read.


def test_every_field_of_a_case_is_read(tmp_path: Path) -> None:
    fields: dict[str, Any] = {
        "id": "L-1",
        "family": "recover",
        "label": "loop",
        "text": "on and on and on. Done",
        "onset_char": 3,
        "loop_end_char": 17,
        "source": "somewhere",
        "note": "recovers",
    }
    assert read_corpus(write(tmp_path, json.dumps(fields).encode())) == [Case(**fields)]


def test_unknown_fields_are_passed_over(tmp_path: Path) -> None:
    assert ids(write(tmp_path, line("a", params={"temperature": 0}, chars=10))) == ["a"]


@pytest.mark.parametrize("suffix", PACKS)
def test_a_file_is_read_in_order_plain_or_compressed(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path, PACKS[suffix](lines(2_000)), f"cases.jsonl{suffix}")
    assert ids(path) == [f"r{number}" for number in range(2_000)]


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_compressed_files_joined_end_to_end_are_read_to_the_last(tmp_path: Path, suffix: str) -> None:
    pack = PACKS[suffix]
    path = write(tmp_path, pack(lines(500)) + pack(line("last")), f"cases.jsonl{suffix}")
    assert ids(path) == [*(f"r{number}" for number in range(500)), "last"]


@pytest.mark.parametrize("suffix", PACKS)
def test_a_folder_is_its_replies(tmp_path: Path, suffix: str) -> None:
    write(tmp_path, PACKS[suffix](line("mine")), f"replies.jsonl{suffix}")
    write(tmp_path, line("not mine"), "traces.jsonl")
    assert ids(tmp_path) == ["mine"]


def test_the_plain_file_of_a_folder_goes_before_the_compressed_one(tmp_path: Path) -> None:
    write(tmp_path, gzip.compress(line("packed")), "replies.jsonl.gz")
    write(tmp_path, line("plain"))
    assert ids(tmp_path) == ["plain"]


def test_blank_lines_are_passed_over(tmp_path: Path) -> None:
    assert ids(write(tmp_path, b"\n" + line("a") + b"  \n\t\r\n" + line("b") + b"\n")) == ["a", "b"]


def test_line_ends_of_windows_and_a_last_line_without_one_are_read(tmp_path: Path) -> None:
    content = (line("a") + line("b")).replace(b"\n", b"\r\n").rstrip()
    assert ids(write(tmp_path, content)) == ["a", "b"]


def test_escaped_characters_outside_the_first_plane_are_one_character(tmp_path: Path) -> None:
    (case,) = read_corpus(write(tmp_path, line("a", text="\U0001f300")))
    assert len(case.text) == case.end == 1


# What is refused.


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b"{", "truncated"),
        (b"text", "malformed"),
        (b"[]", "Expected `object`"),
        (b'{"id": "a"}', "missing required field `family`"),
        (line("a", label="maybe"), "Invalid enum value 'maybe'"),
        (line("a", text=None), "Expected `str`"),
        (line("a", onset_char="7"), "Expected `int | null`"),
        (line("\ud83c"), "surrogate"),
        (line("a").replace(b"said", b"\xff"), "utf-8"),
        (line("a", more=0).replace(b"0", b"[" * 100_000 + b"]" * 100_000), "recursion"),
        (b"\xef\xbb\xbf" + line("a"), "malformed"),
    ],
    ids=[
        "cut",
        "text",
        "list",
        "field missing",
        "label unknown",
        "no text",
        "onset no number",
        "lone surrogate",
        "not UTF-8",
        "nested too deep",
        "byte order mark",
    ],
)
def test_a_bad_line_is_named_with_its_file_and_number(tmp_path: Path, bad: bytes, reason: str) -> None:
    path = write(tmp_path, line("good") + b"\n" + bad.rstrip(b"\n") + b"\n" + line("good too"))
    message = refusal(path)
    assert message.startswith(f"{path}:3: not a labelled reply: ")
    assert reason in message


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_bad_line_of_a_compressed_file_has_its_number_too(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path, PACKS[suffix](line("good") + b"bad\n"), f"cases.jsonl{suffix}")
    assert refusal(path).startswith(f"{path}:2: ")


@pytest.mark.parametrize("suffix", PACKS)
@pytest.mark.parametrize("content", [b"", b"\n \n"], ids=["empty", "blank"])
def test_a_file_without_replies_is_refused(tmp_path: Path, suffix: str, content: bytes) -> None:
    path = write(tmp_path, PACKS[suffix](content), f"cases.jsonl{suffix}")
    assert refusal(path) == f"{path}: no labelled replies in it"


@pytest.mark.parametrize("suffix", PACKS)
def test_a_missing_file_is_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"cases.jsonl{suffix}"
    assert refusal(path) == f"{path}: No such file or directory"


def test_a_folder_without_replies_is_refused(tmp_path: Path) -> None:
    write(tmp_path, line("a"), "other.jsonl")
    (tmp_path / "replies.jsonl").mkdir()
    assert refusal(tmp_path) == f"{tmp_path}: no replies.jsonl (or .gz, .zst) in this folder"


@pytest.mark.parametrize("kept", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_compressed_file_that_was_cut_off_is_refused(tmp_path: Path, suffix: str, kept: float) -> None:
    packed = PACKS[suffix](lines(500))
    path = write(tmp_path, packed[: int(len(packed) * kept)], f"cases.jsonl{suffix}")
    assert refusal(path).startswith(f"{path}: Compressed file ended before ")


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_compressed_file_cut_off_after_whole_lines_is_refused(tmp_path: Path, suffix: str) -> None:
    pack = PACKS[suffix]
    path = write(tmp_path, pack(lines(500)) + pack(lines(500))[:100], f"cases.jsonl{suffix}")
    assert refusal(path).startswith(f"{path}: Compressed file ended before ")


def overwritten(packed: bytes, start: int) -> bytes:
    return packed[:start] + b"\xff" * 400 + packed[start + 400 :]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda packed: overwritten(packed, 10),  # behind gzip's header: no block begins so
        lambda packed: overwritten(packed, len(packed) // 2),
        lambda packed: packed + b"junk",
    ],
    ids=["overwritten at the beginning", "overwritten in the middle", "followed by junk"],
)
@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_compressed_file_that_is_broken_is_refused(tmp_path: Path, suffix: str, spoil: Pack) -> None:
    path = write(tmp_path, spoil(PACKS[suffix](lines(500))), f"cases.jsonl{suffix}")
    assert str(path) in refusal(path)


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_file_that_is_not_compressed_as_its_name_says_is_refused(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path, lines(3), f"cases.jsonl{suffix}")
    assert refusal(path).startswith(f"{path}: ")


# What a case says of itself.


def case(text: str = "0123456789", *, family: str = "f", label: Any = "loop", **more: Any) -> Case:
    return Case(id="c", family=family, label=label, text=text, **more)


def test_a_loop_ends_with_its_text() -> None:
    assert (case(onset_char=4).onset, case(onset_char=4).end) == (4, 10)


def test_a_loop_that_recovers_ends_there() -> None:
    assert case(onset_char=2, loop_end_char=8).end == 8


def test_an_onset_left_out_is_the_beginning() -> None:
    assert case().onset == 0


def test_what_was_asked_for_or_is_unsure_is_undecidable() -> None:
    assert case().decidable
    assert case(label="legit").decidable
    assert not case(label="unsure").decidable
    assert not case(family="asked_repeat", label="legit").decidable


@pytest.mark.parametrize(
    ("places", "fault"),
    [
        ({"onset_char": None}, "a loop needs an onset_char inside its text"),
        ({"onset_char": -1}, "a loop needs an onset_char inside its text"),
        ({"onset_char": 99}, "a loop needs an onset_char inside its text"),
        ({"onset_char": 4, "loop_end_char": 3}, "loop_end_char lies outside the loop"),
        ({"onset_char": 4, "loop_end_char": 11}, "loop_end_char lies outside the loop"),
    ],
)
def test_a_loop_whose_places_mean_nothing_is_refused(
    tmp_path: Path, places: dict[str, int | None], fault: str
) -> None:
    path = write(tmp_path, line("a") + line("b", label="loop", **places))
    assert refusal(path) == f"{path}:2: 'b': {fault}"


def test_an_id_may_stand_only_once(tmp_path: Path) -> None:
    path = write(tmp_path, line("a") + line("b") + line("a"))
    assert refusal(path) == f"{path}:3: 'a': its id stands twice in the file"
