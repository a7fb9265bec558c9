"""Replies in every provider's words: streamed, and as one document."""

import json
from collections.abc import Callable, Iterable
from itertools import pairwise, zip_longest
from typing import Any, NamedTuple

from hypothesis import strategies as st

from loopwatch.wire.assembly import Assembly, Format, assembly_for
from loopwatch.wire.lines import Lines
from loopwatch.wire.pieces import Piece
from loopwatch.wire.reply import Reply, ToolCall
from loopwatch.wire.sse import SSEDecoder
from tests.wire.streams import anthropic, block, chunk, event, lines


def assemble(name: Format, data: bytes, cuts: Iterable[int] = ()) -> tuple[Assembly, list[Piece]]:
    """What a stream, cut at these places, comes to."""
    assembly = assembly_for(name)
    pieces: list[Piece] = []
    places = [0, *sorted(cuts), len(data)]
    reads = [data[start:end] for start, end in pairwise(places)]
    if name == "ollama":
        cutter = Lines()
        for read in reads:
            for line in cutter.feed(read):
                pieces += assembly.push(line)
    else:
        decoder = SSEDecoder()
        for read in reads:
            for got in decoder.feed(read):
                pieces += assembly.push(got.data)
        for got in decoder.finish():
            pieces += assembly.push(got.data)
    return assembly, pieces


def reply_of(name: Format, data: bytes) -> Reply:
    """The reply that a stream comes to."""
    return assemble(name, data)[0].finish()


class Call(NamedTuple):
    """A tool call, its arguments parsed."""

    name: str
    arguments: dict[str, Any]
    id: str

    @property
    def written(self) -> str:
        return json.dumps(self.arguments, ensure_ascii=False)


class Said(NamedTuple):
    """What a model answers, in fragments."""

    content: list[str]
    reasoning: list[str]
    calls: list[Call]
    tokens: int

    @property
    def text(self) -> str:
        return "".join(self.content)

    @property
    def thoughts(self) -> str:
        return "".join(self.reasoning)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(ToolCall(call.name, call.written, call.id) for call in self.calls)


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
fragments = st.lists(words, max_size=4)
calls = st.builds(
    Call,
    st.text("abc_", min_size=1, max_size=5),
    st.dictionaries(words, st.integers(-9, 9) | words, min_size=1, max_size=2),
    st.text("xyz", min_size=1, max_size=5),
)
sayings = st.builds(Said, fragments, fragments, st.lists(calls, max_size=3), st.integers(0, 9_999))


class Rendered(NamedTuple):
    """One reply both ways."""

    stream: bytes
    document: bytes


def document(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


def openai_chat(said: Said) -> Rendered:
    usage = {"prompt_tokens": said.tokens, "completion_tokens": 7, "cost": 0.25}
    fields = {"id": "gen-1", "model": "m", "provider": "P"}
    finish = "tool_calls" if said.calls else "stop"
    begun = [
        {"index": number, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""}}
        for number, call in enumerate(said.calls)
    ]
    # The calls' arguments come in turns: the first half of each, then the second.
    rounds = zip(*(halves(call.written) for call in said.calls), strict=True)
    told = [
        {"index": number, "function": {"arguments": part}}
        for parts in rounds
        for number, part in enumerate(parts)
    ]
    stream = (
        chunk({"role": "assistant", "content": ""}, **fields)
        + b"".join(chunk({"reasoning": text, "content": None}, **fields) for text in said.reasoning)
        + b": OPENROUTER PROCESSING\n\n"
        + b"".join(chunk({"content": text}, **fields) for text in said.content)
        + b"".join(chunk({"tool_calls": [call]}, **fields) for call in [*begun, *told])
        + event({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}], **fields})
        + event({"choices": [], "usage": usage, **fields})
        + b"data: [DONE]\n\n"
    )
    message = {
        "role": "assistant",
        "content": said.text or None,
        "reasoning": said.thoughts or None,
        "tool_calls": [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.written}}
            for call in said.calls
        ],
    }
    choices = [{"index": 0, "message": message, "finish_reason": finish}]
    return Rendered(
        stream, document({"object": "chat.completion", "choices": choices, "usage": usage, **fields})
    )


def openai_text(said: Said) -> Rendered:
    fields = {"id": "cmpl-1", "object": "text_completion", "model": "m"}
    usage = {"prompt_tokens": said.tokens}
    stream = (
        b"".join(event({"choices": [{"text": text, "index": 0}], **fields}) for text in said.content)
        + event({"choices": [{"text": "", "index": 0, "finish_reason": "length"}], "usage": usage, **fields})
        + b"data: [DONE]\n\n"
    )
    choices = [{"text": said.text, "index": 0, "finish_reason": "length"}]
    return Rendered(stream, document({"choices": choices, "usage": usage, **fields}))


