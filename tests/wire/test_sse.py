import gzip
import json
import random
import re
from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from loopwatch.errors import InputError
from loopwatch.wire.lines import LINE_CAP
from loopwatch.wire.openai import DONE, chunk_pieces, decode_chunk
from loopwatch.wire.sse import Event, SSEDecoder

CORPUS = Path(__file__).parents[2] / "corpus"
CAPTURES = sorted(path.name for path in (CORPUS / "sse").glob("*.sse.gz"))
SMALL_CAPTURES = [name for name in CAPTURES if (CORPUS / "sse" / name).stat().st_size < 1_000]
MARK = b"\xef\xbb\xbf"


def decode(*reads: bytes) -> list[Event]:
    decoder = SSEDecoder()
    events = [event for read in reads for event in decoder.feed(read)]
    return events + decoder.finish()


def data(*reads: bytes) -> list[bytes]:
    return [event.data for event in decode(*reads)]


def cut(stream: bytes, places: Iterable[int]) -> list[bytes]:
    edges = [0, *sorted(places), len(stream)]
    return [stream[start:stop] for start, stop in pairwise(edges)]


def bytewise(stream: bytes) -> list[bytes]:
    return cut(stream, range(1, len(stream)))


# The rules of a line.


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"], ids=["LF", "CR", "CRLF"])
def test_each_kind_of_line_end_ends_a_line(end: bytes) -> None:
    stream = end.join([b"event: ping", b"data: one", b"", b"data: two", b"", b""])
    assert decode(stream) == [Event(b"one", "ping"), Event(b"two")]
    assert decode(*bytewise(stream)) == [Event(b"one", "ping"), Event(b"two")]


def test_kinds_of_line_end_may_be_mixed() -> None:
    assert data(b"data: a\r\n\ndata: b\n\rdata: c\r\r\ndata: d\r\n\r\n") == [b"a", b"b", b"c", b"d"]


def test_cr_then_lf_is_one_line_end_also_when_a_read_ends_between() -> None:
    assert data(b"data: a\r", b"\ndata: b\r", b"\n\r", b"\n") == [b"a\nb"]


def test_the_skipped_lf_waits_through_an_empty_read() -> None:
    assert data(b"data: a\r", b"", b"\ndata: b\r", b"\n\r\n") == [b"a\nb"]


def test_cr_at_the_end_of_a_read_is_a_line_end_at_once() -> None:
    assert SSEDecoder().feed(b"data: a\r\r") == [Event(b"a")]


def test_cr_at_the_end_of_a_read_takes_only_an_lf_with_it() -> None:
    assert data(b"data: a\r", b"data: b\r", b"\r") == [b"a\nb"]


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x00"])
def test_no_other_character_ends_a_line(character: str) -> None:
    stream = f"data: one{character}two\n\n".encode()
    assert data(stream) == [f"one{character}two".encode()]
    assert data(*bytewise(stream)) == [f"one{character}two".encode()]


def test_a_character_cut_between_two_reads_stays_whole() -> None:
    assert data(*bytewise("data: 日本 🌀\n\n".encode())) == ["日本 🌀".encode()]


# The rules of a field.


def test_one_space_after_the_colon_is_optional_and_only_one_is_dropped() -> None:
    assert data(b"data:a\n\ndata: a\n\ndata:  a \n\ndata:\ta\n\n") == [b"a", b"a", b" a ", b"\ta"]


def test_only_the_first_colon_parts_name_from_value() -> None:
    assert data(b"data: a: b:c\n\n") == [b"a: b:c"]


def test_a_field_without_a_colon_has_an_empty_value() -> None:
    assert decode(b"event: ping\nevent\ndata\n\n") == [Event(b"", "message")]


def test_comments_are_dropped() -> None:
    assert decode(b": OPENROUTER PROCESSING\n\n:data: no\ndata: yes\n:\n\n") == [Event(b"yes")]


@pytest.mark.parametrize("line", [b"id: 7", b"retry: 3", b"Data: x", b" data: x", b"datas: x", b"da", b"x"])
def test_other_fields_are_dropped(line: bytes) -> None:
    assert data(line + b"\ndata: a\n" + line + b"\n\n" + line + b"\n\n") == [b"a"]


