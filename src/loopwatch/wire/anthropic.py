"""Anthropic's Messages."""

from typing import Any

import msgspec

from loopwatch.wire.decoding import decoded, text_of
from loopwatch.wire.draft import Draft
from loopwatch.wire.pieces import Piece, pieces_of
from loopwatch.wire.usage import of_anthropic

KINDS = ("message_", "content_block_", "ping")
"""How the types of its events begin."""

HOLLOW = '{}" \t\r\n'
"""What arguments are written with that say nothing."""


class Block(msgspec.Struct):
    """A content block as it begins: empty, but for gateways that put its first text here, or all of it."""

    type: str = ""
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = msgspec.Raw()

    @property
    def arguments(self) -> str:
        """The arguments of a tool call; ``{}`` while none have come, of some gateways an empty string."""
        arguments = text_of(self.input)
        return arguments if arguments.strip(HOLLOW) else ""

    @property
    def pieces(self) -> list[Piece]:
        """The pieces that it begins with."""
        return pieces_of([(self.thinking, "reasoning"), (self.text, "content"), (self.arguments, "tools")])


class Delta(msgspec.Struct):
    """What an event adds to a content block; which field depends on the block's type."""

    text: str | None = None
    thinking: str | None = None
    partial_json: str | None = None
    stop_reason: str | None = None

    @property
    def pieces(self) -> list[Piece]:
        """The pieces that it adds."""
        return pieces_of([(self.thinking, "reasoning"), (self.text, "content"), (self.partial_json, "tools")])


class Event(msgspec.Struct):
    """One event of the stream; types that are not known carry no text."""

    type: str = ""
    index: int | None = None
    delta: Delta | None = None
    content_block: Block | None = None
    message: Any = None
    usage: Any = None
    error: Any = None

    @property
    def pieces(self) -> list[Piece]:
        """The pieces that it adds."""
        if self.type == "content_block_delta" and self.delta is not None:
            return self.delta.pieces
        if self.type == "content_block_start" and self.content_block is not None:
            return self.content_block.pieces
        return []


class Message(msgspec.Struct):
    """A message: empty where a stream begins with it."""

    type: str = ""
    id: str | None = None
    model: str | None = None
    provider: Any = None
    content: list[Block] | None = None
    stop_reason: str | None = None
    usage: Any = None


_events = msgspec.json.Decoder(Event)
_messages = msgspec.json.Decoder(Message)


def event_pieces(data: bytes) -> list[Piece]:
    """The pieces of an event. Raises msgspec.DecodeError where it is none."""
    return decoded(_events, data).pieces


class AnthropicDraft(Draft):
    """A message."""

    __slots__ = ()
    source = "Anthropic's Messages"
    count = of_anthropic

    def _read(self, data: bytes) -> list[Piece]:
        event = decoded(_events, data)
        if event.error or not event.type.startswith(KINDS):
            self._doubt(data)
            return []
        self._known = True
        if event.type == "message_start" and event.message is not None:
            self._begin(msgspec.convert(event.message, Message))
        elif event.type == "message_stop":
            self.done = True
        self._bill(event.usage)
        if event.delta is not None:
            self._end(event.delta.stop_reason)
        index = event.index or 0
        if event.content_block is not None:
            self._open(index, event.content_block)
        elif event.delta is not None and index in self._calls:
            self._call(index, arguments=event.delta.partial_json)
        return event.pieces

    def _read_whole(self, data: bytes) -> list[Piece]:
        message = decoded(_messages, data)
        if message.content is None:
            self._doubt(data)
        self._begin(message)
        self._end(message.stop_reason)
        blocks = message.content or []
        for index, block in enumerate(blocks):
            self._open(index, block)
        return [piece for block in blocks for piece in block.pieces]

    def _begin(self, message: Message) -> None:
        self._introduce(message.id, message.model, message.provider)
        self._bill(message.usage)

    def _open(self, index: int, block: Block) -> None:
        """A block begins. Of tools that the provider calls itself, no call is kept."""
        if block.type == "tool_use":
            self._call(index, id=block.id, name=block.name, arguments=block.arguments)

    def _bill(self, figures: Any) -> None:
        """Add what an event says: the first and the last event each say a part, gateways all at once."""
        if isinstance(figures, dict):
            said = {name: figure for name, figure in figures.items() if figure is not None}
            super()._bill({**(self._figures or {}), **said})
