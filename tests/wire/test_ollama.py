import json
from typing import Any

import msgspec
import pytest

from loopwatch.errors import ProviderFault, UnreadableReply
from loopwatch.wire.assembly import assembly_for, whole_reply
from loopwatch.wire.draft import UNKNOWN
from loopwatch.wire.ollama import line_pieces
from loopwatch.wire.pieces import Piece
from loopwatch.wire.reply import ToolCall
from tests.wire import streams
from tests.wire.replies import assemble


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


# Whole replies.


def test_the_last_line_has_the_reason_and_the_figures() -> None:
    data = streams.lines(
        {"model": "m", "response": "a", "done": False},
        {
            "model": "m",
            "response": "",
            "done": True,
            "done_reason": "length",
            "prompt_eval_count": 26,
            "eval_count": 2,
        },
        {"model": "m", "response": "b", "done": False},
    )
    assembly, pieces = assemble("ollama", data)
    assert (assembly.done, assembly.model, pieces) == (True, "m", [Piece("a")])
    reply = assembly.finish()
    assert (reply.text, reply.finish_reason, reply.generation_id) == ("a", "length", None)
    assert reply.usage is not None
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (26, 2)


def test_a_call_comes_whole() -> None:
    call = {"id": "c", "function": {"name": "f", "arguments": {"a": 1}}}
    document = {
        "model": "m",
        "message": {"content": "", "tool_calls": [call]},
        "done": True,
        "done_reason": "stop",
    }
    reply = whole_reply("ollama", json.dumps(document).encode())
    assert (reply.tool_calls, reply.finish_reason) == ((ToolCall("f", '{"a": 1}', "c"),), "tool_calls")


def test_an_error_is_the_providers_fault() -> None:
    with pytest.raises(ProviderFault, match="the model failed to generate") as caught:
        assembly_for("ollama").push(b'{"error":"the model failed to generate"}')
    assert caught.value.code is None


def test_what_is_no_line_is_of_an_unknown_shape() -> None:
    with pytest.raises(UnreadableReply) as caught:
        whole_reply("ollama", b'{"foo":1}')
    assert str(caught.value) == UNKNOWN.format("Ollama's")
