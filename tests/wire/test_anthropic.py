import json
from typing import Any

import msgspec
import pytest

from loopwatch.errors import ProviderFault, UnreadableReply
from loopwatch.wire.anthropic import event_pieces
from loopwatch.wire.assembly import assembly_for, whole_reply
from loopwatch.wire.draft import EMPTY, UNKNOWN
from loopwatch.wire.pieces import Piece
from loopwatch.wire.reply import Reply, ToolCall
from tests.wire import streams
from tests.wire.replies import assemble, reply_of


def event(kind: str, **fields: Any) -> list[Piece]:
    return event_pieces(json.dumps({"type": kind, **fields}).encode())


def delta(**fields: Any) -> list[Piece]:
    return event("content_block_delta", index=0, delta=fields)


def test_text_is_content() -> None:
    assert delta(type="text_delta", text="Hello") == [Piece("Hello")]


def test_thinking_is_reasoning() -> None:
    assert delta(type="thinking_delta", thinking="hm") == [Piece("hm", "reasoning")]


def test_partial_json_is_the_arguments_of_a_tool() -> None:
    assert delta(type="input_json_delta", partial_json='{"loc') == [Piece('{"loc', "tools")]


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "signature_delta", "signature": "EqQBCgIYAhIM"},
        {"type": "citations_delta", "citation": {"type": "char_location", "cited_text": "quoted"}},
        {"type": "input_json_delta", "partial_json": ""},
        {"type": "text_delta", "text": ""},
        {"type": "something_new", "words": "x"},
    ],
    ids=lambda fields: str(fields["type"]),
)
def test_other_deltas_carry_no_text(fields: dict[str, Any]) -> None:
    assert delta(**fields) == []


def test_a_block_begins_empty() -> None:
    for block in (
        {"type": "text", "text": ""},
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "redacted_thinking", "data": "EmwKAhgB"},
        {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {}},
        {
            "type": "web_search_tool_result",
            "tool_use_id": "srvtoolu_1",
            "content": [{"type": "web_search_result"}],
        },
    ):
        assert event("content_block_start", index=0, content_block=block) == []