def test_the_last_event_field_names_the_type_of_its_own_event_only() -> None:
    stream = b"event: first\nevent:content_block_delta\ndata: a\n\ndata: b\n\nevent:\ndata: c\n\n"
    assert decode(stream) == [Event(b"a", "content_block_delta"), Event(b"b"), Event(b"c")]


def test_a_type_without_data_is_no_event_and_is_forgotten() -> None:
    assert decode(b"event: ping\n\ndata: a\n\n") == [Event(b"a")]


def test_a_type_that_is_not_utf8_is_read_with_replacements() -> None:
    assert decode(b"event: p\xff\ndata: a\n\n") == [Event(b"a", "p\ufffd")]


# The rules of an event.


def test_data_lines_are_joined_by_lf() -> None:
    assert data(b"data: one\ndata:\ndata: three\n\n") == [b"one\n\nthree"]


def test_one_json_value_over_several_lines_is_joined() -> None:
    assert data(b'data: {"a":\ndata: 1}\n\n') == [b'{"a":\n1}']


def test_data_lines_that_are_each_whole_json_are_separate_events() -> None:
    assert decode(b'event: chunk\ndata: {"a":1}\ndata: [2]\n\n') == [
        Event(b'{"a":1}', "chunk"),
        Event(b"[2]", "chunk"),
    ]


def test_data_lines_of_which_one_is_no_json_are_joined() -> None:
    assert data(b'data: {"a":1}\ndata: and so on\n\n') == [b'{"a":1}\nand so on']


def test_the_sentinel_right_after_a_chunk_is_an_event_of_its_own() -> None:
    assert data(b'data: {"a":1}\ndata: [DONE]\n\n') == [b'{"a":1}', DONE]


def test_an_event_without_end_is_given_up() -> None:
    with pytest.raises(InputError, match=r"^an event of the stream has no end after 8,388,608 bytes"):
        SSEDecoder().feed((b"data: " + b"x" * 1_000_000 + b"\n") * 9)


@pytest.mark.parametrize(
    "line",
    [b'{"a": "\xff"}', b"[" * 100_000 + b"]" * 100_000],
    ids=["not UTF-8", "nested too deep"],
)
def test_data_lines_that_json_chokes_on_are_joined(line: bytes) -> None:
    assert data(b"data: 1\ndata: " + line + b"\n\n") == [b"1\n" + line]


def test_blank_lines_alone_are_no_events() -> None:
    assert decode(b"\n\r\n\r\n\n") == []


# The beginning and the end of a stream.


def test_a_byte_order_mark_at_the_beginning_is_dropped() -> None:
    assert data(MARK + b"data: a\n\n") == [b"a"]


@pytest.mark.parametrize("places", [[1], [2], [3], [1, 2], [1, 2, 3], [0, 0, 1]])
def test_a_byte_order_mark_is_dropped_however_it_was_cut(places: list[int]) -> None:
    for first in (b"", b"\n", b"\r", b":\r\n"):
        assert data(*cut(MARK + first + b"data: a\n\n", places)) == [b"a"]


def test_only_one_byte_order_mark_is_dropped() -> None:
    assert data(MARK + MARK + b"data: a\n\ndata: b\n\n") == [b"b"]


@pytest.mark.parametrize("before", [b"\n", b"\r\n", b":\n", b"\n\n", b"\r"])
def test_a_byte_order_mark_further_on_is_not_dropped(before: bytes) -> None:
    stream = before + MARK + b"data: a\n\ndata: b\n\n"
    assert data(stream) == [b"b"]
    assert data(*bytewise(stream)) == [b"b"]


def test_the_beginning_of_a_byte_order_mark_alone_is_nothing() -> None:
    assert decode(MARK[:1], MARK[1:2]) == []


def test_finish_gives_back_an_event_without_its_blank_line() -> None:
    decoder = SSEDecoder()
    assert decoder.feed(b"event: end\ndata: a\n") == []
    assert decoder.finish() == [Event(b"a", "end")]


