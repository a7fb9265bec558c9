"""Anthropic's Messages stream."""

import msgspec

from loopwatch.wire.decoding import decoded
from loopwatch.wire.pieces import Piece, pieces_of


class Block(msgspec.Struct):
    """A content block as it begins: empty, but for gateways that put its first text here."""

    text: str | None = None
    thinking: str | None = None


class Delta(msgspec.Struct):
    """What an event adds to a content block; which field depends on the block's type."""

    text: str | None = None
    thinking: str | None = None
    partial_json: str | None = None


class Event(msgspec.Struct):
    """One event of the stream; types that are not known carry no text."""

    type: str = ""
    delta: Delta | None = None
    content_block: Block | None = None


_events = msgspec.json.Decoder(Event)


def event_pieces(data: bytes) -> list[Piece]:
    """The pieces of an event. Raises msgspec.DecodeError where it is none."""
    event = decoded(_events, data)
    if event.type == "content_block_delta" and event.delta is not None:
        delta = event.delta
        return pieces_of(
            [(delta.thinking, "reasoning"), (delta.text, "content"), (delta.partial_json, "tools")]
        )
    if event.type == "content_block_start" and event.content_block is not None:
        block = event.content_block
        return pieces_of([(block.thinking, "reasoning"), (block.text, "content")])
    return []
