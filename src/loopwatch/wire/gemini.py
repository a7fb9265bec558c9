"""Gemini's ``streamGenerateContent`` with ``alt=sse``."""

import msgspec

from loopwatch.wire.decoding import decoded, text_of
from loopwatch.wire.pieces import Channel, Piece, pieces_of


class FunctionCall(msgspec.Struct):
    """A tool call, which Gemini sends whole."""

    args: msgspec.Raw = msgspec.Raw()


class Part(msgspec.Struct, rename="camel"):
    """A part of an answer: text, a thought, or a tool call."""

    text: str | None = None
    thought: bool | None = None
    function_call: FunctionCall | None = None

    @property
    def texts(self) -> list[tuple[str | None, Channel]]:
        """Its texts with their channels."""
        call = self.function_call
        return [
            (self.text, "reasoning" if self.thought else "content"),
            (text_of(call.args) if call else None, "tools"),
        ]


class Content(msgspec.Struct):
    """The parts that a chunk adds."""

    parts: list[Part] | None = None


class Candidate(msgspec.Struct):
    """One of the answers that stream side by side."""

    index: int | None = None
    content: Content | None = None


class Chunk(msgspec.Struct):
    """One ``GenerateContentResponse``."""

    candidates: list[Candidate] | None = None


_chunks = msgspec.json.Decoder(Chunk)


def chunk_pieces(data: bytes) -> list[Piece]:
    """The pieces of a chunk. Raises msgspec.DecodeError where it is none."""
    return [
        piece
        for candidate in decoded(_chunks, data).candidates or ()
        for part in (candidate.content and candidate.content.parts) or ()
        for piece in pieces_of(part.texts, candidate.index or 0)
    ]
