"""Streams as the providers send them, and what they say."""

import json
from typing import Any, NamedTuple

from loopwatch.wire.pieces import Piece


class Stream(NamedTuple):
    """The bytes of a reply, and the pieces that it comes down to."""

    data: bytes
    pieces: list[Piece]


def event(value: Any, kind: str = "") -> bytes:
    """One server-sent event."""
    named = f"event: {kind}\n".encode() if kind else b""
    return named + b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"


def chunk(*deltas: dict[str, Any], **fields: Any) -> bytes:
    """A chunk of a chat completion, a delta a choice."""
    choices = [
        {"index": number, "delta": delta, "finish_reason": None} for number, delta in enumerate(deltas)
    ]
    return event({"id": "gen-1", "object": "chat.completion.chunk", "choices": choices, **fields})


def anthropic(kind: str, **fields: Any) -> bytes:
    return event({"type": kind, **fields}, kind)


def block(number: int, **delta: Any) -> bytes:
    return anthropic("content_block_delta", index=number, delta=delta)


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value, ensure_ascii=False).encode() + b"\n" for value in values)


def gemini(*parts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    candidate = {"content": {"parts": parts, "role": "model"}, "index": 0, **fields}
    return {
        "candidates": [candidate],
        "usageMetadata": {"promptTokenCount": 4},
        "modelVersion": "gemini-2.5-pro",
    }


OPENROUTER = Stream(
    b": OPENROUTER PROCESSING\n\n"
    + chunk({"role": "assistant", "content": "", "reasoning": "hm"})
    + b": OPENROUTER PROCESSING\n\n"
    + b"data: : OPENROUTER PROCESSING\n\n"
    + chunk({"content": "H\u00e9llo\u2028", "reasoning": None})
    + chunk(
        {"content": None, "tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": ""}}]}
    )
    + chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"a": "\\u00e9'}}]})
    + chunk({"tool_calls": [{"index": 0, "function": {"arguments": '"}'}}]})
    + event({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    + event({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4, "cost": 0.00014}})
    + b"data: [DONE]\n\n",
    [
        Piece("hm", "reasoning"),
        Piece("H\u00e9llo\u2028"),
        Piece('{"a": "\\u00e9', "tools"),
        Piece('"}', "tools"),
    ],
)
SIDE_BY_SIDE = Stream(
    event({"choices": [], "prompt_filter_results": []})  # Azure begins so
    + chunk({"content": "a"}, {"content": "b"})
    + chunk({"content": "c"}, {"refusal": "no"})
    + b"data: [DONE]\n\ndata: [DONE]\n\n",
    [Piece("a"), Piece("b", reply=1), Piece("c"), Piece("no", reply=1)],
)
COMPLETION = Stream(
    event({"object": "text_completion", "choices": [{"text": "One", "index": 0, "logprobs": None}]})
    + event({"object": "text_completion", "choices": [{"text": " two", "index": 0, "finish_reason": "stop"}]})
    + b"data: [DONE]\n\n",
    [Piece("One"), Piece(" two")],
)
RESPONSES = Stream(
    event({"type": "response.created", "response": {"id": "resp_1", "error": None, "output": []}})
    + event({"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "hm"})
    + event({"type": "response.output_text.delta", "output_index": 1, "delta": "One 🌀", "logprobs": []})
    + event({"type": "response.output_text.done", "output_index": 1, "text": "One 🌀"})
    + event({"type": "response.function_call_arguments.delta", "output_index": 2, "delta": "{}"})
    + event({"type": "response.completed", "response": {"id": "resp_1", "error": None, "usage": {}}}),
    [Piece("hm", "reasoning"), Piece("One 🌀"), Piece("{}", "tools")],
)
ANTHROPIC = Stream(
    anthropic("message_start", message={"id": "msg_1", "role": "assistant", "content": []})
    + anthropic(
        "content_block_start", index=0, content_block={"type": "thinking", "thinking": "", "signature": ""}
    )
    + anthropic("ping")
    + block(0, type="thinking_delta", thinking="hm")
    + block(0, type="signature_delta", signature="EqQBCgIYAhIM")
    + anthropic("content_block_stop", index=0)
    + anthropic("content_block_start", index=1, content_block={"type": "text", "text": ""})
    + block(1, type="text_delta", text="日本\x85")
    + block(1, type="text_delta", text=" \x0b🌀")
    + anthropic("content_block_start", index=2, content_block={"type": "tool_use", "name": "f", "input": {}})
    + block(2, type="input_json_delta", partial_json="")
    + block(2, type="input_json_delta", partial_json='{"city":')
    + block(2, type="input_json_delta", partial_json=' "K"}')
    + anthropic("message_delta", delta={"stop_reason": "tool_use"}, usage={"output_tokens": 15})
    + anthropic("message_stop"),
    [
        Piece("hm", "reasoning"),
        Piece("日本\x85"),
        Piece(" \x0b🌀"),
        Piece('{"city":', "tools"),
        Piece(' "K"}', "tools"),
    ],
)
GEMINI = Stream(
    event(gemini({"text": "hm", "thought": True}))
    + event(gemini({"text": "One "}))
    + event(gemini({"functionCall": {"name": "f", "args": {"a": 1}}}, finishReason="STOP")),
    [Piece("hm", "reasoning"), Piece("One "), Piece('{"a": 1}', "tools")],
)
GEMINI_LIST = Stream(  # what comes without alt=sse
    b"["
    + json.dumps(gemini({"text": "hm", "thought": True}), indent=2).encode()
    + b"\n,\r\n"
    + json.dumps(gemini({"text": "One "}), indent=2).encode()
    + b"\n,\r\n"
    + json.dumps(gemini({"text": "two"}), indent=2).encode()
    + b"\n]\n",
    [Piece("hm", "reasoning"), Piece("One "), Piece("two")],
)
OLLAMA_CHAT = Stream(
    lines(
        {"model": "m", "message": {"role": "assistant", "content": "", "thinking": "hm"}, "done": False},
        {"model": "m", "message": {"role": "assistant", "content": "One"}, "done": False},
        {"model": "m", "message": {"role": "assistant", "content": " é"}, "done": False},
        {"model": "m", "message": {"role": "assistant", "content": ""}, "done": True, "eval_count": 9},
    ),
    [Piece("hm", "reasoning"), Piece("One"), Piece(" é")],
)
OLLAMA_GENERATE = Stream(
    lines(
        {"model": "m", "response": "One", "done": False},
        {"model": "m", "response": " two", "done": False},
        {"model": "m", "response": "", "done": True, "context": [1, 2]},
    ),
    [Piece("One"), Piece(" two")],
)
STREAMS = {
    "OpenRouter": OPENROUTER,
    "side by side": SIDE_BY_SIDE,
    "completion": COMPLETION,
    "Responses": RESPONSES,
    "Anthropic": ANTHROPIC,
    "Gemini": GEMINI,
    "Gemini as a list": GEMINI_LIST,
    "Ollama's chat": OLLAMA_CHAT,
    "Ollama's generate": OLLAMA_GENERATE,
}
