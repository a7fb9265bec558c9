"""Ollama's own streams: one JSON object a line, of a chat or of a completion."""

import msgspec

from loopwatch.wire.pieces import Piece


class Message(msgspec.Struct):
    """What a line adds to a chat."""

    content: str | None = None
    thinking: str | None = None


class Line(msgspec.Struct):
    """One line of the stream."""

    message: Message | None = None
    response: str | None = None
    thinking: str | None = None


_lines = msgspec.json.Decoder(Line)


def line_pieces(data: bytes) -> list[Piece]:
    """The pieces of a line. Raises msgspec.DecodeError where it is none."""
    line = _lines.decode(data)
    message = line.message or Message()
    pieces = [
        Piece(line.thinking or message.thinking or "", "reasoning"),
        Piece(line.response or message.content or "", "content"),
    ]
    return [piece for piece in pieces if piece.text]