def test_what_a_block_begins_with_is_not_lost() -> None:
    assert event("content_block_start", content_block={"type": "text", "text": "Hi"}) == [Piece("Hi")]
    begun = {"type": "thinking", "thinking": "hm"}
    assert event("content_block_start", content_block=begun) == [Piece("hm", "reasoning")]


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (
            "message_start",
            {"message": {"id": "msg_1", "role": "assistant", "content": [], "usage": {"input_tokens": 25}}},
        ),
        ("ping", {}),
        ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 15}}),
        ("message_stop", {}),
        ("something_new", {"delta": {"text": "x"}}),
        ("content_block_delta", {"index": 0}),
        ("content_block_start", {"index": 0}),
    ],
)
def test_other_events_carry_no_text(kind: str, fields: dict[str, Any]) -> None:
    assert event(kind, **fields) == []


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"overloaded",
        b"[]",
        b'{"type":"content_block_delta","delta":{"text":7}}',
        b'{"type":"content_block_delta","delta":{"text":"\xff"}}',
        b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
    ids=["empty", "text", "list", "wrong type", "not UTF-8", "nested too deep"],
)
def test_what_is_no_event_is_a_decode_error(data: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        event_pieces(data)


# Whole replies.


def begun(**usage: Any) -> bytes:
    return streams.anthropic(
        "message_start", message={"id": "msg_1", "model": "m", "content": [], "usage": usage}
    )


def ended(reason: str | None, **usage: Any) -> bytes:
    return streams.anthropic("message_delta", delta={"stop_reason": reason}, usage=usage)


def test_the_usage_comes_in_parts_and_the_last_word_on_each_holds() -> None:
    first = {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 1, "cost": None}
    assembly, _ = assemble("anthropic", begun(**first))
    assert assembly.usage is not None
    assert (assembly.usage.input_tokens, assembly.usage.output_tokens) == (100, 1)
    last = ended("end_turn", output_tokens=15, cache_read_input_tokens=None, cache_creation_input_tokens=40)
    reply = reply_of("anthropic", begun(**first) + ended(None, output_tokens=7) + last)
    assert reply.usage is not None
    assert reply.usage.wire == {
        "input_tokens": 10,
        "cache_read_input_tokens": 90,
        "output_tokens": 15,
        "cache_creation_input_tokens": 40,
    }
    assert (reply.usage.input_tokens, reply.usage.uncached_input_tokens) == (140, 10)


def test_a_stream_says_who_speaks_and_why_it_ends() -> None:
    data = begun() + streams.block(0, text="a") + ended("max_tokens") + streams.anthropic("message_stop")
    assembly, _ = assemble("anthropic", data + streams.block(0, text="b"))
    assert (assembly.generation_id, assembly.model, assembly.provider) == ("msg_1", "m", None)
    assert assembly.done
    assert (assembly.finish().text, assembly.finish().finish_reason) == ("a", "length")


def test_tools_that_the_provider_calls_itself_are_no_calls() -> None:
    used = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    data = (
        streams.anthropic("content_block_start", index=0, content_block=used)
        + streams.block(0, type="input_json_delta", partial_json='{"query"')
        + streams.block(1, text="a")
    )
    assembly, pieces = assemble("anthropic", data)
    assert pieces == [Piece('{"query"', "tools"), Piece("a")]
    assert assembly.finish() == Reply(text="a", terminated=False)


def test_a_gateway_may_send_all_of_a_call_at_its_beginning() -> None:
    used = {"type": "tool_use", "id": "c", "name": "f", "input": {"a": 1}}
    assembly, pieces = assemble("anthropic", streams.anthropic("content_block_start", content_block=used))
    assert pieces == [Piece('{"a": 1}', "tools")]
    assert assembly.finish().tool_calls == (ToolCall("f", '{"a": 1}', "c"),)


@pytest.mark.parametrize("hollow", ["{}", "{ }", '""', "null"])
def test_a_call_may_begin_with_no_arguments_of_any_kind(hollow: str) -> None:
    data = (
        b'data: {"type":"content_block_start","content_block":{"type":"tool_use","name":"f","input":%s}}\n\n'
        % hollow.encode()
    )
    assert reply_of("anthropic", data).tool_calls == (ToolCall("f"),)
    data += streams.block(0, partial_json='{"a":1}')
    assert reply_of("anthropic", data).tool_calls == (ToolCall("f", '{"a":1}'),)


def test_pings_and_what_is_new_are_no_progress() -> None:
    assembly, _ = assemble(
        "anthropic", begun() + streams.anthropic("ping") + streams.anthropic("something_new")
    )
    assert assembly.progress == 0


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, 529),
        ({"type": "error", "error": {"type": "api_error", "message": "Overloaded"}}, 500),
        ({"error": {"message": "Overloaded"}}, None),
        ({"type": "error", "message": "Overloaded"}, None),
    ],
)
def test_an_error_is_the_providers_fault(fields: dict[str, Any], code: int | None) -> None:
    for read in (assembly_for("anthropic").push, lambda data: whole_reply("anthropic", data)):
        with pytest.raises(ProviderFault, match="Overloaded") as caught:
            read(json.dumps(fields).encode())
        assert caught.value.code == code


@pytest.mark.parametrize("fields", [{"type": "message_start", "message": None}, {"type": "message_start"}])
def test_a_beginning_that_says_nothing_is_one(fields: dict[str, Any]) -> None:
    assembly = assembly_for("anthropic")
    assembly.push(json.dumps(fields).encode())
    with pytest.raises(UnreadableReply, match=EMPTY):
        assembly.finish()


def test_a_beginning_of_the_wrong_shape_cannot_be_read() -> None:
    with pytest.raises(UnreadableReply, match="cannot be read: Expected `object`, got `int`"):
        assembly_for("anthropic").push(b'{"type":"message_start","message":7}')


@pytest.mark.parametrize("data", [b'{"foo":1}', b'{"type":"something_new"}'])
def test_what_is_no_message_is_of_an_unknown_shape(data: bytes) -> None:
    assembly = assembly_for("anthropic")
    assembly.push(data)
    with pytest.raises(UnreadableReply) as caught:
        assembly.finish()
    assert str(caught.value) == UNKNOWN.format("Anthropic's Messages")
    with pytest.raises(UnreadableReply, match="unknown shape"):
        whole_reply("anthropic", data)
