"""Ollama's own streams: one JSON object a line, of a chat or of a completion."""

import msgspec

from loopwatch.wire.decoding import decoded, text_of
from loopwatch.wire.pieces import Channel, Piece, pieces_of


class Function(msgspec.Struct):
    """The function of a tool call."""

    arguments: msgspec.Raw = msgspec.Raw()


class ToolCall(msgspec.Struct):
    """A tool call, which Ollama sends whole."""

    function: Function = msgspec.field(default_factory=Function)


class Message(msgspec.Struct):
    """What a line adds to a chat."""

    content: str | None = None
    thinking: str | None = None
    tool_calls: list[ToolCall] | None = None


class Line(msgspec.Struct):
    """One line of the stream."""

    message: Message | None = None
    response: str | None = None
    thinking: str | None = None


_lines = msgspec.json.Decoder(Line)


def line_pieces(data: bytes) -> list[Piece]:
    """The pieces of a line. Raises msgspec.DecodeError where it is none."""
    line = decoded(_lines, data)
    message = line.message or Message()
    texts: list[tuple[str | None, Channel]] = [
        (line.thinking or message.thinking, "reasoning"),
        (line.response or message.content, "content"),
    ]
    calls = [text_of(call.function.arguments) for call in message.tool_calls or ()]
    return pieces_of([*texts, *((arguments, "tools") for arguments in calls)])
