"""``StreamReader``: the bytes of a reply as they arrive, whoever sends them -> pieces of text.

Server-sent events or one JSON object a line; OpenAI's, Anthropic's, Gemini's or Ollama's objects: the
first ones tell. A stream speaks one format from beginning to end. A reply that came whole, because
nobody asked for a stream, is read as well.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from loopwatch.errors import InputError
from loopwatch.wire import anthropic, documents, gemini, ollama, openai, responses
from loopwatch.wire.decoding import anything, is_json
from loopwatch.wire.faults import complaint
from loopwatch.wire.lines import BYTE_ORDER_MARK, LINE_CAP, Lines, first_mark
from loopwatch.wire.pieces import Piece
from loopwatch.wire.sse import SSEDecoder

Decode = Callable[[bytes], list[Piece]]

UNKNOWN = "this is no stream of a known format: OpenAI's, Anthropic's, Gemini's and Ollama's can be read"
EMPTY = "the stream is empty"
ENDLESS = f"the document has no end after {LINE_CAP:,} bytes: is this a stream?"
SIDE_BY_SIDE = 128
"""Replies of one stream that are read, as many as OpenAI gives: each needs a detector of its own."""

CROWDED = f"more than {SIDE_BY_SIDE} replies side by side: the others are not read"

PASSED_OVER = (openai.DONE, b":")
"""How the data of an event may begin that carries nothing: the end, and a comment that a relay re-sent."""


class Fault(NamedTuple):
    """What went wrong at one place of a stream; after a ``final`` one nothing more is to be expected."""

    reason: str
    final: bool = False


class StreamReader:
    """Feed it what arrives; it gives back the pieces of text that are complete, and what went wrong.

    The same bytes give the same pieces, however they were cut. An event that cannot be read is a Fault
    and the rest goes on; an error that the provider reports is a Fault too.
    """

    __slots__ = (
        *("_crowded", "_decode", "_document", "_events", "_head", "_known", "_lines"),
        *("_number", "_replies", "_seen", "_size"),
    )

    def __init__(self) -> None:
        """Start at the beginning of a stream."""
        self._head: bytes | None = b""  # what came before it is known whether these are events or lines
        self._events = SSEDecoder()
        self._lines: Lines | None = None  # where it is one object a line, or one over several
        self._document: list[bytes] | None = None  # the lines of one over several
        self._size = 0  # of that
        self._decode: Decode | None = None
        self._known = False
        self._number = 0
        self._replies = 0  # that came whole
        self._seen: set[int] = set()
        self._crowded = False

    def feed(self, data: bytes) -> list[Piece | Fault]:
        """Take the next bytes; return what they complete.

        Raises InputError on a line or an event without end; where others end before it, the next call
        does.
        """
        if self._head is not None:
            data = self._begin(self._head + data)
        if self._lines is None:
            return self._read_events(event.data for event in self._events.feed(data))
        return self._read_lines(self._lines.feed(data))

    def finish(self) -> list[Piece | Fault]:
        """Return what a stream without its last line end still held.

        Raises InputError also where the stream is empty, or nothing in it was of a known format.
        """
        if self._head is not None and not self._head.removeprefix(BYTE_ORDER_MARK).strip():
            raise InputError(EMPTY)
        if self._lines is None:
            read = self._read_events(event.data for event in self._events.finish())
        else:
            read = self._read_lines([self._lines.finish()])
        if self._document is not None:
            document, self._document = b"\n".join(self._document), None
            if is_json(document):
                read = self._read_events([document])
        if not self._known:
            raise InputError(UNKNOWN)
        return read

    def _begin(self, head: bytes) -> bytes:
        """Tell events from lines by the first character of a stream; return what is to be read now."""
        start = first_mark(head)
        if start is None:
            self._head = head
            return b""
        self._head = None
        if start in (b"{", b"["):
            self._lines = Lines()
        return head

    def _read_lines(self, lines: list[bytes]) -> list[Piece | Fault]:
        read: list[Piece | Fault] = []
        for line in lines:
            if self._document is not None:
                self._document.append(line)
                self._size += len(line) + 1
                if self._size > LINE_CAP:
                    raise InputError(ENDLESS)
            elif self._number == 0 and line.strip() and not is_json(line):
                self._document = [line]
            else:
                read += self._read_events([line])
        return read

    def _read_events(self, events: Iterable[bytes]) -> list[Piece | Fault]:
        read: list[Piece | Fault] = []
        for data in events:
            if not data.strip() or data.startswith(PASSED_OVER):
                continue
            self._number += 1
            try:
                read += self._admitted(self._read(data))
            except msgspec.DecodeError as error:
                self._known = True  # well enough to have said what is wrong
                read.append(Fault(f"event {self._number} cannot be read: {error}"))
        return read

    def _admitted(self, read: list[Piece] | list[Fault]) -> Iterator[Piece | Fault]:
        """What may be read of it: of a crowd of replies only the first ones."""
        for one in read:
            if isinstance(one, Fault) or one.reply in self._seen:
                yield one
            elif len(self._seen) < SIDE_BY_SIDE:
                self._seen.add(one.reply)
                yield one
            elif not self._crowded:
                self._crowded = True
                yield Fault(CROWDED)

    def _read(self, data: bytes) -> list[Piece] | list[Fault]:
        if self._decode is not None and b'"error"' not in data:
            pieces = self._decode(data)
            if pieces or self._lines is None:
                return pieces
        value = anything(data)
        items = value if isinstance(value, list) else [value]
        for item in items:
            said = complaint(item)
            if said is not None:
                self._known = True
                return [Fault(f"the provider reports an error: {said}", final=True)]
        self._decode = self._decode or _format(value)
        self._known = self._known or self._decode is not None
        pieces = self._decode(data) if self._decode is not None else []
        return pieces if pieces or self._lines is None else self._whole(items)

    def _whole(self, items: list[Any]) -> list[Piece]:
        """The pieces of a reply that was not streamed, or was streamed as one list."""
        pieces: list[Piece] = []
        places: dict[str, int] = {}
        for item in items:
            found = documents.find(item)
            self._known = self._known or found is not None
            for text, channel, place in found or ():
                reply = places.setdefault(place, self._replies + len(places))
                pieces += [Piece(text, channel, reply)] if text else []
        self._replies += len(places)
        return pieces


def _format(value: Any) -> Decode | None:
    """Whose object this is; None where it does not tell."""
    if not isinstance(value, dict):
        return None
    if "choices" in value:
        return openai.chunk_pieces
    if "candidates" in value or "promptFeedback" in value:
        return gemini.chunk_pieces
    kind = value.get("type")
    if isinstance(kind, str) and kind.startswith("response."):
        return responses.event_pieces
    if isinstance(kind, str) and kind.startswith(("message_", "content_block_")):
        return anthropic.event_pieces
    return ollama.line_pieces if "done" in value else None
