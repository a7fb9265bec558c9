"""Server-sent events: bytes in, events out, however the bytes were cut.

The format is the HTML standard's, section 9.2. Bytes stay bytes, so JSON is decoded without a copy.

One departure, which providers need: where the data lines of one event are each a whole JSON value or
the sentinel ``[DONE]``, they are separate events. Some servers leave out the blank line between two
chunks; joined with a line feed, as the standard says, they would be no JSON at all.
"""

import msgspec

from loopwatch.errors import InputError
from loopwatch.wire.decoding import is_json
from loopwatch.wire.lines import ENDLESS, LINE_CAP, Lines

SENTINEL = b"[DONE]"
PLAIN = b"data: "
"""How an event begins that is nothing but one line of data, as nearly all of a reply's are."""


class Event(msgspec.Struct, frozen=True, gc=False):  # a struct: one is made for each token
    """One event: its data, and its type (``message`` where the server named none)."""

    data: bytes
    event: str = "message"


class SSEDecoder:
    """Feed it what arrives; it gives back the events that are complete."""

    __slots__ = ("_between", "_data", "_endless", "_event", "_lines", "_size")

    def __init__(self) -> None:
        """Start at the beginning of a stream."""
        self._lines = Lines()
        self._data: list[bytes] = []
        self._event = b""
        self._size = 0
        self._endless = False
        self._between = False  # whether what comes next begins an event

    def feed(self, data: bytes) -> list[Event]:
        """Take the next bytes; return the events they complete.

        Raises InputError on an endless line or event; where others end before it, the next call does.
        """
        if self._between and _is_one(data):
            return [Event(data[len(PLAIN) : -2])]
        self._refuse_endless()
        events: list[Event] = []
        for line in self._lines.feed(data):
            if not line:
                events += self._dispatch()
                continue
            self._field(line)
            if self._endless:
                break
        if not events:
            self._refuse_endless()
        self._between = self._lines.between and not (self._data or self._event or self._endless)
        return events

    def finish(self) -> list[Event]:
        """Return what a stream that ended without its last blank line still held.

        The standard drops it; a provider that closes early has paid for it, so we do not.
        """
        self._refuse_endless()
        last = self._lines.finish()
        if last:
            self._field(last)
            self._refuse_endless()
        return self._dispatch()

    def _refuse_endless(self) -> None:
        if self._endless:
            raise InputError(ENDLESS.format("an event"))

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
            self._size += len(value) + 1  # empty ones count too, or there is no bound
            self._endless = self._size > LINE_CAP
        elif name == b"event":
            self._event = value
        # A comment has no name; id and retry are for reconnecting, which a reply cannot do.

    def _dispatch(self) -> list[Event]:
        lines, self._data, self._size = self._data, [], 0
        event, self._event = self._event.decode("utf-8", "replace") or "message", b""
        if len(lines) > 1 and not all(line == SENTINEL or is_json(line) for line in lines):
            lines = [b"\n".join(lines)]
        return [Event(line, event) for line in lines]


def _is_one(data: bytes) -> bool:
    """Whether ``data`` is one whole event of one line of data: what a provider sends for a token."""
    return (
        data.startswith(PLAIN)
        and data.find(b"\n") == len(data) - 2
        and data.endswith(b"\n\n")
        and b"\r" not in data
        and len(data) <= LINE_CAP
    )
