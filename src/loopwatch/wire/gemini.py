"""Gemini's ``generateContent``, and ``streamGenerateContent`` with ``alt=sse``."""

from typing import Any

import msgspec

from loopwatch.wire.decoding import decoded, text_of
from loopwatch.wire.draft import Draft
from loopwatch.wire.pieces import Channel, Piece, pieces_of
from loopwatch.wire.usage import of_gemini

BLOCKED = "content_filter"
"""Why a reply ends whose prompt was not let through; Gemini gives it no finish reason."""


class FunctionCall(msgspec.Struct):
    """A tool call, which Gemini sends whole."""

    args: msgspec.Raw = msgspec.Raw()
    name: str | None = None
    id: str | None = None


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


class Candidate(msgspec.Struct, rename="camel"):
    """One of the answers that stream side by side."""

    index: int | None = None
    content: Content | None = None
    finish_reason: str | None = None

    @property
    def parts(self) -> list[Part]:
        """What it adds."""
        return (self.content and self.content.parts) or []

    @property
    def pieces(self) -> list[Piece]:
        """The pieces that it adds."""
        return [piece for part in self.parts for piece in pieces_of(part.texts, self.index or 0)]


class Chunk(msgspec.Struct, rename="camel"):
    """One ``GenerateContentResponse``."""

    candidates: list[Candidate] | None = None
    response_id: str | None = None
    model_version: str | None = None
    usage_metadata: Any = None
    prompt_feedback: Any = None
    error: Any = None


_chunks = msgspec.json.Decoder(Chunk)


def chunk_pieces(data: bytes) -> list[Piece]:
    """The pieces of a chunk. Raises msgspec.DecodeError where it is none."""
    return [piece for candidate in decoded(_chunks, data).candidates or () for piece in candidate.pieces]


class GeminiDraft(Draft):
    """The first candidate of a response. It is never ``done``: its stream just ends."""

    __slots__ = ()
    source = "Gemini's responses"
    count = of_gemini

    def _read(self, data: bytes) -> list[Piece]:
        chunk = decoded(_chunks, data)
        self._introduce(chunk.response_id, chunk.model_version)
        self._bill(chunk.usage_metadata)
        if chunk.error or not chunk.candidates:
            self._doubt(data, known=chunk.prompt_feedback is not None or chunk.usage_metadata is not None)
        if isinstance(chunk.prompt_feedback, dict) and chunk.prompt_feedback.get("blockReason"):
            self._end(BLOCKED)
        for candidate in chunk.candidates or ():
            if not candidate.index:
                return self._choose(candidate)
        return []

    def _read_whole(self, data: bytes) -> list[Piece]:
        return self._read(data)

    def _choose(self, candidate: Candidate) -> list[Piece]:
        self._known = True
        self._end(candidate.finish_reason)
        for part in candidate.parts:
            call = part.function_call
            if call is not None:
                self._call(len(self._calls), id=call.id, name=call.name, arguments=text_of(call.args))
        return candidate.pieces
