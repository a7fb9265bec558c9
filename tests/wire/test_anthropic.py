import json
from typing import Any

import msgspec
import pytest

from loopwatch.wire.anthropic import event_pieces
from loopwatch.wire.pieces import Piece


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