def responses(said: Said) -> Rendered:
    items: list[dict[str, Any]] = [
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": said.thoughts}]},
        {"type": "message", "id": "msg_1", "content": [{"type": "output_text", "text": said.text}]},
    ]
    items += [
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.written,
        }
        for call in said.calls
    ]
    begun = {"id": "resp_1", "object": "response", "model": "m", "status": "in_progress", "error": None}
    usage = {"input_tokens": said.tokens, "output_tokens": 7}
    ended = {**begun, "status": "completed", "output": items, "usage": usage}

    def deltas(kind: str, number: int, texts: Iterable[str]) -> bytes:
        return b"".join(
            event({"type": f"response.{kind}.delta", "output_index": number, "delta": text}) for text in texts
        )

    stream = event({"type": "response.created", "response": {**begun, "output": [], "usage": None}})
    stream += deltas("reasoning_summary_text", 0, said.reasoning)
    stream += deltas("output_text", 1, said.content)
    for number, item in enumerate(items):
        empty = {**item, "arguments": ""} if "arguments" in item else item
        stream += event({"type": "response.output_item.added", "output_index": number, "item": empty})
        if "arguments" in item:
            stream += deltas("function_call_arguments", number, halves(item["arguments"]))
        stream += event({"type": "response.output_item.done", "output_index": number, "item": item})
    return Rendered(stream + event({"type": "response.completed", "response": ended}), document(ended))


def anthropic_message(said: Said) -> Rendered:
    blocks: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": said.thoughts},
        {"type": "text", "text": said.text},
    ]
    blocks += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in said.calls
    ]
    reason = "tool_use" if said.calls else "end_turn"
    begun = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": None}
    counts = {"input_tokens": said.tokens, "cache_read_input_tokens": 2}
    stream = anthropic(
        "message_start", message={**begun, "content": [], "usage": {**counts, "output_tokens": 1}}
    )
    parts: list[list[dict[str, Any]]] = [
        [{"type": "thinking_delta", "thinking": text} for text in said.reasoning],
        [{"type": "text_delta", "text": text} for text in said.content],
    ]
    parts += [
        [{"type": "input_json_delta", "partial_json": text} for text in ("", *halves(call.written))]
        for call in said.calls
    ]
    for number, (content_block, deltas) in enumerate(zip(blocks, parts, strict=True)):
        empty = {"thinking": "", "text": "", "input": {}}
        first = {key: empty.get(key, value) for key, value in content_block.items()}
        stream += anthropic("content_block_start", index=number, content_block=first)
        stream += b"".join(block(number, **delta) for delta in deltas)
        stream += anthropic("content_block_stop", index=number) + anthropic("ping")
    stream += anthropic("message_delta", delta={"stop_reason": reason}, usage={"output_tokens": 15})
    stream += anthropic("message_stop")
    whole = {**begun, "content": blocks, "stop_reason": reason, "usage": {**counts, "output_tokens": 15}}
    return Rendered(stream, document(whole))


def gemini_response(said: Said) -> Rendered:
    thoughts: list[dict[str, Any]] = [{"text": text, "thought": True} for text in said.reasoning]
    texts: list[dict[str, Any]] = [{"text": text} for text in said.content]
    asked: list[dict[str, Any]] = [
        {"functionCall": {"id": call.id, "name": call.name, "args": call.arguments}} for call in said.calls
    ]
    fields = {"responseId": "r1", "modelVersion": "m"}
    usage = {"promptTokenCount": said.tokens, "candidatesTokenCount": 7}

    def response(parts: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
        return {"candidates": [{"content": {"role": "model", "parts": parts}, **more}], **fields}

    stream = b"".join(
        event({**response([part]), "usageMetadata": {"promptTokenCount": 1}})
        for part in [*thoughts, *texts, *asked]
    )
    last = event({**response([], finishReason="STOP"), "usageMetadata": usage})
    whole = response([*thoughts, *texts, *asked], finishReason="STOP")
    return Rendered(stream + last, document({**whole, "usageMetadata": usage}))


def ollama_chat(said: Said) -> Rendered:
    asked = [
        {"id": call.id, "function": {"name": call.name, "arguments": call.arguments}} for call in said.calls
    ]
    ended = {
        "model": "m",
        "done": True,
        "done_reason": "stop",
        "prompt_eval_count": said.tokens,
        "eval_count": 7,
    }

    def line(**message: Any) -> dict[str, Any]:
        return {"model": "m", "message": {"role": "assistant", **message}, "done": False}

    pairs = zip_longest(said.reasoning, said.content, fillvalue="")
    stream = lines(*(line(thinking=thought, content=text) for thought, text in pairs))
    stream += lines(line(content="", tool_calls=asked), {**ended, "message": {"content": ""}})
    message = {"content": said.text, "thinking": said.thoughts, "tool_calls": asked}
    return Rendered(stream, document({**ended, "message": message}))


RENDERINGS: dict[str, tuple[Format, Callable[[Said], Rendered]]] = {
    "chat": ("openai", openai_chat),
    "text completion": ("openai", openai_text),
    "Responses": ("responses", responses),
    "Anthropic": ("anthropic", anthropic_message),
    "Gemini": ("gemini", gemini_response),
    "Ollama": ("ollama", ollama_chat),
}
