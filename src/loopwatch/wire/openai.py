"""OpenAI's streams: chat completions, the older text completions, and Responses.

OpenRouter, llama.cpp, vLLM and Ollama speak the first two as well.
"""

from typing import Any

import msgspec

from loopwatch.wire.decoding import decoded
from loopwatch.wire.pieces import Channel, Piece, pieces_of

DONE = b"[DONE]"
"""The data of the event after the last chunk."""


class Function(msgspec.Struct):
    """The function of a tool call, or a fragment of it."""

    arguments: str | None = None


class ToolCall(msgspec.Struct):
    """A fragment of a tool call."""

    function: Function | None = None


class Delta(msgspec.Struct):
    """What a chunk adds to a choice; ``function_call`` is what tool calls once were."""

    content: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None
    refusal: str | None = None
    tool_calls: list[ToolCall] | None = None
    function_call: Function | None = None

    @property
    def texts(self) -> list[tuple[str | None, Channel]]:
        """Its texts with their channels; gateways send the reasoning under two names, some under both."""
        texts: list[tuple[str | None, Channel]] = [
            (self.reasoning or self.reasoning_content, "reasoning"),
            (self.content, "content"),
            (self.refusal, "content"),
        ]
        functions = [call.function for call in self.tool_calls or ()]
        if self.function_call is not None:
            functions.append(self.function_call)
        return texts + [(function.arguments, "tools") for function in functions if function is not None]


class Choice(msgspec.Struct):
    """One of the answers that stream side by side; ``text`` in text completions."""

    index: int = 0
    delta: Delta | None = None
    text: str | None = None
    finish_reason: str | None = None


class Chunk(msgspec.Struct):
    """One ``chat.completion.chunk`` or ``text_completion``; some gateways send null for no choices."""

    id: str | None = None
    model: str | None = None
    choices: list[Choice] | None = None


class ResponseEvent(msgspec.Struct):
    """One event of the Responses API; only deltas carry text."""

    type: str = ""
    delta: Any = None


RESPONSE_DELTAS: dict[str, Channel] = {
    "response.output_text.delta": "content",
    "response.refusal.delta": "content",
    "response.reasoning_text.delta": "reasoning",
    "response.reasoning_summary_text.delta": "reasoning",
    "response.function_call_arguments.delta": "tools",
    "response.custom_tool_call_input.delta": "tools",
    "response.mcp_call_arguments.delta": "tools",
    "response.code_interpreter_call_code.delta": "tools",
}

_chunks = msgspec.json.Decoder(Chunk)
_responses = msgspec.json.Decoder(ResponseEvent)


def decode_chunk(data: bytes) -> Chunk:
    """The chunk that an event's data holds. Raises msgspec.DecodeError where it is none."""
    return decoded(_chunks, data)


def chunk_pieces(data: bytes) -> list[Piece]:
    """The pieces of a completion chunk. Raises msgspec.DecodeError where it is none."""
    pieces: list[Piece] = []
    for choice in decode_chunk(data).choices or ():
        pieces += pieces_of([(choice.text, "content")], choice.index)
        if choice.delta is not None:
            pieces += pieces_of(choice.delta.texts, choice.index)
    return pieces


def response_pieces(data: bytes) -> list[Piece]:
    """The pieces of a Responses event. Raises msgspec.DecodeError where it is none."""
    event = decoded(_responses, data)
    channel = RESPONSE_DELTAS.get(event.type)
    if channel is None:
        return []
    if not isinstance(event.delta, str):
        raise msgspec.ValidationError("Expected `str` - at `$.delta`")
    return pieces_of([(event.delta, channel)])
