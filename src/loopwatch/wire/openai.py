"""OpenAI's streams: chat completions, the older text completions, and Responses.

OpenRouter, llama.cpp, vLLM and Ollama speak the first two as well.
"""

import msgspec

from loopwatch.wire.pieces import Channel, Piece

DONE = b"[DONE]"
"""The data of the event after the last chunk."""


class Function(msgspec.Struct):
    """The function of a tool call, or a fragment of it."""

    arguments: str | None = None


class ToolCall(msgspec.Struct):
    """A fragment of a tool call."""

    function: Function | None = None


class Delta(msgspec.Struct):
    """What a chunk adds to a choice."""

    content: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[ToolCall] | None = None


class Choice(msgspec.Struct):
    """One of the answers that stream side by side; ``text`` in text completions."""

    index: int = 0
    delta: Delta | None = None
    text: str | None = None
    finish_reason: str | None = None


class Chunk(msgspec.Struct):
    """One ``chat.completion.chunk`` or ``text_completion``."""

    id: str | None = None
    model: str | None = None
    choices: list[Choice] = msgspec.field(default_factory=list)


class ResponseEvent(msgspec.Struct):
    """One event of the Responses API; only deltas carry text."""

    type: str = ""
    delta: str | msgspec.UnsetType = msgspec.UNSET
    output_index: int = 0


RESPONSE_DELTAS: dict[str, Channel] = {
    "response.output_text.delta": "content",
    "response.refusal.delta": "content",
    "response.reasoning_text.delta": "reasoning",
    "response.reasoning_summary_text.delta": "reasoning",
    "response.function_call_arguments.delta": "tools",
    "response.custom_tool_call_input.delta": "tools",
}

_chunks = msgspec.json.Decoder(Chunk)
_responses = msgspec.json.Decoder(ResponseEvent)


def decode_chunk(data: bytes) -> Chunk:
    """The chunk that an event's data holds. Raises msgspec.DecodeError where it is none."""
    try:
        return _chunks.decode(data)
    except (UnicodeDecodeError, RecursionError) as error:
        raise msgspec.DecodeError(str(error)) from None


def chunk_pieces(data: bytes) -> list[Piece]:
    """The pieces of a completion chunk. Raises msgspec.DecodeError where it is none."""
    pieces = []
    for choice in decode_chunk(data).choices:
        delta = choice.delta
        if choice.text:
            pieces.append(Piece(choice.text, "content", choice.index))
        if delta is None:
            continue
        reasoning = delta.reasoning or delta.reasoning_content
        if reasoning:
            pieces.append(Piece(reasoning, "reasoning", choice.index))
        if delta.content:
            pieces.append(Piece(delta.content, "content", choice.index))
        called = [call.function.arguments for call in delta.tool_calls or () if call.function]
        pieces += [Piece(arguments, "tools", choice.index) for arguments in called if arguments]
    return pieces


def response_pieces(data: bytes) -> list[Piece]:
    """The pieces of a Responses event. Raises msgspec.DecodeError where it is none."""
    event = _responses.decode(data)
    channel = RESPONSE_DELTAS.get(event.type)
    return [Piece(event.delta, channel)] if channel and event.delta else []
