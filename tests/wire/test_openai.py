import json
from typing import Any

import msgspec
import pytest

from loopwatch.wire.openai import (
    RESPONSE_DELTAS,
    Choice,
    Chunk,
    Delta,
    chunk_pieces,
    decode_chunk,
    response_pieces,
)
from loopwatch.wire.pieces import Piece


def chunk(**fields: Any) -> Chunk:
    return decode_chunk(json.dumps(fields).encode())


def choice(**fields: Any) -> Choice:
    """The first choice of a chunk with these fields in it."""
    choices = chunk(choices=[{"index": 0, **fields}]).choices
    assert choices is not None
    return choices[0]


def delta(**fields: Any) -> Delta:
    """The delta of a chunk with these fields in it."""
    got = choice(delta=fields).delta
    assert got is not None
    return got


def pieces(*choices: dict[str, Any], **fields: Any) -> list[Piece]:
    """The pieces of a chunk with these choices."""
    return chunk_pieces(json.dumps({"choices": choices, **fields}).encode())


def test_a_chunk_says_what_it_adds_and_where_it_comes_from() -> None:
    got = chunk(id="gen-1", model="m", choices=[{"delta": {"content": "Hi"}, "finish_reason": "stop"}])
    assert (got.id, got.model) == ("gen-1", "m")
    assert got.choices == [Choice(delta=Delta(content="Hi"), finish_reason="stop")]


def test_null_content_is_none() -> None:
    assert delta(role="assistant", content=None).content is None


def test_empty_content_is_not_none() -> None:
    assert delta(content="").content == ""


def test_both_spellings_of_reasoning_are_read() -> None:
    assert delta(reasoning="hm") == Delta(reasoning="hm")
    assert delta(reasoning_content="hm") == Delta(reasoning_content="hm")


def test_empty_choices_are_none() -> None:
    assert chunk(id="gen-1", choices=[], usage={"total_tokens": 7}).choices == []


@pytest.mark.parametrize("fields", [{"error": {"message": "overloaded"}}, {"choices": None}])
def test_a_chunk_without_choices_has_none(fields: dict[str, Any]) -> None:
    assert chunk(**fields) == Chunk()


def test_a_choice_without_delta_adds_nothing() -> None:
    assert choice(finish_reason="length") == Choice(finish_reason="length")


def test_choices_side_by_side_are_all_decoded() -> None:
    got = chunk(choices=[{"delta": {"content": "a"}}, {"index": 1, "delta": {"content": "b"}}])
    assert got.choices == [Choice(delta=Delta(content="a")), Choice(1, delta=Delta(content="b"))]


def test_unknown_fields_are_passed_over_at_every_level() -> None:
    got = chunk(
        x={"y": [1, 2]},
        system_fingerprint=None,
        choices=[{"logprobs": None, "delta": {"content": "a", "audio": {"id": 0}}}],
    )
    assert got == Chunk(choices=[Choice(delta=Delta(content="a"))])


