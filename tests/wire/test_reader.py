import gzip
import json
import random
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from loopwatch.errors import InputError
from loopwatch.wire.faults import SHOWN
from loopwatch.wire.lines import BLANK, LINE_CAP
from loopwatch.wire.pieces import Piece
from loopwatch.wire.reader import CROWDED, EMPTY, SIDE_BY_SIDE, UNKNOWN, Fault, StreamReader
from tests.wire.streams import STREAMS, anthropic, block, chunk, event, lines

CORPUS = Path(__file__).parents[2] / "corpus"
MARK = b"\xef\xbb\xbf"
Read = list[Piece | Fault]


def read(*reads: bytes) -> Read:
    reader = StreamReader()
    return [one for data in reads for one in reader.feed(data)] + reader.finish()


def outcome(*reads: bytes) -> tuple[Read, str]:
    """What came out of a stream, and with which words it was given up."""
    reader = StreamReader()
    out: Read = []
    try:
        for data in reads:
            out += reader.feed(data)
        out += reader.finish()
    except InputError as error:
        return out, str(error)
    return out, ""


def refusal(*reads: bytes) -> str:
    out, message = outcome(*reads)
    assert out == []
    assert "\n" not in message
    return message


def cut(stream: bytes, places: Iterable[int]) -> list[bytes]:
    return [stream[start:stop] for start, stop in pairwise([0, *sorted(places), len(stream)])]


def bytewise(stream: bytes) -> list[bytes]:
    return cut(stream, range(1, len(stream)))


# Whoever sends it, and however it is cut.


@pytest.mark.parametrize("name", STREAMS)
def test_each_provider_s_stream_is_read(name: str) -> None:
    assert read(STREAMS[name].data) == STREAMS[name].pieces


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_read_byte_by_byte_says_the_same(name: str) -> None:
    assert read(*bytewise(STREAMS[name].data)) == STREAMS[name].pieces


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_cut_once_anywhere_says_the_same(name: str) -> None:
    stream, pieces = STREAMS[name]
    for place in range(len(stream)):
        assert read(stream[:place], stream[place:]) == pieces


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("before", [MARK, b"\r\n\n  \n", MARK + b"\n"], ids=["mark", "blank", "both"])
def test_a_byte_order_mark_and_blank_lines_before_it_are_no_matter(name: str, before: bytes) -> None:
    stream, pieces = STREAMS[name]
    assert read(before + stream) == read(*bytewise(before + stream)) == pieces


@pytest.mark.parametrize("name", STREAMS)
def test_line_ends_of_windows_and_a_last_line_without_one_are_read(name: str) -> None:
    stream, pieces = STREAMS[name]
    stream = stream.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n").rstrip()
    assert read(stream) == read(*bytewise(stream)) == pieces


PARTS = [
    chunk({"content": "a"}),
    chunk({"content": "b"}, {"reasoning": "c"}),
    event({"error": {"message": "overloaded"}}),
    event([{"error": "in a list"}]),
    block(0, type="text_delta", text="d"),
    anthropic("error", error={"type": "overloaded_error", "message": "Overloaded"}),
    lines({"response": "e", "done": False}),
    lines({"choices": [{"message": {"content": "whole"}}]}),
    json.dumps([{"candidates": [{"content": {"parts": [{"text": "f"}]}}]}], indent=1).encode(),
    *(b"data: {oops\n\n", b"data: 7\n\n", b"data: [DONE]\n\n", b"data: : again\n\n", b": note\n\n"),
    *(
        b"\n",
        b"\r",
        b"\r\n",
        b"{",
        b"}",
        b"[",
        b"]",
        b"data: ",
        b" ",
        b"x",
        b"\xff",
        MARK,
        MARK[:1],
        MARK[1:],
    ),
]


@settings(deadline=None, max_examples=400)
@given(parts=st.lists(st.sampled_from(PARTS), max_size=8), draw=st.data())
@example(parts=[MARK[:1]], draw=None)
def test_any_bytes_cut_anyhow_come_to_the_same(parts: list[bytes], draw: st.DataObject | None) -> None:
    stream = b"".join(parts)
    whole = outcome(stream)
    assert outcome(*bytewise(stream)) == whole
    if draw is not None:
        places = draw.draw(st.lists(st.integers(0, len(stream)), max_size=9), label="places")
        assert outcome(*cut(stream, places)) == whole


