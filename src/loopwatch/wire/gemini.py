"""Gemini's ``streamGenerateContent`` with ``alt=sse``."""

import msgspec

from loopwatch.wire.pieces import Piece


class FunctionCall(msgspec.Struct):
    """A tool call, which Gemini sends whole."""

    args: msgspec.Raw | None = None


class Part(msgspec.Struct, rename="camel"):
    """A part of an answer: text, a thought, or a tool call."""

    text: str | None = None
    thought: bool = False
    function_call: FunctionCall | None = None


class Content(msgspec.Struct):
    """The parts that a chunk adds."""

    parts: list[Part] | None = None


class Candidate(msgspec.Struct):
    """One of the answers that stream side by side."""

    index: int = 0
    content: Content | None = None


class Chunk(msgspec.Struct):
    """One ``GenerateContentResponse``."""

    candidates: list[Candidate] | None = None


_chunks = msgspec.json.Decoder(Chunk)


def chunk_pieces(data: bytes) -> list[Piece]:
    """The pieces of a chunk. Raises msgspec.DecodeError where it is none."""
    pieces = []
    for candidate in _chunks.decode(data).candidates or ():
        for part in (candidate.content and candidate.content.parts) or ():
            if part.text:
                pieces.append(Piece(part.text, "reasoning" if part.thought else "content", candidate.index))
            if part.function_call and part.function_call.args:
                arguments = bytes(part.function_call.args).decode()
                pieces.append(Piece(arguments, "tools", candidate.index))
    return pieces
