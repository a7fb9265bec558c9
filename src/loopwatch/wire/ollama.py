"""Ollama's own streams: one JSON object a line, of a chat or of a completion."""

from typing import Any

import msgspec

from loopwatch.wire.decoding import anything, decoded, text_of
from loopwatch.wire.draft import Draft
from loopwatch.wire.pieces import Channel, Piece, pieces_of
from loopwatch.wire.usage import of_ollama


class Function(msgspec.Struct):
    """The function of a tool call."""

    arguments: msgspec.Raw = msgspec.Raw()
    name: str | None = None


class ToolCall(msgspec.Struct):
    """A tool call, which Ollama sends whole."""

    function: Function = msgspec.field(default_factory=Function)
    id: str | None = None


class Message(msgspec.Struct):
    """What a line adds to a chat."""

    content: str | None = None
    thinking: str | None = None
    tool_calls: list[ToolCall] | None = None


class Line(msgspec.Struct):
    """One line of the stream; the last one is ``done`` and has the figures."""

    message: Message | None = None
    response: str | None = None
    thinking: str | None = None
    model: str | None = None
    done: Any = None
    done_reason: str | None = None
    error: Any = None

    @property
    def calls(self) -> list[ToolCall]:
        """The tool calls that it adds."""
        return (self.message and self.message.tool_calls) or []

    @property
    def pieces(self) -> list[Piece]:
        """The pieces that it adds."""
        message = self.message or Message()
        texts: list[tuple[str | None, Channel]] = [
            (self.thinking or message.thinking, "reasoning"),
            (self.response or message.content, "content"),
        ]
        calls = [text_of(call.function.arguments) for call in self.calls]
        return pieces_of([*texts, *((arguments, "tools") for arguments in calls)])


_lines = msgspec.json.Decoder(Line)


def line_pieces(data: bytes) -> list[Piece]:
    """The pieces of a line. Raises msgspec.DecodeError where it is none."""
    return decoded(_lines, data).pieces


class OllamaDraft(Draft):
    """The reply to a chat or a prompt, fed line by line. Ollama gives it no id."""

    __slots__ = ()
    source = "Ollama's"
    count = of_ollama

    def _read(self, data: bytes) -> list[Piece]:
        line = decoded(_lines, data)
        if line.error or line.done is None:
            self._doubt(data)
        self._known = self._known or line.done is not None
        self._introduce(None, line.model)
        for call in line.calls:
            function = call.function
            self._call(
                len(self._calls), id=call.id, name=function.name, arguments=text_of(function.arguments)
            )
        if line.done is True:
            self.done = True
            self._end(line.done_reason)
            self._bill(anything(data))
        return line.pieces

    def _read_whole(self, data: bytes) -> list[Piece]:
        return self._read(data)
