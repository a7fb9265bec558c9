"""``watch``: guard any stream of text, sync or async. The one place in ``detect`` that raises.

The stream is handed through piece by piece while a detector reads along. At the trip the source is
closed (so that a provider stops sending) and ``LoopTripped`` raised; the piece that tripped is not
handed out any more, and is part of ``LoopTripped.text``.
"""

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import Any, overload

from loopwatch.detect.engine import LoopDetector
from loopwatch.detect.settings import LoopDetection
from loopwatch.detect.trip import Trip
from loopwatch.errors import LoopTripped


@overload
def watch(stream: Iterable[str], settings: LoopDetection | str | None = None) -> "WatchedStream": ...
@overload
def watch(
    stream: AsyncIterable[str], settings: LoopDetection | str | None = None
) -> "AsyncWatchedStream": ...
def watch(
    stream: Iterable[str] | AsyncIterable[str], settings: LoopDetection | str | None = None
) -> "WatchedStream | AsyncWatchedStream":
    """Iterate over ``stream``, a reply's pieces of text, until it becomes a loop.

    ``settings`` is a LoopDetection or a preset's name, ``balanced`` by default. Raises LoopTripped at
    the trip. ``for piece in watch(pieces): …`` or ``async for piece in watch(pieces): …``
    """
    if isinstance(settings, str):
        settings = LoopDetection.preset(settings)
    if isinstance(stream, AsyncIterable):
        return AsyncWatchedStream(stream, settings)
    return WatchedStream(stream, settings)


class _Watched:
    """What both kinds of watched stream know: the detector and the text so far."""

    def __init__(self, settings: LoopDetection | None) -> None:
        """Start at the beginning of a reply."""
        self.detector = LoopDetector(settings)
        self._pieces: list[str] = []

    @property
    def text(self) -> str:
        """All that has been received, also after a trip."""
        return "".join(self._pieces)

    def _take(self, piece: str) -> Trip | None:
        self._pieces.append(piece)
        return self.detector.push(piece)


class WatchedStream(_Watched, Iterator[str]):
    """A guarded iterator of text; ``close`` closes its source."""

    def __init__(self, stream: Iterable[str], settings: LoopDetection | None) -> None:
        """Guard ``stream``."""
        super().__init__(settings)
        self._source = stream
        self._iterator = iter(stream)

    def __next__(self) -> str:
        """The next piece. Raises LoopTripped when it makes the reply a loop."""
        piece = next(self._iterator)
        trip = self._take(piece)
        if trip is None:
            return piece
        try:
            self.close()
        finally:
            raise LoopTripped(trip, self.text)  # also where closing fails

    def close(self) -> None:
        """Close the source and its iterator, where they can be closed (generators and SDKs' streams can).

        Often they are two: an SDK's stream is no generator, but its iterator is, and closing that alone
        would leave the connection open.
        """
        for source in (self._iterator, self._source):
            close: Any = getattr(source, "close", None)
            if close is not None:
                close()


class AsyncWatchedStream(_Watched, AsyncIterator[str]):
    """A guarded async iterator of text; ``aclose`` closes its source."""

    def __init__(self, stream: AsyncIterable[str], settings: LoopDetection | None) -> None:
        """Guard ``stream``."""
        super().__init__(settings)
        self._source = stream
        self._iterator = aiter(stream)

    async def __anext__(self) -> str:
        """The next piece. Raises LoopTripped when it makes the reply a loop."""
        piece = await anext(self._iterator)
        trip = self._take(piece)
        if trip is None:
            return piece
        try:
            await self.aclose()
        finally:
            raise LoopTripped(trip, self.text)  # as above

    async def aclose(self) -> None:
        """Close the source and its iterator, where they can be closed."""
        for source in (self._iterator, self._source):
            close: Any = getattr(source, "aclose", None) or getattr(source, "close", None)
            closing = close() if close is not None else None
            if closing is not None:
                await closing
