"""Anthropic's Messages stream."""

import msgspec

from loopwatch.wire.pieces import Piece


class Delta(msgspec.Struct):
    """What an event adds to a content block; which field depends on the block's type."""

    text: str | None = None
    thinking: str | None = None
    partial_json: str | None = None


class Event(msgspec.Struct):
    """One event of the stream; types that are not known carry no text."""

    type: str = ""
    delta: Delta | None = None


_events = msgspec.json.Decoder(Event)


def event_pieces(data: bytes) -> list[Piece]:
    """The pieces of an event. Raises msgspec.DecodeError where it is none."""
    event = _events.decode(data)
    if event.type != "content_block_delta" or event.delta is None:
        return []
    delta = event.delta
    pieces = [
        Piece(delta.thinking or "", "reasoning"),
        Piece(delta.text or "", "content"),
        Piece(delta.partial_json or "", "tools"),
    ]
    return [piece for piece in pieces if piece.text]