def test_finish_gives_back_a_line_without_its_end() -> None:
    decoder = SSEDecoder()
    assert decoder.feed(b"data: a\n\ndata: b") == [Event(b"a")]
    assert decoder.finish() == [Event(b"b")]


def test_finish_gives_nothing_twice() -> None:
    decoder = SSEDecoder()
    decoder.feed(b"data: a")
    assert decoder.finish() == [Event(b"a")]
    assert decoder.finish() == []


def test_events_come_as_soon_as_they_are_complete() -> None:
    decoder = SSEDecoder()
    assert decoder.feed(b"data: a\n\nda") == [Event(b"a")]
    assert decoder.feed(b"ta: b\n") == []
    assert decoder.feed(b"\n") == [Event(b"b")]


# An endless line.


def test_a_line_over_the_cap_is_refused_in_one_line() -> None:
    with pytest.raises(InputError, match=r"no end after 8,388,608 bytes") as refused:
        SSEDecoder().feed(bytes(LINE_CAP + 1))
    assert "\n" not in str(refused.value)


def test_the_cap_counts_the_line_over_all_reads() -> None:
    decoder = SSEDecoder()
    decoder.feed(b"data: a\n\n" + bytes(LINE_CAP))
    with pytest.raises(InputError):
        decoder.feed(b"x")


def test_events_before_an_endless_line_are_not_lost() -> None:
    for end in (b"", b"\n", b"\n\ndata: c\n\n"):
        decoder = SSEDecoder()
        assert decoder.feed(b"data: a\n\ndata: b\n\n" + bytes(LINE_CAP + 1) + end) == [
            Event(b"a"),
            Event(b"b"),
        ]
        with pytest.raises(InputError, match="a line of the stream"):
            decoder.feed(b"")
        with pytest.raises(InputError, match="a line of the stream"):
            decoder.finish()


def test_events_before_an_endless_event_are_not_lost() -> None:
    decoder = SSEDecoder()
    assert decoder.feed(b"data: a\n\n" + (b"data: " + b"x" * 1_000_000 + b"\n") * 9) == [Event(b"a")]
    for refused in (decoder.finish, lambda: decoder.feed(b"\n")):
        with pytest.raises(InputError, match="an event of the stream"):
            refused()


def test_an_event_of_nothing_but_empty_lines_has_an_end_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loopwatch.wire.sse.LINE_CAP", 1_000)
    decoder = SSEDecoder()
    assert decoder.feed(b"data:\n" * 1_000) == []
    with pytest.raises(InputError, match="an event of the stream"):
        decoder.feed(b"data:\n")