@settings(deadline=None, max_examples=300)
@given(stream=st.binary(max_size=60))
def test_no_bytes_make_it_stumble(stream: bytes) -> None:
    assert outcome(stream) == outcome(*bytewise(stream))


def test_captures_of_a_real_server_are_read_however_they_are_cut() -> None:
    with gzip.open(CORPUS / "real.jsonl.gz") as file:
        replies = [json.loads(line) for line in file]
    for reply in replies[:20]:
        stream = gzip.decompress((CORPUS / reply["sse"]).read_bytes())
        chance = random.Random(reply["id"])
        for reads in ([stream], cut(stream, chance.sample(range(len(stream)), 50))):
            pieces = read(*reads)
            assert "".join(piece.text for piece in pieces if isinstance(piece, Piece)) == reply["text"]


def test_pieces_come_as_soon_as_their_event_is_complete() -> None:
    reader = StreamReader()
    stream = chunk({"content": "a"})
    assert reader.feed(stream[:-1]) == []
    assert reader.feed(b"\n" + chunk({"content": "b"})) == [Piece("a"), Piece("b")]


def test_lines_come_as_soon_as_they_are_complete() -> None:
    reader = StreamReader()
    assert reader.feed(lines({"response": "a", "done": False}) + b'{"resp') == [Piece("a")]
    assert reader.feed(b'onse": "b", "done": false}\n') == [Piece("b")]


# Which format it is: the first object that tells.


@pytest.mark.parametrize(
    "before",
    [
        event({"type": "keepalive"}),
        event({"note": "hello"}),
        event({"type": 7}),
        event([]),
        event("text"),
        b"event: ping\ndata: 7\n\n",
        b"data: \n\n",
    ],
)
@pytest.mark.parametrize("name", ["OpenRouter", "Responses", "Anthropic", "Gemini"])
def test_what_does_not_tell_is_passed_over(name: str, before: bytes) -> None:
    assert read(before + STREAMS[name].data) == STREAMS[name].pieces


def test_a_prompt_that_gemini_refused_is_a_stream_without_text() -> None:
    assert read(event({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {}})) == []


def test_a_stream_may_say_nothing() -> None:
    assert read(chunk({"content": ""}) + b"data: [DONE]\n\n") == []


# A reply that came whole.


def completion(text: str) -> dict[str, Any]:
    return {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}}],
    }


WHOLE: dict[str, tuple[Any, list[Piece]]] = {
    "chat completion": (completion("a"), [Piece("a")]),
    "several choices": (
        {"choices": [{"message": {"content": "a", "reasoning": "hm"}}, {"message": {"content": "b"}}]},
        [Piece("hm", "reasoning"), Piece("a"), Piece("b", reply=1)],
    ),
    "text completion": ({"object": "text_completion", "choices": [{"text": "a", "index": 0}]}, [Piece("a")]),
    "response": (
        {"object": "response", "error": None, "output": [{"type": "message", "content": [{"text": "a"}]}]},
        [Piece("a")],
    ),
    "Anthropic's": (
        {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "a"}]},
        [Piece("a")],
    ),
    "Gemini's": ({"candidates": [{"content": {"parts": [{"text": "a"}]}}]}, [Piece("a")]),
    "Ollama's chat": ({"message": {"role": "assistant", "content": "a"}, "done": True}, [Piece("a")]),
    "Ollama's generate": ({"response": "a", "done": True}, [Piece("a")]),
    "nothing said": ({"choices": [{"message": {"content": ""}}]}, []),
}


@pytest.mark.parametrize("indent", [None, 2], ids=["one line", "several"])
@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n\r\n"], ids=["cut", "LF", "CRLF"])
@pytest.mark.parametrize("name", WHOLE)
def test_a_reply_that_was_not_streamed_is_read(name: str, end: bytes, indent: int | None) -> None:
    document, pieces = WHOLE[name]
    stream = json.dumps(document, indent=indent).encode() + end
    assert read(stream) == read(*bytewise(stream)) == pieces


