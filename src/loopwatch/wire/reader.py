"""``StreamReader``: the bytes of a reply as they arrive, whoever sends them -> pieces of text.

Server-sent events or one JSON object a line; OpenAI's, Anthropic's, Gemini's or Ollama's objects: the
first ones tell. A stream speaks one format from beginning to end.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from loopwatch.errors import InputError
from loopwatch.wire import anthropic, documents, gemini, ollama, openai
from loopwatch.wire.pieces import Piece
from loopwatch.wire.sse import LINE_CAP, SSEDecoder, is_json

Decode = Callable[[bytes], list[Piece]]

UNKNOWN = "this is no stream of a known format: OpenAI's, Anthropic's, Gemini's and Ollama's can be read"
SHOWN = 200
"""Characters of a provider's error message that are passed on."""


class _Probe(msgspec.Struct):
    """The keys by which a provider's objects are known."""

    choices: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    candidates: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    done: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    type: str | msgspec.UnsetType = msgspec.UNSET
    error: Any = msgspec.UNSET


_probes = msgspec.json.Decoder(_Probe)


class StreamReader:
    """Feed it what arrives; it gives back the pieces of text that are complete."""

    __slots__ = ("_decode", "_document", "_events", "_lines", "_number")

    def __init__(self) -> None:
        """Start at the beginning of a stream."""
        self._events = SSEDecoder()
        self._lines: bytearray | None = None  # the line that is still open, once it is known to be lines
        self._document: bytearray | None = None  # all of it, once it is known to be no stream
        self._decode: Decode | None = None
        self._number = 0

    def feed(self, data: bytes) -> list[Piece]:
        """Take the next bytes; return their pieces.

        Raises InputError where an event is no JSON, or where the provider reports an error.
        """
        if self._number == 0 and self._lines is None and data.lstrip()[:1] in (b"{", b"["):
            self._lines = bytearray()
        if self._document is not None:
            self._document += data
            _bounded(self._document)
            return []
        if self._lines is None:
            return self._pieces([event.data for event in self._events.feed(data)])
        self._lines += data
        *whole, rest = self._lines.split(b"\n")
        _bounded(rest)
        if self._number == 0 and whole and not is_json(bytes(whole[0])):
            self._document = self._lines
            return []
        self._lines = rest
        return self._pieces([bytes(line) for line in whole if line.strip()])

    def finish(self) -> list[Piece]:
        """Return what a stream without its last line end still held.

        Raises InputError also where nothing in the stream was of a known format.
        """
        if self._document is not None:
            return _document_pieces(bytes(self._document))
        if self._lines is None:
            pieces = self._pieces([event.data for event in self._events.finish()])
        else:
            rest, self._lines = bytes(self._lines), bytearray()
            if self._number == 0:
                return _document_pieces(rest)
            pieces = self._pieces([rest] if rest.strip() else [])
        if self._decode is None:
            raise InputError(UNKNOWN)
        return pieces

    def _pieces(self, events: list[bytes]) -> list[Piece]:
        pieces: list[Piece] = []
        for data in events:
            self._number += 1
            if data == openai.DONE or not data.strip():
                continue
            try:
                pieces += self._read(data)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise InputError(f"event {self._number} cannot be read: {error}") from None
        return pieces

    def _read(self, data: bytes) -> list[Piece]:
        if self._decode is None or b'"error"' in data:
            probe = _probes.decode(data)
            _refuse_error(probe.error)
            self._decode = self._decode or _format(probe)
        return self._decode(data) if self._decode else []


def _format(probe: _Probe) -> Decode | None:
    """Whose object this is; None where it does not tell."""
    if probe.choices is not msgspec.UNSET:
        return openai.chunk_pieces
    if probe.candidates is not msgspec.UNSET:
        return gemini.chunk_pieces
    if isinstance(probe.type, str):
        return openai.response_pieces if probe.type.startswith("response.") else anthropic.event_pieces
    return ollama.line_pieces if probe.done is not msgspec.UNSET else None


def _refuse_error(error: Any) -> None:
    """Raise InputError if a provider's object carries an error."""
    if error is msgspec.UNSET or error is None:
        return
    message = error.get("message", error) if isinstance(error, dict) else error
    raise InputError(f"the provider reports an error: {str(message)[:SHOWN]}")


def _document_pieces(data: bytes) -> list[Piece]:
    """The pieces of a reply that came whole, not streamed; raises the error that came instead."""
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise InputError(UNKNOWN) from None
    if isinstance(document, dict):
        _refuse_error(document.get("error"))
    pieces = [Piece(found.text, found.channel) for found in documents.find(document)]
    if not pieces:
        raise InputError(UNKNOWN)
    return pieces


def _bounded(waiting: bytearray) -> None:
    if len(waiting) > LINE_CAP:
        raise InputError(f"a line of the stream has no end after {LINE_CAP:,} bytes: is this a stream?")
