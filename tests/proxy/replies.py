"""What each provider sends for the same reply, as a stream and as one document."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from loopwatch.testing.answers import Answer
from loopwatch.testing.exchange import Request
from loopwatch.testing.steps import Raw

SSE = {"Content-Type": "text/event-stream"}
JSON = {"Content-Type": "application/json"}
NDJSON = {"Content-Type": "application/x-ndjson"}


@dataclass(frozen=True)
class Spoken:
    """A reply of one API: where it is asked for, its stream, and the document that is the same."""

    name: str
    path: str
    ask: dict[str, Any]
    events: Sequence[dict[str, Any]]
    document: dict[str, Any]
    named: bool = False  # whether events say their type
    done: bool = False  # whether [DONE] comes last

    def stream(self) -> bytes:
        """All of the stream's bytes."""
        if self.name.startswith("ollama"):
            return b"".join(json.dumps(event).encode() + b"\n" for event in self.events)
        return b"".join(sse(event, named=self.named) for event in self.events) + (
            b"data: [DONE]\n\n" if self.done else b""
        )

    def answers(self, request: Request) -> Answer:
        """As the provider answers: a stream where one is asked for, else the document."""
        asked = request.body.get("stream", self.name.startswith("ollama")) or ":stream" in request.path
        if asked:
            headers = NDJSON if self.name.startswith("ollama") else SSE
            return Answer([Raw(part) for part in cut(self.stream())], headers=headers)
        return Answer([Raw(json.dumps(self.document).encode())], headers=JSON)


def sse(event: dict[str, Any], *, named: bool = False) -> bytes:
    head = f"event: {event['type']}\n" if named else ""
    return f"{head}data: {json.dumps(event)}\n\n".encode()


def cut(data: bytes, size: int = 50) -> Iterator[bytes]:
    """In pieces that keep to no event's bounds."""
    return (data[start : start + size] for start in range(0, len(data), size))


def chat_event(choice: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    head = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 7,
        "model": "gpt-x",
        "system_fingerprint": "fp",
    }
    return head | {"choices": [] if choice is None else [choice]} | more


def chat_choice(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish, **more}


CHAT_USAGE = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}


def chat(
    name: str, deltas: Sequence[dict[str, Any]], message: dict[str, Any], finish: str, **more: Any
) -> Spoken:
    logprobs = more.pop("logprobs", None)
    choices = [chat_choice(delta) for delta in deltas]
    if logprobs:
        for choice, one in zip(choices[1:], logprobs["content"], strict=True):
            choice["logprobs"] = {"content": [one], "refusal": None}
    return Spoken(
        name,
        "/v1/chat/completions",
        {"model": "gpt-x", "messages": [{"role": "user", "content": "Hello?"}], **more},
        [
            *(chat_event(choice) for choice in choices),
            chat_event(chat_choice({}, finish)),
            chat_event(None, usage=CHAT_USAGE),
        ],
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 7,
            "model": "gpt-x",
            "choices": [{"index": 0, "message": message, "logprobs": logprobs, "finish_reason": finish}],
            "usage": CHAT_USAGE,
            "system_fingerprint": "fp",
        },
        done=True,
    )


FIRST = {"role": "assistant", "content": "", "refusal": None}
TEXT = chat(
    "chat text",
    [FIRST, {"content": "It "}, {"content": "scätters."}],
    {"role": "assistant", "content": "It scätters.", "refusal": None},
    "stop",
)
PROBS = {
    "content": [
        {"token": "It", "logprob": -0.1, "bytes": [73], "top_logprobs": []},
        {"token": " is", "logprob": -0.25, "bytes": None, "top_logprobs": []},
    ],
    "refusal": None,
}
LOGPROBS = chat(
    "chat logprobs",
    [FIRST, {"content": "It"}, {"content": " is"}],
    {"role": "assistant", "content": "It is", "refusal": None},
    "stop",
    logprobs=PROBS,
)
REFUSAL = chat(
    "chat refusal",
    [{"role": "assistant", "content": None, "refusal": ""}, {"refusal": "I can"}, {"refusal": "not."}],
    {"role": "assistant", "content": None, "refusal": "I cannot."},
    "stop",
)
REASONING = chat(
    "chat reasoning",
    [
        {"role": "assistant", "content": None, "reasoning_content": "Hm"},
        {"reasoning_content": "m."},
        {"content": "Yes."},
    ],
    {"role": "assistant", "content": "Yes.", "reasoning_content": "Hmm."},
    "stop",
)


def _call(index: int, **more: Any) -> dict[str, Any]:
    return {"tool_calls": [{"index": index, **more}]}


def _whole_call(key: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": key, "type": "function", "function": {"name": name, "arguments": arguments}}


TOOLS = chat(
    "chat tools",
    [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"index": 0, **_whole_call("call_1", "read", "")}],
        },
        _call(0, function={"arguments": '{"a":'}),
        _call(1, **_whole_call("call_2", "list", "")),
        _call(0, function={"arguments": "1}"}),
        _call(1, function={"arguments": "{}"}),
    ],
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [_whole_call("call_1", "read", '{"a":1}'), _whole_call("call_2", "list", "{}")],
    },
    "tool_calls",
)


def text_event(text: str, finish: str | None = None, logprobs: Any = None) -> dict[str, Any]:
    choice = {"text": text, "index": 0, "logprobs": logprobs, "finish_reason": finish}
    return {"id": "cmpl-1", "object": "text_completion", "created": 7, "model": "t", "choices": [choice]}


