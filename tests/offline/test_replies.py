import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loopwatch.offline.lines import ranges
from loopwatch.offline.replies import read_source
from loopwatch.offline.verdict import Problem, Verdict
from tests.offline.files import (
    LOOP,
    PACKS,
    SOUND,
    Pack,
    lines,
    options,
    problems,
    results,
    sizes,
    source,
    verdicts,
    watching,
    write,
)

CORPUS = Path(__file__).parents[2] / "corpus"
MARK = b"\xef\xbb\xbf"
EMPTY = "there is nothing in it"


def completion(*texts: str, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": n, "message": {"content": text, **more}} for n, text in enumerate(texts)]}


def chunk(text: str, index: int = 0, key: str = "content") -> bytes:
    return b"data: " + json.dumps({"choices": [{"index": index, "delta": {key: text}}]}).encode() + b"\n\n"


# Files of records.


def test_each_record_is_a_reply_with_its_name_or_the_number_of_its_line(tmp_path: Path) -> None:
    content = lines(
        {"text": "a"},
        {"id": "x", "text": "ab"},
        {"custom_id": "y", "response": {"body": {"id": "chatcmpl-1", **completion("abc")}}},
        {"key": "z", "response": {"candidates": [{"content": {"parts": [{"text": "abcd"}]}}]}},
        {"uuid": "u", "message": {"role": "assistant", "content": [{"type": "text", "text": "abcde"}]}},
        {"id": 7, "text": "abcdef"},
        {"id": "", "key": True, "uuid": None, "text": "abcdefg"},
        {"id": 0, "text": "abcdefgh"},
        [{"role": "assistant", "content": "abcdefghi"}],
    )
    found = results(write(tmp_path / "a.jsonl", content))
    names = ["1", "x", "y", "z", "u", "7", "7", "0", "9"]
    assert sizes(found) == list(zip(names, range(1, 10), strict=True))
    assert len(found) == 9
    assert {one.source for one in verdicts(found)} == {str(tmp_path / "a.jsonl")}


@pytest.mark.parametrize("pack", PACKS)
def test_a_loop_is_found_plain_or_packed(tmp_path: Path, pack: str) -> None:
    path = write(tmp_path / f"a.jsonl{pack}", PACKS[pack](lines({"text": SOUND}, {"text": LOOP})))
    assert [one.tripped for one in verdicts(results(path))] == [False, True]


def test_blank_lines_a_mark_and_ends_of_windows_are_no_matter_and_lines_keep_their_numbers(
    tmp_path: Path,
) -> None:
    content = MARK + b'{"text":"a"}\r\n\r\n  \t\n{"text":"ab"}\r\noops\r\n{"text":"abc"}'
    found = results(write(tmp_path / "a.jsonl", content))
    assert sizes(found) == [("1", 1), ("4", 2), ("6", 3)]
    assert len(problems(found)) == 1
    assert problems(found)[0].startswith(f"{tmp_path}/a.jsonl:5: not JSON: ")


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b"{", "not JSON: Input data was truncated"),
        (b"text", "not JSON: JSON is malformed: invalid character (byte 4)"),
        (b'{"text": "a"} {}', "not JSON: JSON is malformed: trailing characters (byte 15)"),
        (b'{"text": "\xff"}', "not JSON: it is not UTF-8"),
        (b"[" * 100_000 + b"]" * 100_000, "not JSON: it is nested too deep"),
        (b'{"text": "\\ud83c"}', "not JSON: Input data was truncated"),
        (b"{}", "no reply found in it: name the field with --field"),
        (b"7", "no reply found in it: name the field with --field"),
        (b'{"text": 7}', "no reply found in it: name the field with --field"),
        (b'{"text": "%s"}' % (b"x" * 200_000), "the line is longer than 200,000 bytes: raise --max-line"),
    ],
    ids=[
        "cut",
        "text",
        "two",
        "not UTF-8",
        "deep",
        "half a character",
        "empty",
        "number",
        "no text",
        "too long",
    ],
)
def test_a_bad_record_is_named_with_its_line_and_the_rest_goes_on(
    tmp_path: Path, bad: bytes, reason: str
) -> None:
    path = write(tmp_path / "a.jsonl", b'{"text":"a"}\n' + bad + b'\n{"text":"ab"}\n')
    found = results(path, max_line=200_000)
    assert sizes(found) == [("1", 1), ("3", 2)]
    assert problems(found) == [f"{path}:2: {reason}"]
    assert isinstance(found[1], Problem)
    assert not found[1].named