def test_several_replies_that_were_not_streamed_are_told_apart() -> None:
    assert read(lines(completion("a"), completion("b"))) == [Piece("a"), Piece("b", reply=1)]


# What goes wrong.


def test_an_event_that_cannot_be_read_is_named_and_the_rest_goes_on() -> None:
    stream = chunk({"content": "a"}) + b"data: {oops\n\n" + event({"choices": 7}) + chunk({"content": "b"})
    first, oops, wrong, second = read(stream)
    assert (first, second) == (Piece("a"), Piece("b"))
    assert isinstance(oops, Fault)
    assert oops.reason.startswith("event 2 cannot be read: JSON is malformed")
    assert wrong == Fault("event 3 cannot be read: Expected `array | null`, got `int` - at `$.choices`")


@pytest.mark.parametrize(
    "data",
    [b'{"choices":[{"delta":{"content":"\xff"}}]}', b'{"x":' + b"[" * 9_000 + b"]" * 9_000 + b"}"],
    ids=["not UTF-8", "nested too deep"],
)
def test_whatever_json_chokes_on_is_named_too(data: bytes) -> None:
    (fault,) = read(b"data: " + data + b"\n\n")
    assert isinstance(fault, Fault)
    assert fault.reason.startswith("event 1 cannot be read: it is n")
    assert not fault.final


ERRORS: list[tuple[Any, str]] = [
    ({"error": {"message": "Bad\n key", "type": "invalid_request_error", "code": 401}}, "Bad key"),
    (
        {"error": {"code": 502, "message": "gone"}, "choices": [{"delta": {}, "finish_reason": "error"}]},
        "gone",
    ),
    ({"error": "model 'x' not found"}, "model 'x' not found"),
    ({"error": {"type": "server_error", "message": None}}, "server_error"),
    ({"error": {"code": 529}}, "529"),
    ({"error": {"odd": 1}}, "{'odd': 1}"),
    ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "Overloaded"),
    ({"type": "error", "code": "server_error", "message": "It broke", "sequence_number": 3}, "It broke"),
    ({"object": "error", "message": "too long", "code": 400}, "too long"),
    ({"type": "response.failed", "response": {"error": {"message": "no"}}}, "no"),
    ({"type": "response.failed", "response": {"error": None}, "why": "error"}, "the response failed"),
    ({"type": "response.failed", "response": 7, "error": None}, "the response failed"),
    (
        [{"error": {"code": 400, "message": "API key not valid", "status": "INVALID_ARGUMENT"}}],
        "API key not valid",
    ),
]


@pytest.mark.parametrize(("error", "message"), ERRORS)
def test_a_provider_s_error_is_passed_on_whatever_its_shape(error: Any, message: str) -> None:
    fault = Fault(f"the provider reports an error: {message}", final=True)
    alone = event(error)
    midway = chunk({"content": "a"}) + event(error) + chunk({"content": "b"})
    if not isinstance(error, list):
        assert read(midway) == read(*bytewise(midway)) == [Piece("a"), fault, Piece("b")]
    assert read(alone) == [fault]
    for body in (json.dumps(error).encode(), lines(error), json.dumps(error, indent=2).encode() + b"\n"):
        assert read(body) == read(*bytewise(body)) == [fault]


def test_a_long_error_is_passed_on_in_part() -> None:
    (fault,) = read(event({"error": "x" * 9_000}))
    assert fault == Fault("the provider reports an error: " + "x" * SHOWN, final=True)


@pytest.mark.parametrize("error", [None, "", {}, False, 0])
def test_an_error_that_is_none_is_none(error: Any) -> None:
    assert read(chunk({"content": "a"}, error=error)) == [Piece("a")]


def test_the_word_error_in_a_reply_is_no_error() -> None:
    said = '{"error": "said the model"}'
    assert read(chunk({"content": said}) + chunk({"content": '"error"'})) == [Piece(said), Piece('"error"')]


