"""A copy of a reply is read while it is relayed: cut into events, heard, and stopped at the loop."""

import re
from collections.abc import Iterable, Iterator
from typing import Protocol

from loopwatch.errors import InputError
from loopwatch.proxy.dialects.dialect import Framing
from loopwatch.sdk.watching import Watched
from loopwatch.wire.array import Elements
from loopwatch.wire.lines import LINE_CAP, Lines
from loopwatch.wire.sse import PLAIN, SSEDecoder

_BLANK = re.compile(rb"\A[\r\n]+|\r\n\r\n|\n\n|\r\r")
"""Where events end; at the beginning of a read perhaps one whose end has begun in the last one."""
_END = re.compile(rb"\n|\r(?!\n)")


TOGETHER = 8
"""Events of a token each that are heard together, after they were relayed: quicker than one by
one, between the event loop's other work. A verdict is up to seven tokens late; the rules of ``balanced``
look every 128 characters, some thirty tokens, anyway."""


class Cutter(Protocol):
    """Cuts a stream into what is heard at once; ``waiting`` events have come and are not heard yet."""

    @property
    def waiting(self) -> int:
        """How many."""

    def feed(self, data: bytes) -> Iterable[tuple[list[bytes], int]]:
        """The events that ``data`` completes, and how many of its bytes had come by then.

        Raises InputError on one without end.
        """


class _Events:
    def __init__(self) -> None:
        self._decoder = SSEDecoder()
        self._waiting: list[bytes] = []

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def feed(self, data: bytes) -> Iterable[tuple[list[bytes], int]]:
        if data.find(b"\n\n") == len(data) - 2 and data.startswith(PLAIN):  # as nearly all reads are
            self._waiting.append(data)
            return self._heard(len(data)) if len(self._waiting) >= TOGETHER else ()
        return (*self._heard(0), *self._several(data)) if self._waiting else self._several(data)

    def _heard(self, end: int) -> Iterable[tuple[list[bytes], int]]:
        """The events that have waited; the last of them ends at ``end``."""
        waiting, self._waiting = self._waiting, []
        feed = self._decoder.feed
        return (([event.data for one in waiting for event in feed(one)], end),)

    def _several(self, data: bytes) -> Iterator[tuple[list[bytes], int]]:
        start = 0
        for blank in _BLANK.finditer(data):
            end = blank.end()
            yield [event.data for event in self._decoder.feed(data[start:end])], end
            start = end
        if start < len(data):
            yield [event.data for event in self._decoder.feed(data[start:])], len(data)


class _Lines:
    waiting = 0

    def __init__(self) -> None:
        self._lines = Lines()

    def feed(self, data: bytes) -> Iterator[tuple[list[bytes], int]]:
        start = 0
        for ending in _END.finditer(data):
            end = ending.end()
            yield [line for line in self._lines.feed(data[start:end]) if line.strip()], end
            start = end
        if start < len(data):
            yield self._lines.feed(data[start:]), len(data)


class _Array:
    waiting = 0

    def __init__(self) -> None:
        self._elements = Elements()

    def feed(self, data: bytes) -> Iterator[tuple[list[bytes], int]]:
        for element, end in self._elements.feed(data):
            yield [element], end


_CUTTERS: dict[Framing, type[Cutter]] = {"events": _Events, "lines": _Lines, "array": _Array}


class Hears(Protocol):
    """Who is told of every event besides: a tail, an assembler."""

    def hear(self, data: bytes) -> None:
        """Take note of an event's data."""


class Watch:
    """Reads the copy of one stream. ``fault`` says why it had to stop reading, where it had to."""

    __slots__ = ("_cutter", "_listener", "_watched", "fault")

    def __init__(self, watched: Watched, listener: Hears, framing: Framing) -> None:
        """Start at the beginning of a stream."""
        self._watched = watched
        self._listener = listener
        self._cutter: Cutter = _CUTTERS[framing]()
        self.fault: str | None = None

    @property
    def progress(self) -> int:
        """It grows with every event that carries something."""
        return self._watched.draft.progress + self._cutter.waiting

    def read(self, data: bytes) -> int | None:
        """Read what has arrived; at a loop, how many bytes of it are still to be relayed."""
        if self.fault is not None:
            return None
        hear, listen = self._watched.hear, self._listener.hear
        try:
            for events, end in self._cutter.feed(data):
                is_cut = False
                for event in events:
                    listen(event)
                    is_cut = hear(event) == "cut" or is_cut
                if is_cut:
                    return end
        except InputError as error:
            self.fault = str(error)
        return None

    def finish(self) -> None:
        """The stream is over: what its last event still held is heard, though nobody can be cut any more."""
        self.read(b"\n\n")


class Whole:
    """Reads the copy of a document: its figures are of use, its text is there already."""

    __slots__ = ("_body", "_watched", "fault", "progress")

    def __init__(self, watched: Watched) -> None:
        """Start before the first byte."""
        self._watched = watched
        self._body: bytearray | None = bytearray()
        self.fault: str | None = None
        self.progress = 0

    def read(self, data: bytes) -> int | None:
        """Keep what has arrived, unless it is too much."""
        self.progress += 1
        if self._body is not None:
            self._body += data
            if len(self._body) > LINE_CAP:
                self._body = None
        return None

    def finish(self) -> None:
        """It is complete."""
        if self._body:
            self._watched.read(bytes(self._body))