def test_what_is_known_to_be_no_reply_is_no_problem(tmp_path: Path) -> None:
    content = lines({"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}, {"messages": []})
    found = results(write(tmp_path / "a.jsonl", content))
    assert sizes(found) == [("2", 1)]
    assert problems(found) == [f"{tmp_path}/a.jsonl:3: no reply found in it: name the field with --field"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.txt", "a.jsonl.gz", "a.json.zst", "a.txt.gz"])
@pytest.mark.parametrize("content", [b"", MARK], ids=["empty", "mark"])
def test_an_empty_file_is_one_line(tmp_path: Path, name: str, content: bytes) -> None:
    pack = PACKS.get(Path(name).suffix, bytes)
    path = write(tmp_path / name, pack(content))
    assert problems(results(path)) == [f"{path}: {EMPTY}"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_a_file_of_blank_lines_is_empty(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, b"\n \r\n\n")
    assert problems(results(path)) == [f"{path}: {EMPTY}"]


def test_an_empty_stream_is_one_line(tmp_path: Path) -> None:
    path = write(tmp_path / "a.sse", b"\n")
    assert problems(results(path)) == [f"{path}: the stream is empty"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.sse", "a.txt"])
def test_a_file_that_has_gone_is_a_problem(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, b"x")
    gone = source(path)
    path.unlink()
    assert problems(list(read_source(gone, options()))) == [f"{path}: No such file or directory"]


# The field.


def test_a_field_is_read_and_nothing_else(tmp_path: Path) -> None:
    record = {"id": "x", "a": {"b": "one"}, "text": "no", "list": [{"c": "three"}]}
    path = write(tmp_path / "a.jsonl", lines(record))
    assert sizes(results(path, field="a.b")) == [("x", 3)]
    assert sizes(results(path, field="list.0.c")) == [("x", 5)]
    assert problems(results(path, field="a.c")) == [f"{path}:1: no text at 'a.c'"]


def test_a_field_is_read_whatever_channels_are_watched(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", lines({"a": "one"}))
    found = list(read_source(source(path), options(settings=watching("tools").settings, field="a")))
    assert sizes(found) == [("1", 3)]


# The channels.


def test_only_the_channels_that_are_watched_are_judged(tmp_path: Path) -> None:
    calls = [{"function": {"arguments": "xyz"}}]
    path = write(
        tmp_path / "a.jsonl", lines({"id": "r", **completion("a", reasoning="hm", tool_calls=calls)})
    )
    judged = {
        channels: sizes(list(read_source(source(path), watching(*channels))))
        for channels in [("content",), ("reasoning",), ("tools",), ("content", "reasoning", "tools")]
    }
    assert list(judged.values()) == [
        [("r", 1)],
        [("r", 2)],
        [("r", 3)],
        [("r#reasoning", 2), ("r#content", 1), ("r#tools", 3)],
    ]


def test_several_replies_of_a_record_have_names_of_their_own(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", lines({"id": "r", **completion("a", "ab", reasoning="hm")}))
    assert sizes(list(read_source(source(path), watching("content")))) == [
        ("r#choices.0", 1),
        ("r#choices.1", 2),
    ]
    names = [name for name, _ in sizes(list(read_source(source(path), watching("content", "reasoning"))))]
    assert names == [f"r#choices.{n}#{channel}" for n in (0, 1) for channel in ("reasoning", "content")]


# Documents.


@pytest.mark.parametrize("indent", [None, 2])
def test_a_document_is_a_record_called_after_its_file(tmp_path: Path, indent: int | None) -> None:
    path = write(tmp_path / "a.json", MARK + json.dumps(completion("abc"), indent=indent).encode() + b"\n")
    assert sizes(results(path)) == [("a.json", 3)]
    path = write(tmp_path / "b.json", json.dumps({"id": "x", "text": "a"}).encode())
    assert sizes(results(path)) == [("x", 1)]


def test_a_document_that_is_a_list_is_a_record_each(tmp_path: Path) -> None:
    records = [{"role": "user", "content": "q"}, {"id": "x", "text": "a"}, {}, completion("ab")]
    path = write(tmp_path / "a.json", json.dumps(records).encode())
    found = results(path)
    assert sizes(found) == [("x", 1), ("4", 2)]
    assert problems(found) == [f"{path}[3]: no reply found in it: name the field with --field"]


def test_bad_records_of_a_list_are_told_in_their_order_once_there_is_a_good_one(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", json.dumps([1, 2, {"text": "a"}, 3]).encode())
    found = results(path)
    assert [type(one) for one in found] == [Problem, Problem, Verdict, Problem]
    assert [line.partition(":")[0] for line in problems(found)] == [f"{path}[{n}]" for n in (1, 2, 4)]


def test_a_list_without_any_reply_is_one_problem(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", json.dumps([*range(1_000)]).encode())
    assert problems(results(path)) == [f"{path}: no reply found in it: name the field with --field"]
    assert problems(results(write(path, b"[]"))) == [f"{path}: {EMPTY}"]
    assert results(write(path, json.dumps([{"role": "user", "content": "q"}]).encode())) == []


def test_a_document_that_has_a_record_a_line_is_read_so(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", lines({"text": "a"}, {"text": "ab"}) + b"oops\n")
    found = results(path)
    assert sizes(found) == [("1", 1), ("2", 2)]
    assert problems(found)[0].startswith(f"{path}:3: not JSON: ")


@pytest.mark.parametrize("content", [b"{", b"text", b'{"text": "\xff"}', b"\x00" * 99, b'{\n"a": 1\n}\n{}'])
def test_a_document_that_is_none_is_one_problem(tmp_path: Path, content: bytes) -> None:
    path = write(tmp_path / "a.json", content)
    (said,) = problems(results(path))
    assert said.startswith(f"{path}: not JSON: ")


def test_a_document_that_is_too_long_is_one_problem(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", b'{"text": "aaaa"}')
    assert sizes(results(path, max_line=16)) == [("a.json", 4)]
    (said,) = problems(results(path, max_line=15))
    longer = (
        "the document is longer than 15 bytes: raise --max-line, or if it has a record a line, --format jsonl"
    )
    assert said == f"{path}: {longer}"


# Captured streams.


def test_a_capture_is_a_reply_called_after_its_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.sse", b"".join(chunk(piece) for piece in ("a", "b", "c")))
    assert sizes(results(path)) == [("a.sse", 3)]


def test_the_captures_of_the_corpus_give_the_verdicts_of_their_texts(tmp_path: Path) -> None:
    with gzip.open(CORPUS / "real.jsonl.gz") as file:
        replies = [json.loads(line) for line in file][:30]
    for reply in replies:
        (streamed,) = results(CORPUS / reply["sse"])
        (written,) = results(write(tmp_path / "a.txt", reply["text"].encode()))
        (recorded,) = results(write(tmp_path / "a.jsonl", lines({"text": reply["text"]})))
        told = []
        for one in (streamed, written, recorded):
            assert isinstance(one, Verdict)
            told.append((one.chars, one.words, one.tripped, one.at_char, one.onset_char, one.sample))
        assert told[0] == told[1] == told[2]


def test_replies_side_by_side_are_judged_each(tmp_path: Path) -> None:
    content = b"".join(chunk(SOUND, 0) + chunk(LOOP[n : n + 9], 1) for n in range(0, 4_000, 9))
    found = verdicts(results(write(tmp_path / "a.sse", content + chunk("hm", 1, "reasoning"))))
    assert [(one.id, one.tripped) for one in found] == [("a.sse#0", True), ("a.sse#1", True)]
    path = write(tmp_path / "b.sse", chunk("a") + chunk("hm", 0, "reasoning") + chunk("ab", 1))
    assert sizes(list(read_source(source(path), watching("content", "reasoning")))) == [
        ("b.sse#0#content", 1),
        ("b.sse#0#reasoning", 2),
        ("b.sse#1", 2),
    ]


def test_a_bad_event_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    content = chunk("a") + b"data: oops\n\n" + b'data: {"error": {"message": "gone"}}\n\n' + chunk("b")
    path = write(tmp_path / "a.sse", content)
    found = results(path)
    assert sizes(found) == [("a.sse", 2)]
    assert problems(found) == [
        f"{path}: event 2 cannot be read: JSON is malformed: invalid character (byte 0)",
        f"{path}: the provider reports an error: gone",
    ]


def test_what_is_no_stream_is_one_problem(tmp_path: Path) -> None:
    path = write(tmp_path / "a.sse", b"Hello\n" * 1_000)
    (said,) = problems(results(path))
    assert said.startswith(f"{path}: this is no stream of a known format")


def test_an_endless_line_is_one_problem_and_what_came_before_is_judged(tmp_path: Path) -> None:
    path = write(tmp_path / "a.sse", chunk("a") + b"data: " + b"x" * (9 << 20))
    found = results(path)
    assert sizes(found) == [("a.sse", 1)]
    assert problems(found) == [
        f"{path}: a line of the stream has no end after 8,388,608 bytes: is this an event stream?"
    ]


# Texts.


def test_a_text_is_one_reply_called_after_its_file(tmp_path: Path) -> None:
    found = results(write(tmp_path / "a.md", MARK + "é\r\n\u2028".encode()))
    assert sizes(found) == [("a.md", 4)]
    assert len(found) == 1


@pytest.mark.parametrize(
    ("content", "chars", "damaged"),
    [
        (b"caf\xe9", 4, True),
        ("caf\ufffd".encode(), 4, False),
        ("caf\ufffd".encode() + b"\xff", 5, True),
        (b"\xff" * 70_000, 70_000, True),
        (b"x" + "é".encode() * 70_000, 70_001, False),
        (b"x" * 65_535 + "\ufffd".encode() + b"x" * 70_000, 135_536, False),
        (b"caf\xc3", 4, True),
        (b"\x00\x01", 2, False),
    ],
    ids=["Latin-1", "a mark of damage", "both", "junk", "cut characters", "a cut mark", "cut off", "zeros"],
)
def test_bytes_that_are_no_utf8_are_said_once_and_the_rest_is_read(
    tmp_path: Path, content: bytes, chars: int, *, damaged: bool
) -> None:
    path = write(tmp_path / "a.txt", content)
    found = results(path)
    said = [f"{path}: not all of it is UTF-8: what is not was read as U+FFFD"]
    assert problems(found) == (said if damaged else [])
    assert sizes(found) == [("a.txt", chars)]


def test_white_space_is_a_reply(tmp_path: Path) -> None:
    (one,) = verdicts(results(write(tmp_path / "a.txt", b" " * 9_000)))
    assert (one.rule, one.words) == ("blank", 0)


# Packed files that break off.


def cut_off(pack: Pack, content: bytes) -> bytes:
    packed = pack(content)
    return packed[: len(packed) * 3 // 4]


@pytest.mark.parametrize("pack", [".gz", ".zst"])
def test_of_records_that_break_off_the_good_ones_are_judged(tmp_path: Path, pack: str) -> None:
    chance = random.Random(3)
    content = b"".join(lines({"text": str(chance.random())}) for _ in range(20_000))
    path = write(tmp_path / f"a.jsonl{pack}", cut_off(PACKS[pack], content))
    found = results(path)
    assert len(verdicts(found)) > 5_000
    assert len(problems(found)) == 1
    assert problems(found)[0].startswith(f"{path}: Compressed file ended before ")


@pytest.mark.parametrize("pack", [".gz", ".zst"])
@pytest.mark.parametrize("name", ["a.txt", "a.sse"])
def test_of_a_reply_that_breaks_off_what_is_there_is_judged(tmp_path: Path, pack: str, name: str) -> None:
    chance = random.Random(4)
    texts = [f"{chance.random()} " for _ in range(40_000)]
    content = b"".join(map(chunk, texts)) if name == "a.sse" else "".join(texts).encode()
    path = write(tmp_path / f"{name}{pack}", cut_off(PACKS[pack], content))
    found = results(path)
    (one,) = verdicts(found)
    assert one.chars > 200_000
    assert len(problems(found)) == 1
    assert problems(found)[0].startswith(f"{path}: Compressed file ended before ")


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.sse", "a.txt"])
@pytest.mark.parametrize("pack", [".gz", ".zst"])
def test_a_file_that_is_not_packed_as_its_name_says_is_one_problem(
    tmp_path: Path, name: str, pack: str
) -> None:
    path = write(tmp_path / f"{name}{pack}", b"junk and more of it")
    (said,) = problems(results(path))
    assert said.startswith(f"{path}: ")
    assert len(results(path)) == 1


def test_frames_joined_end_to_end_are_one_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl.zst", zstandard.compress(b'{"text"') + zstandard.compress(b': "a"}\n'))
    assert sizes(results(path)) == [("1", 1)]


# A file in ranges.


RECORDS = [
    b'{"text":"a"}\n',
    b'{"text":"ab"}\r\n',
    b"\n",
    b"oops\n",
    b'{"text":"' + b"x" * 50 + b'"}\n',
    b'{"text":"' + b"y" * 200 + b'"}\n',
    b'{"id":"r","text":"abc"}\n',
]


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    records=st.lists(st.sampled_from(RECORDS), min_size=1, max_size=12),
    step=st.integers(1, 300),
    cut=st.booleans(),
)
def test_the_results_of_all_ranges_are_those_of_the_whole(
    tmp_path: Path, records: list[bytes], step: int, *, cut: bool
) -> None:
    content = b"".join(records)
    path = write(tmp_path / "a.jsonl", content.rstrip(b"\n") if cut else content)
    chosen = options(max_line=100)
    with path.open("rb") as stream:
        divided = [
            one for within in ranges(stream, step) for one in read_source(source(path), chosen, within)
        ]
    whole = [one for one in read_source(source(path), chosen) if str(one) != f"{path}: {EMPTY}"]
    assert divided == whole