def test_escapes_and_characters_outside_the_first_plane_arrive_whole() -> None:
    escaped = rb'{"choices":[{"delta":{"content":"\ud83c\udf00\u2028\n"}}]}'
    assert decode_chunk(escaped) == Chunk(choices=[Choice(delta=Delta(content="🌀\u2028\n"))])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[DONE]",
        b"upstream connect error",
        b'{"choices":[{"delta":{"content":"cut o',
        b"[]",
        b"7",
        b"null",
        b'{"choices":[{"delta":{"content":7}}]}',
        b'{"choices":[{"delta":{"content":"\xff"}}]}',
        b'{"choices":[{"delta":{"content":"\\ud83c"}}]}',
        b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
    ids=[
        "empty",
        "done",
        "text",
        "cut",
        "list",
        "number",
        "null",
        "wrong type",
        "not UTF-8",
        "half a character",
        "nested too deep",
    ],
)
def test_what_is_no_chunk_raises_a_decode_error(data: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode_chunk(data)


# The pieces of chat completions, as providers send them.


def test_a_reply_begins_with_a_role_and_ends_with_its_reason_and_both_are_no_text() -> None:
    begun = pieces({"index": 0, "delta": {"role": "assistant", "content": "", "refusal": None}})
    said = pieces({"index": 0, "delta": {"content": "Hi"}, "logprobs": None, "finish_reason": None})
    ended = pieces({"index": 0, "delta": {}, "finish_reason": "stop"})
    assert (begun, said, ended) == ([], [Piece("Hi")], [])


def test_the_chunk_with_the_usage_has_no_text() -> None:
    assert pieces(usage={"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}) == []


def test_null_for_the_choices_is_none_of_them() -> None:
    assert chunk_pieces(b'{"choices":null,"usage":{"total_tokens":11}}') == []


def test_null_for_anything_that_may_be_text_is_none() -> None:
    empty = dict.fromkeys(
        ("content", "reasoning", "reasoning_content", "refusal", "tool_calls", "function_call")
    )
    assert pieces({"index": 0, "delta": empty}, {"index": 1, "delta": None}) == []


def test_choices_side_by_side_are_replies_of_their_own() -> None:
    got = pieces({"index": 0, "delta": {"content": "a"}}, {"index": 2, "delta": {"content": "b"}})
    assert got == [Piece("a"), Piece("b", reply=2)]


def test_reasoning_comes_before_content_under_either_name_or_once_under_both() -> None:
    for reasoning in (
        {"reasoning": "hm", "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]},
        {"reasoning_content": "hm"},
        {"reasoning": "hm", "reasoning_content": "hm"},
    ):
        got = pieces({"index": 0, "delta": {"content": "so", **reasoning}})
        assert got == [Piece("hm", "reasoning"), Piece("so")]


def test_a_refusal_is_content() -> None:
    assert pieces({"index": 0, "delta": {"refusal": "I cannot"}}) == [Piece("I cannot")]


def test_tool_calls_come_in_fragments_of_their_arguments() -> None:
    first = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "f", "arguments": ""}}
    assert pieces({"index": 0, "delta": {"content": None, "tool_calls": [first]}}) == []
    more = [{"index": 0, "function": {"arguments": '{"a'}}, {"index": 1}, {"index": 2, "function": None}]
    assert pieces({"index": 1, "delta": {"tool_calls": more}}) == [Piece('{"a', "tools", 1)]


def test_a_function_call_of_old_is_a_tool_call() -> None:
    assert pieces({"index": 0, "delta": {"function_call": {"name": "f", "arguments": "{}"}}}) == [
        Piece("{}", "tools")
    ]


def test_text_completions_have_their_text_in_the_choice() -> None:
    got = pieces(
        {"index": 1, "text": "Hi", "logprobs": None, "finish_reason": None}, object="text_completion"
    )
    assert got == [Piece("Hi", reply=1)]


@pytest.mark.parametrize("data", [b"", b"7", b'{"choices":7}', b'{"choices":[{"delta":{"content":["a"]}}]}'])
def test_the_pieces_of_no_chunk_are_a_decode_error(data: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        chunk_pieces(data)


# The events of the Responses API.


def event(kind: str, **fields: Any) -> list[Piece]:
    return response_pieces(json.dumps({"type": kind, "sequence_number": 7, **fields}).encode())


@pytest.mark.parametrize("kind", RESPONSE_DELTAS)
def test_a_delta_of_a_response_is_a_piece_of_its_channel(kind: str) -> None:
    got = event(kind, item_id="msg_1", output_index=1, content_index=0, delta="a", obfuscation="xyz")
    assert got == [Piece("a", RESPONSE_DELTAS[kind])]


def test_an_empty_delta_is_no_piece() -> None:
    assert event("response.output_text.delta", delta="") == []


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("response.created", {"response": {"id": "resp_1", "output": [], "error": None}}),
        ("response.output_item.added", {"item": {"type": "message", "content": []}}),
        ("response.output_text.done", {"text": "all of it again"}),
        ("response.content_part.done", {"part": {"type": "output_text", "text": "all of it again"}}),
        ("response.audio.delta", {"delta": "UklGRg=="}),
        ("response.something.new", {"delta": {"a": 1}}),
        ("response.completed", {"response": {"output": [{"type": "message"}], "usage": {}}}),
    ],
)
def test_other_events_of_a_response_carry_no_text(kind: str, fields: dict[str, Any]) -> None:
    assert event(kind, **fields) == []


@pytest.mark.parametrize("delta", [7, None, {"a": 1}])
def test_a_delta_that_is_no_text_is_a_decode_error(delta: Any) -> None:
    with pytest.raises(msgspec.DecodeError, match="str"):
        event("response.output_text.delta", delta=delta)


@pytest.mark.parametrize(
    "data", [b"", b"[]", b'{"type":7}', b'{"type":"\xff"}', b'{"delta":' + b"[" * 100_000]
)
def test_what_is_no_event_of_a_response_is_a_decode_error(data: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        response_pieces(data)
