import json
from typing import Any

import msgspec
import pytest

from loopwatch.wire.ollama import line_pieces
from loopwatch.wire.pieces import Piece


def line(**fields: Any) -> list[Piece]:
    more = {"model": "llama3.2", "created_at": "2026-08-04T08:52:19.385406455-07:00", "done": False}
    return line_pieces(json.dumps(more | fields).encode())


def chat(**fields: Any) -> list[Piece]:
    return line(message={"role": "assistant", **fields})


def test_a_chat_s_content_is_content() -> None:
    assert chat(content="The", images=None) == [Piece("The")]


def test_a_completion_s_response_is_content() -> None:
    assert line(response="The") == [Piece("The")]


def test_thinking_is_reasoning_in_both() -> None:
    assert chat(content="", thinking="hm") == [Piece("hm", "reasoning")]
    assert line(response="", thinking="hm") == [Piece("hm", "reasoning")]


def test_tool_calls_come_whole_and_their_arguments_are_their_text() -> None:
    calls = [
        {"function": {"name": "f", "arguments": {"city": "Köln"}}},
        {"function": {"name": "g", "arguments": None}},
        {"function": {"name": "h"}},
        {},
    ]
    (piece,) = chat(content="", tool_calls=calls)
    assert piece.channel == "tools"
    assert json.loads(piece.text) == {"city": "Köln"}


def test_the_last_line_has_figures_and_no_text() -> None:
    figures = {"total_duration": 4_883_583_458, "eval_count": 282, "done_reason": "stop"}
    assert line(done=True, message={"role": "assistant", "content": ""}, **figures) == []
    assert line(done=True, response="", context=[1, 2, 3], **figures) == []


@pytest.mark.parametrize("message", [None, {"role": "assistant"}, {"content": None, "tool_calls": None}])
def test_null_is_no_text(message: dict[str, Any] | None) -> None:
    assert line(message=message, response=None, thinking=None) == []


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b'{"response":7}',
        b'{"response":"\xff"}',
        b'{"message":{"tool_calls":[{"function":{"arguments":{"a":"\xff"}}}]}}',
        b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
    ids=["empty", "list", "wrong type", "not UTF-8", "arguments not UTF-8", "nested too deep"],
)
def test_what_is_no_line_is_a_decode_error(data: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        line_pieces(data)
