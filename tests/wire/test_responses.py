import json
from typing import Any

import msgspec
import pytest

from loopwatch.errors import ProviderFault, UnreadableReply
from loopwatch.wire.assembly import assembly_for, whole_reply
from loopwatch.wire.draft import EMPTY, UNKNOWN
from loopwatch.wire.pieces import Piece
from loopwatch.wire.reply import Reply, ToolCall
from loopwatch.wire.responses import DELTAS, event_pieces
from tests.wire import streams
from tests.wire.replies import assemble, reply_of


def event(kind: str, **fields: Any) -> list[Piece]:
    return event_pieces(json.dumps({"type": kind, "sequence_number": 7, **fields}).encode())


@pytest.mark.parametrize("kind", DELTAS)
def test_a_delta_of_a_response_is_a_piece_of_its_channel(kind: str) -> None:
    got = event(kind, item_id="msg_1", output_index=1, content_index=0, delta="a", obfuscation="xyz")
    assert got == [Piece("a", DELTAS[kind])]


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
        event_pieces(data)


# Whole replies.

MESSAGE = {
    "type": "message",
    "content": [{"type": "output_text", "text": "Hi"}, {"type": "refusal", "refusal": " no"}],
}
CUSTOM = {"type": "custom_tool_call", "id": "ct_1", "call_id": "c", "name": "patch", "input": "*** Begin"}


def stream(*events: dict[str, Any]) -> bytes:
    return b"".join(map(streams.event, events))