def test_of_a_crowd_of_replies_only_the_first_are_read_and_that_is_said_once() -> None:
    stream = b"".join(event({"choices": [{"index": n % 200, "delta": {"content": "a"}}]}) for n in range(400))
    out = read(stream)
    assert [one.reply for one in out if isinstance(one, Piece)] == [*range(SIDE_BY_SIDE)] * 2
    assert [one for one in out if isinstance(one, Fault)] == [Fault(CROWDED)]
    assert read(*cut(stream, range(0, len(stream), 999))) == out


def test_a_piece_shows_its_size_and_not_its_text() -> None:
    assert repr(Piece("secret", "reasoning", 1)) == "Piece(6 characters of reasoning, reply 1)"


# What is given up.


@pytest.mark.parametrize("reads", [[], [b""], [b"\n \r\n"], [MARK], [MARK, b"\n"], [b"", b" "]])
def test_an_empty_stream_is_said_to_be_empty(reads: list[bytes]) -> None:
    assert refusal(*reads) == EMPTY


@pytest.mark.parametrize(
    "stream",
    [
        b"<html><body>502 Bad Gateway</body></html>\n",
        b"upstream connect error",
        b"[link](https://example.org) and text\nand more\n",
        b"{ text",
        b'{"a": 1}',
        b'{"a": 1}\n{"b": 2}\n',
        b"[7]",
        b'{\n"a": 1\n}\n',
        b"data: [DONE]\n\n",
        b": OPENROUTER PROCESSING\n\n",
        event({"type": "keepalive"}),
        MARK[:2],
        b"\xff\xfe\x00{",
        b"\x00" * 1_000,
    ],
)
def test_what_is_no_stream_at_all_is_refused(stream: bytes) -> None:
    assert refusal(stream) == refusal(*bytewise(stream)) == UNKNOWN


@pytest.mark.parametrize("blanks", [BLANK - 1, BLANK, 3 * BLANK])
@pytest.mark.parametrize("reads", [1, 2, 1_000])
def test_blanks_at_the_beginning_are_not_kept_for_ever(blanks: int, reads: int) -> None:
    stream = b"\n" * blanks + chunk({"content": "a"})
    assert read(*cut(stream, range(0, len(stream), len(stream) // reads))) == [Piece("a")]


@pytest.mark.parametrize("blanks", [BLANK - 1, BLANK])
def test_after_so_many_blanks_it_is_taken_for_events(blanks: int) -> None:
    stream = b" " * blanks + lines({"response": "a", "done": False})
    halves = cut(stream, [BLANK // 2])
    assert outcome(stream) == outcome(*halves) == (([Piece("a")], "") if blanks < BLANK else ([], UNKNOWN))


@pytest.mark.parametrize("start", [b"data: ", b"{", b'{"a": "'])
def test_a_line_without_end_is_refused_and_what_came_before_is_not_lost(start: bytes) -> None:
    before = chunk({"content": "a"}) if start == b"data: " else lines({"response": "a", "done": False})
    stream = before + start + b"x" * (LINE_CAP + 1)
    for reads in ([stream], [stream + b"\n"], cut(stream, range(0, len(stream), 1 << 16))):
        out, message = outcome(*reads)
        assert out == [Piece("a")]
        assert message.startswith("a line of the stream has no end after 8,388,608 bytes")


def test_a_document_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loopwatch.wire.reader.LINE_CAP", 1_000)
    document = json.dumps(completion("a"), indent=1).encode()
    assert read(document) == [Piece("a")]
    for stream in (b"{\n" + b" \n" * 1_000, document + b"\n" * 1_000):
        assert refusal(stream) == refusal(*bytewise(stream))
        assert refusal(stream).startswith("the document has no end after 8,388,608 bytes: is this a stream?")


def test_a_document_of_many_lines_is_read() -> None:
    stream = json.dumps(
        {"choices": [{"message": {"content": "a"}}], "more": [*range(100_000)]}, indent=1
    ).encode()
    assert read(*cut(stream, range(0, len(stream), 5_000))) == [Piece("a")]
