import json
from typing import Any

import msgspec
import pytest

from loopwatch.errors import ProviderFault, UnreadableReply
from loopwatch.wire.assembly import assembly_for, whole_reply
from loopwatch.wire.draft import EMPTY, UNKNOWN
from loopwatch.wire.openai import Choice, Chunk, Delta, chunk_pieces, decode_chunk
from loopwatch.wire.pieces import Piece
from loopwatch.wire.reply import Reply, ToolCall
from tests.wire import streams
from tests.wire.replies import assemble, reply_of


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
    assert chunk(**fields).choices is None


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


def test_a_tool_that_takes_any_text_has_it_as_its_input() -> None:
    call = {"index": 0, "id": "c", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}
    assert pieces({"index": 0, "delta": {"tool_calls": [call]}}) == [Piece("*** Begin", "tools")]


# Whole replies.


def whole(*choices: dict[str, Any], **fields: Any) -> Reply:
    """The reply in a document with these choices."""
    return whole_reply("openai", json.dumps({"choices": choices, **fields}).encode())


def test_of_replies_side_by_side_the_first_one_is_read() -> None:
    data = (
        streams.event({"choices": [{"index": 1, "delta": {"content": "b", "tool_calls": [{"id": "x"}]}}]})
        + streams.event(
            {"choices": [{"index": 1, "finish_reason": "length"}, {"index": 0, "delta": {"content": "a"}}]}
        )
        + streams.event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    )
    assembly, got = assemble("openai", data)
    assert got == [Piece("a")]
    assert assembly.finish() == Reply(text="a", finish_reason="stop", generation_id=None)
    both = whole({"index": 1, "message": {"content": "b"}}, {"index": 0, "message": {"content": "a"}})
    assert both.text == "a"


@pytest.mark.parametrize("data", [b'{"foo":1}', b"{}", b'{"object":"list","data":[]}', b'{"choices":null}'])
def test_a_stream_without_a_single_chunk_is_of_an_unknown_shape(data: bytes) -> None:
    assembly = assembly_for("openai")
    assert assembly.push(data) == []
    with pytest.raises(UnreadableReply) as caught:
        assembly.finish()
    assert str(caught.value) == UNKNOWN.format("OpenAI's completions")
    with pytest.raises(UnreadableReply, match="unknown shape"):
        whole_reply("openai", data)


@pytest.mark.parametrize(
    "data",
    [b'{"id":"gen-1"}', b'{"object":"chat.completion.chunk"}', b'{"usage":{}}', b'{"id":"x","choices":null}'],
)
def test_a_chunk_without_choices_is_passed_over(data: bytes) -> None:
    assembly = assembly_for("openai")
    assert assembly.push(data) == assembly.push(b'{"foo":1}') == []
    with pytest.raises(UnreadableReply, match=EMPTY):
        assembly.finish()
    assert assembly.push(b'{"choices":[{"delta":{"content":"a"}}]}') == [Piece("a")]
    assert assembly.finish().text == "a"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        (
            {
                "error": {"code": 502, "message": "sorry"},
                "choices": [{"delta": {}, "finish_reason": "error"}],
            },
            502,
        ),
        (
            {
                "choices": [
                    {
                        "delta": {"content": ""},
                        "finish_reason": "error",
                        "error": {"code": 502, "message": "sorry"},
                    }
                ]
            },
            502,
        ),
        ({"object": "error", "message": "sorry", "code": 400}, 400),
        ({"error": "sorry"}, None),
    ],
)
def test_an_error_in_a_chunk_or_in_its_choice_is_raised(fields: dict[str, Any], code: int | None) -> None:
    data = json.dumps({"id": "gen-1", **fields}).encode()
    for read in (assembly_for("openai").push, lambda data: whole_reply("openai", data)):
        with pytest.raises(ProviderFault, match="sorry") as caught:
            read(data)
        assert caught.value.code == code


def test_a_function_call_of_old_is_put_together() -> None:
    data = streams.chunk({"function_call": {"name": "f", "arguments": '{"a"'}}) + streams.chunk(
        {"function_call": {"arguments": ":1}"}}
    )
    assert reply_of("openai", data).tool_calls == (ToolCall("f", '{"a":1}'),)
    told = whole(
        {"message": {"function_call": {"name": "f", "arguments": "{}"}}, "finish_reason": "function_call"}
    )
    assert (told.tool_calls, told.finish_reason) == ((ToolCall("f", "{}"),), "tool_calls")


def test_input_that_is_any_text_need_be_no_json() -> None:
    first = {"index": 0, "id": "c", "type": "custom", "custom": {"name": "patch", "input": "*** "}}
    data = streams.chunk({"tool_calls": [first]}) + streams.chunk(
        {"tool_calls": [{"index": 0, "custom": {"input": "Begin"}}]}
    )
    assert reply_of("openai", data).tool_calls == (ToolCall("patch", "*** Begin", "c", free_form=True),)


def test_tool_calls_of_a_document_keep_their_order_and_need_no_index() -> None:
    calls = [{"id": name, "function": {"name": name, "arguments": "{}"}} for name in "ab"]
    assert [call.id for call in whole({"message": {"tool_calls": calls}}).tool_calls] == ["a", "b"]
    same = [{"index": 0, **call} for call in calls]
    assert [call.id for call in whole({"message": {"tool_calls": same}}).tool_calls] == ["a", "b"]


def test_a_document_says_all_at_once() -> None:
    message = {"role": "assistant", "content": None, "refusal": "no", "reasoning_content": "hm"}
    got = whole({"message": message, "finish_reason": "stop"}, id="gen-1", provider="P", model="m")
    assert got == Reply(
        text="no", reasoning="hm", finish_reason="stop", generation_id="gen-1", provider="P", model="m"
    )
    assert got.terminated


def test_a_document_without_an_answer_is_none() -> None:
    with pytest.raises(UnreadableReply, match=EMPTY):
        whole({"message": {"content": ""}})
    assert whole({"message": {"content": ""}, "finish_reason": "length"}).finish_reason == "length"


@pytest.mark.parametrize("data", [b"", b"<html>", b"\xff"])
def test_what_is_no_document_cannot_be_read(data: bytes) -> None:
    with pytest.raises(UnreadableReply, match=r"^the reply cannot be read: "):
        whole_reply("openai", data)