def test_an_event_that_becomes_endless_with_its_last_line_is_refused_at_the_end() -> None:
    decoder = SSEDecoder()
    half = b"data: " + b"x" * (LINE_CAP // 2)
    assert decoder.feed(half + b"\n" + half) == []
    with pytest.raises(InputError, match="an event of the stream"):
        decoder.finish()


def test_a_line_of_just_the_cap_passes() -> None:
    value = b"x" * (LINE_CAP - len(b"data: "))
    assert data(b"data: " + value, b"\n\n") == [value]


def test_the_cap_is_a_line_s_not_a_stream_s() -> None:
    value = b"x" * (LINE_CAP // 2)
    assert data(*[b"data: " + value + b"\n\n"] * 4) == [value] * 4


# However the bytes were cut, and against a decoder that is slow and obvious.


def refuse(constant: str) -> None:
    raise ValueError(constant)


def is_json(line: bytes) -> bool:
    try:
        json.loads(line.decode(), parse_constant=refuse)
    except ValueError:
        return False
    return True


def reference(stream: bytes) -> list[Event]:
    """The events of a whole stream; its last event and line need no end."""
    events: list[Event] = []
    values: list[bytes] = []
    kind = b""
    for line in [*re.split(rb"\r\n|\r|\n", stream.removeprefix(MARK)), b""]:
        name, _, value = line.partition(b":")
        value = value[1:] if value[:1] == b" " else value
        if line == b"":
            separate = len(values) > 1 and all(value == DONE or is_json(value) for value in values)
            texts = values if separate or not values else [b"\n".join(values)]
            events += [Event(text, kind.decode("utf-8", "replace") or "message") for text in texts]
            values, kind = [], b""
        elif name == b"data":
            values.append(value)
        elif name == b"event":
            kind = value
    return events


PIECES = [
    *(b"\n", b"\r", b"\r\n", b"\n\n", b"\r\r", b"\r\n\r\n"),
    *(b"data", b"data:", b"data: ", b"event:", b"event: ping", b"id: 1", b"retry: 9", b": note"),
    *(b'{"a":1}', b'"b"', b"[1,", b"2]", b"7", b"[DONE]", b"text", b" ", b":", b"\x00", b"\xff"),
    *("\u2028".encode(), "\x85".encode(), b"\x0b", "🌀".encode(), MARK, MARK[:1], MARK[1:]),
]
STREAMS = st.lists(st.sampled_from(PIECES) | st.binary(max_size=2), max_size=24).map(b"".join)


@settings(deadline=None, max_examples=300)
@given(stream=STREAMS, draw=st.data())
def test_any_cut_gives_the_same_events(stream: bytes, draw: st.DataObject) -> None:
    places = draw.draw(st.lists(st.integers(0, len(stream)), max_size=12), label="places")
    assert decode(*cut(stream, places)) == decode(stream)
    assert decode(*bytewise(stream)) == decode(stream)


@settings(deadline=None, max_examples=300)
@given(stream=STREAMS)
@example(b"data\ndata:1\ndata:2\r\n\ndata:3\ndata:[4]")
@example(MARK + b"data:1\rdata:2\r\r" + MARK + b"data:3\n\ndata: 4")
def test_events_are_those_of_the_reference(stream: bytes) -> None:
    assert decode(stream) == reference(stream)


# What a real server sent.


@cache
def replies() -> dict[str, dict[str, Any]]:
    """The replies of the captured corpus, by the name of their capture."""
    with gzip.open(CORPUS / "real.jsonl.gz") as lines:
        found = [json.loads(line) for line in lines]
    return {Path(reply["sse"]).name: reply for reply in found}


def text_of(reads: Iterable[bytes]) -> str:
    """What a consumer of the stream would have read."""
    return "".join(piece.text for event in data(*reads) if event != DONE for piece in chunk_pieces(event))


def capture(name: str) -> bytes:
    with gzip.open(CORPUS / "sse" / name) as stream:
        return stream.read()


def test_each_capture_belongs_to_a_reply_and_each_reply_has_one() -> None:
    assert sorted(replies()) == CAPTURES
    assert len(CAPTURES) == 88
    assert SMALL_CAPTURES


@pytest.mark.parametrize("name", CAPTURES)
def test_a_capture_fed_whole_gives_the_text_of_its_reply(name: str) -> None:
    assert text_of([capture(name)]) == replies()[name]["text"]


@pytest.mark.parametrize("name", CAPTURES)
def test_a_capture_cut_at_random_gives_the_text_of_its_reply(name: str) -> None:
    stream = capture(name)
    chance = random.Random(name)
    places = [chance.randrange(len(stream)) for _ in range(len(stream) // 100)]
    assert text_of(cut(stream, places)) == replies()[name]["text"]


@pytest.mark.parametrize("name", SMALL_CAPTURES)
def test_a_capture_fed_byte_by_byte_gives_the_text_of_its_reply(name: str) -> None:
    assert text_of(bytewise(capture(name))) == replies()[name]["text"]


@pytest.mark.parametrize("name", CAPTURES)
def test_a_capture_has_its_finish_reason_in_one_chunk_and_ends_with_done(name: str) -> None:
    *chunks, last = data(capture(name))
    assert last == DONE
    choices = [choice for chunk in map(decode_chunk, chunks) for choice in chunk.choices or ()]
    assert [one.finish_reason for one in choices if one.finish_reason] == [replies()[name]["finish_reason"]]