def _probs(*tokens: str) -> dict[str, Any]:
    return {
        "tokens": list(tokens),
        "token_logprobs": [-0.5] * len(tokens),
        "top_logprobs": [{token: -0.5} for token in tokens],
        "text_offset": list(range(len(tokens))),
    }


COMPLETION = Spoken(
    "completions",
    "/v1/completions",
    {"model": "t", "prompt": "Why?", "logprobs": 1},
    [
        text_event("So", None, {**_probs("So"), "text_offset": [0]}),
        text_event(" it", None, {**_probs(" it"), "text_offset": [1]}),
        text_event("", "length"),
        {**text_event(""), "choices": [], "usage": CHAT_USAGE},
    ],
    {**text_event("So it", "length", _probs("So", " it")), "usage": CHAT_USAGE},
    done=True,
)


def _response(status: str, output: list[Any], usage: Any = None) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 7,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "model": "gpt-x",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "metadata": {},
        "usage": usage,
    }


RESPONSES_USAGE = {
    "input_tokens": 9,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 4,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 13,
}


def response_events(texts: Sequence[str], *, ends: bool = True) -> list[dict[str, Any]]:
    """A response of one message, or its beginning."""
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    item = {"id": "msg_1", "type": "message", "status": "in_progress", "role": "assistant", "content": []}
    part = {"type": "output_text", "text": "", "annotations": []}
    said = {**part, "text": "".join(texts)}
    done = {**item, "status": "completed", "content": [said]}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": _response("in_progress", [])},
        {"type": "response.in_progress", "response": _response("in_progress", [])},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.content_part.added", **place, "part": part},
        *({"type": "response.output_text.delta", **place, "delta": text, "logprobs": []} for text in texts),
    ]
    if ends:
        events += [
            {"type": "response.output_text.done", **place, "text": said["text"], "logprobs": []},
            {"type": "response.content_part.done", **place, "part": said},
            {"type": "response.output_item.done", "output_index": 0, "item": done},
            {"type": "response.completed", "response": _response("completed", [done], RESPONSES_USAGE)},
        ]
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


RESPONSES = Spoken(
    "responses",
    "/v1/responses",
    {"model": "gpt-x", "input": "Hello?"},
    response_events(["It ", "scatters."]),
    response_events(["It ", "scatters."])[-1]["response"],
    named=True,
)


def message(content: list[Any], stop: str | None, usage: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage,
    }


ANTHROPIC_START = {"input_tokens": 9, "cache_read_input_tokens": 2, "output_tokens": 1}


def message_events(
    blocks: Sequence[tuple[dict[str, Any], Sequence[dict[str, Any]]]], stop: str, *, ends: bool = True
) -> list[dict[str, Any]]:
    """A message of these blocks, each with its deltas, or its beginning."""
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message([], None, ANTHROPIC_START)},
        {"type": "ping"},
    ]
    for index, (block, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        if ends or index + 1 < len(blocks):
            events.append({"type": "content_block_stop", "index": index})
    if ends:
        end = {"stop_reason": stop, "stop_sequence": None}
        events.append({"type": "message_delta", "delta": end, "usage": {"output_tokens": 4}})
        events.append({"type": "message_stop"})
    return events


ANTHROPIC = Spoken(
    "anthropic",
    "/v1/messages",
    {"model": "claude-x", "max_tokens": 100, "messages": [{"role": "user", "content": "Hello?"}]},
    message_events(
        [
            (
                {"type": "thinking", "thinking": "", "signature": ""},
                [
                    {"type": "thinking_delta", "thinking": "Hm."},
                    {"type": "signature_delta", "signature": "c2ln"},
                ],
            ),
            (
                {"type": "text", "text": ""},
                [{"type": "text_delta", "text": "It "}, {"type": "text_delta", "text": "scatters."}],
            ),
            (
                {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}},
                [{"type": "input_json_delta", "partial_json": part} for part in ("", '{"a":', "1}")],
            ),
        ],
        "tool_use",
    ),
    message(
        [
            {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
            {"type": "text", "text": "It scatters."},
            {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"a": 1}},
        ],
        "tool_use",
        {**ANTHROPIC_START, "output_tokens": 4},
    ),
    named=True,
)


def content_event(text: str, finish: str | None = None, tokens: int = 0) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": [{"text": text}], "role": "model"}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    usage = {"promptTokenCount": 9, "candidatesTokenCount": tokens, "totalTokenCount": 9 + tokens}
    return {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": "gemini-x",
        "responseId": "r1",
    }


GEMINI = Spoken(
    "gemini",
    "/v1beta/models/gemini-x:generateContent",
    {"contents": [{"role": "user", "parts": [{"text": "Hello?"}]}]},
    [content_event("It ", tokens=1), content_event("scatters.", "STOP", 4)],
    content_event("It scatters.", "STOP", 4),
)


def ollama_event(text: str, **more: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": text}
    return {
        "model": "llama",
        "created_at": "2026-01-01T00:00:00Z",
        "message": said,
        "done": False,
        **more,
    }


OLLAMA_END = {"done": True, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 4}
OLLAMA = Spoken(
    "ollama",
    "/api/chat",
    {"model": "llama", "messages": [{"role": "user", "content": "Hello?"}], "stream": False},
    [ollama_event("It "), ollama_event("scatters."), ollama_event("", **OLLAMA_END)],
    ollama_event("It scatters.", **OLLAMA_END),
)
EVERY = (
    *(TEXT, LOGPROBS, REFUSAL, REASONING, TOOLS, COMPLETION),
    *(RESPONSES, ANTHROPIC, GEMINI, OLLAMA),
)
