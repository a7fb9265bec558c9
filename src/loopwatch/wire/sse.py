r"""Server-sent events: bytes in, events out, however the bytes were cut.

The format is the HTML standard's, section 9.2. Lines end with LF, CR or CRLF and with nothing else:
U+2028, U+0085 and ``\x0b``, at which ``str.splitlines`` would cut, stand inside model replies. Bytes
stay bytes, so a character split between two reads cannot break and JSON is decoded without a copy.

One departure, which providers need: where the data lines of one event are each a whole JSON value or
the sentinel ``[DONE]``, they are separate events. Some servers leave out the blank line between two
chunks; joined with a line feed, as the standard says, they would be no JSON at all.
"""

from typing import NamedTuple

import msgspec

from loopwatch.errors import InputError

LINE_CAP = 8 * 1_024 * 1_024
"""Bytes of a line, or of an event, without an end at which the stream is given up: no chunk comes near."""

ENDLESS = "{} of the stream has no end after " + f"{LINE_CAP:,} bytes: is this an event stream?"
SENTINEL = b"[DONE]"
CR, LF = b"\r\n"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
MAYBE_A_MARK = (b"", BYTE_ORDER_MARK[:1], BYTE_ORDER_MARK[:2])
"""First bytes of a stream that the next read may make a byte order mark."""


class Event(NamedTuple):
    """One event: its data, and its type (``message`` where the server named none)."""

    data: bytes
    event: str = "message"


class SSEDecoder:
    """Feed it what arrives; it gives back the events that are complete."""

    __slots__ = ("_data", "_event", "_pending", "_size", "_skip_lf", "_started")

    def __init__(self) -> None:
        """Start at the beginning of a stream."""
        self._pending = bytearray()
        self._data: list[bytes] = []
        self._event = b""
        self._size = 0
        self._skip_lf = False
        self._started = False

    def feed(self, data: bytes) -> list[Event]:
        """Take the next bytes; return the events they complete. Raises InputError on an endless line."""
        events: list[Event] = []
        for line in self._lines(data):
            if line:
                self._field(line)
            else:
                events += self._dispatch()
        return events

    def finish(self) -> list[Event]:
        """Return what a stream that ended without its last blank line still held.

        The standard drops it; a provider that closes early has paid for it, so we do not.
        """
        if self._pending:
            self._field(bytes(self._pending))
            self._pending.clear()
        return self._dispatch()

    def _lines(self, data: bytes) -> list[bytes]:
        """The lines that end in ``data``, without their ends; the rest waits."""
        if self._skip_lf and data:
            data = data[1:] if data.startswith(b"\n") else data
            self._skip_lf = False
        pending = self._pending
        scan_from = len(pending)
        pending += data
        if not self._started and pending not in MAYBE_A_MARK:
            self._started = True
            if pending.startswith(BYTE_ORDER_MARK):
                del pending[: len(BYTE_ORDER_MARK)]
                scan_from = 0
        lines: list[bytes] = []
        start = 0
        while (end := _line_end(pending, max(start, scan_from))) >= 0:
            lines.append(bytes(pending[start:end]))
            start = end + 1
            if pending[end] == CR:
                if start == len(pending):
                    self._skip_lf = True
                elif pending[start] == LF:
                    start += 1
        del pending[:start]
        if len(pending) > LINE_CAP:
            raise InputError(ENDLESS.format("a line"))
        return lines

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
            self._size += len(value)
            if self._size > LINE_CAP:
                raise InputError(ENDLESS.format("an event"))
        elif name == b"event":
            self._event = value
        # A comment has no name; id and retry are for reconnecting, which a reply cannot do.

    def _dispatch(self) -> list[Event]:
        lines, self._data, self._size = self._data, [], 0
        event, self._event = self._event.decode("utf-8", "replace") or "message", b""
        if len(lines) > 1 and not all(line == SENTINEL or is_json(line) for line in lines):
            lines = [b"\n".join(lines)]
        return [Event(line, event) for line in lines]


def _line_end(data: bytearray, start: int) -> int:
    """The index of the first CR or LF from ``start`` on, or -1."""
    lf = data.find(b"\n", start)
    cr = data.find(b"\r", start, lf if lf >= 0 else len(data))
    return cr if cr >= 0 else lf


def is_json(line: bytes) -> bool:
    """Whether ``line`` is one whole JSON value."""
    try:
        msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True