def ended(kind: str = "completed", **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", "response": {"id": "resp_1", "model": "m", "status": kind, **fields}}


def delta(kind: str, text: str, number: int = 0) -> dict[str, Any]:
    return {"type": f"response.{kind}.delta", "output_index": number, "delta": text}


def test_the_last_event_ends_it() -> None:
    usage = {"input_tokens": 9}
    assembly, got = assemble(
        "responses", stream(delta("output_text", "a"), ended(usage=usage)) + b"data: {bad\n\n"
    )
    assert (assembly.done, got, assembly.generation_id, assembly.model) == (True, [Piece("a")], "resp_1", "m")
    reply = assembly.finish()
    assert (reply.finish_reason, reply.usage and reply.usage.input_tokens) == ("stop", 9)


def test_what_was_streamed_is_not_read_again_at_the_end() -> None:
    data = stream(
        delta("output_text", "Hi no"),
        {"type": "response.output_item.done", "output_index": 0, "item": MESSAGE},
        ended(output=[MESSAGE]),
    )
    assert reply_of("responses", data).text == "Hi no"


@pytest.mark.parametrize(
    "data",
    [
        stream(
            {"type": "response.output_item.done", "output_index": 0, "item": MESSAGE}, ended(output=[MESSAGE])
        ),
        stream({"type": "response.output_item.done", "item": MESSAGE}),
        stream(ended(output=[MESSAGE])),
    ],
    ids=["in an item", "in the last item", "in the last event"],
)
def test_what_was_not_streamed_is_read_where_it_comes_first(data: bytes) -> None:
    assembly, got = assemble("responses", data)
    assert got == [Piece("Hi no")]
    assert assembly.finish().text == "Hi no"


def test_a_response_may_be_incomplete() -> None:
    details = {"reason": "max_output_tokens"}
    data = stream(delta("output_text", "a"), ended("incomplete", incomplete_details=details))
    assert reply_of("responses", data).finish_reason == "length"
    assert reply_of("responses", stream(ended("incomplete"))).finish_reason == "incomplete"


def test_a_call_is_put_together_from_its_item_and_its_deltas() -> None:
    item = {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": ""}
    data = stream(
        {"type": "response.output_item.added", "output_index": 2, "item": item},
        delta("function_call_arguments", '{"a"', 2),
        delta("function_call_arguments", ":1}", 2),
        {"type": "response.output_item.done", "output_index": 2, "item": {**item, "arguments": '{"a":1}'}},
        ended(),
    )
    assembly, got = assemble("responses", data)
    assert got == [Piece('{"a"', "tools"), Piece(":1}", "tools")]
    reply = assembly.finish()
    assert (reply.tool_calls, reply.finish_reason) == ((ToolCall("f", '{"a":1}', "c"),), "tool_calls")


def test_a_tool_that_takes_any_text_gets_it() -> None:
    call = ToolCall("patch", "*** Begin", "c", free_form=True)
    data = stream(
        {"type": "response.output_item.added", "output_index": 0, "item": {**CUSTOM, "input": ""}},
        delta("custom_tool_call_input", "*** Begin"),
        ended(),
    )
    assert reply_of("responses", data).tool_calls == (call,)
    document = {"object": "response", "status": "completed", "output": [CUSTOM]}
    assert whole_reply("responses", json.dumps(document).encode()).tool_calls == (call,)


def test_tools_that_the_provider_calls_itself_are_no_calls() -> None:
    item = {"type": "mcp_call", "id": "mcp_1", "name": "f", "arguments": "{}"}
    data = stream(
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        delta("mcp_call_arguments", "{}"),
        delta("output_text", "a", 1),
    )
    assembly, got = assemble("responses", data)
    assert got == [Piece("{}", "tools"), Piece("a")]
    assert assembly.finish() == Reply(text="a", terminated=False)


@pytest.mark.parametrize(
    ("fields", "said", "code"),
    [
        ({"type": "error", "code": "rate_limit_exceeded", "message": "slow down"}, "slow down", 429),
        ({"type": "error", "error": {"type": "server_error", "message": "sorry"}}, "sorry", 500),
        ({"error": {"code": 502, "message": "sorry"}}, "sorry", 502),
        (ended("failed", error={"code": "server_error", "message": "sorry"}), "sorry", 500),
        (ended("failed", error=None), "the response failed", None),
    ],
)
def test_an_error_is_the_providers_fault(fields: dict[str, Any], said: str, code: int | None) -> None:
    with pytest.raises(ProviderFault, match=said) as caught:
        reply_of("responses", stream(delta("output_text", "a"), fields))
    assert caught.value.code == code


@pytest.mark.parametrize("error", [{"code": "server_error", "message": "the response failed"}, None])
def test_a_document_of_a_failure_is_one(error: Any) -> None:
    document = json.dumps({"object": "response", "status": "failed", "error": error}).encode()
    with pytest.raises(ProviderFault, match="the response failed"):
        whole_reply("responses", document)


def test_events_that_are_new_are_passed_over_and_those_of_others_too() -> None:
    assembly = assembly_for("responses")
    for fields in ({"foo": 1}, {"type": "keepalive"}):
        assert assembly.push(json.dumps(fields).encode()) == []
    with pytest.raises(UnreadableReply) as caught:
        assembly.finish()
    assert str(caught.value) == UNKNOWN.format("OpenAI's Responses")
    assembly.push(b'{"type":"response.something.new","item":null}')
    with pytest.raises(UnreadableReply, match=EMPTY):
        assembly.finish()


@pytest.mark.parametrize(
    ("document", "why"),
    [(b'{"foo":1}', "unknown shape"), (b'{"object":"response"}', EMPTY), (b'{"output":7}', "cannot be read")],
)
def test_a_document_that_is_no_response_is_refused(document: bytes, why: str) -> None:
    with pytest.raises(UnreadableReply, match=why):
        whole_reply("responses", document)


@pytest.mark.parametrize(
    "data",
    [
        b'{"type":"response.output_item.done","item":7}',
        b'{"type":"response.output_item.done","item":{"type":"function_call","arguments":{}}}',
        b'{"type":"response.completed","response":7}',
        b'{"type":"response.output_text.delta","delta":7}',
    ],
)
def test_an_event_of_the_wrong_shape_cannot_be_read(data: bytes) -> None:
    with pytest.raises(UnreadableReply, match="event 1 of the reply cannot be read: Expected"):
        assembly_for("responses").push(data)
