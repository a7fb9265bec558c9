"""Answers that the caller reads as HTTP (``with_raw_response``, ``with_streaming_response``), with an ear.

The vendors hand out httpx2's own response there, or a stream that they build on it later. Whatever reads it,
lines, text, JSON or the vendor's stream, asks ``iter_bytes``: so a subclass of just that response's class
hears every byte once, and the caller has it as it came. Only a chunk that we asked for ourselves is kept
back, and nothing comes after a cut.
"""

import re
import weakref
from collections.abc import AsyncIterator, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from loopwatch.errors import InputError, LoopTripped
from loopwatch.sdk.guarding import QuietCut
from loopwatch.wire.lines import LINE_CAP
from loopwatch.wire.sse import SSEDecoder

if TYPE_CHECKING:
    from loopwatch.sdk.watching import Verdict, Watched

_EVENT_END = re.compile(rb"\r\n\r\n|\n\n|\r\r")
HEARD_BYTES = 32_000_000
"""Of an answer that is no stream so many bytes are kept to read its usage; of a larger one it is unknown."""


class RawEar:
    """Hears the bytes of one response. ``pulling`` while the next of them are on their way."""

    __slots__ = ("_deaf", "_decoder", "_held", "pulling", "watched")

    def __init__(self, watched: "Watched") -> None:
        self.watched = watched
        self.pulling = False
        self._decoder = SSEDecoder()
        self._held = bytearray()
        self._deaf = False

    def pass_on(self, chunk: bytes) -> Iterator[bytes]:
        """What the caller is to have now. Raises LoopTripped at a loop, QuietCut where that is not wanted."""
        if self._deaf:
            yield chunk
            return
        self._held += chunk
        if not self.watched.question.streams:
            self._deaf = len(self._held) > HEARD_BYTES
            yield chunk
            return
        while (end := _EVENT_END.search(self._held)) is not None:
            event = bytes(self._held[: end.end()])
            del self._held[: end.end()]
            verdicts = self._heard(event)
            if "cut" in verdicts:
                raise self.watched.tripped() or QuietCut
            if verdicts != {"hide"}:
                yield event
        if len(self._held) > LINE_CAP:
            self._deaf = True
        if self._deaf:
            yield self._rest()

    def finish(self) -> bytes:
        """The answer is complete: what the caller is to have still."""
        watched = self.watched
        if not watched.question.streams:
            if self._deaf:
                watched.fail()
            else:
                watched.read(bytes(self._held))
            return b""
        rest = self._rest()
        if rest and not self._deaf:
            self._heard(rest + b"\n\n")
        watched.end()
        return rest

    def _rest(self) -> bytes:
        rest = bytes(self._held)
        self._held.clear()
        return rest

    def _heard(self, event: bytes) -> "set[Verdict]":
        try:
            return {self.watched.hear(one.data) for one in self._decoder.feed(event)}
        except InputError:  # no stream of events: the caller's own reader will say so
            self._deaf = True
            return set()


def listen(response: Any, watched: "Watched") -> None:
    """Hear a response that is still to be read; the call ends with it, or when it is forgotten."""
    kind: Any = type(response)
    response.__class__ = _listening(kind)
    response._loopwatch = RawEar(watched)  # noqa: SLF001  ours
    weakref.finalize(response, watched.end)


@lru_cache(maxsize=16)
def _listening(base: Any) -> Any:
    body = _methods(base) | _async_methods(base)
    return type(base.__name__, (base,), {**body, "__module__": base.__module__})


def _methods(base: Any) -> dict[str, Any]:
    def iter_bytes(self: Any, chunk_size: int | None = None) -> Iterator[bytes]:
        ear: RawEar = self._loopwatch
        chunks = base.iter_bytes(self, chunk_size)
        try:
            while (chunk := _next(ear, chunks)) is not None:
                yield from ear.pass_on(chunk)
            rest = ear.finish()
        except (LoopTripped, QuietCut) as cut:
            chunks.close()
            self.close()
            if isinstance(cut, LoopTripped):
                raise
            return
        finally:
            _over(self, ear)
        if rest:
            yield rest

    def close(self: Any) -> None:
        base.close(self)
        _over(self, self._loopwatch)

    return {"iter_bytes": iter_bytes, "close": close}


def _next(ear: RawEar, chunks: Iterator[bytes]) -> bytes | None:
    ear.pulling = True
    try:
        return next(chunks, None)
    finally:
        ear.pulling = False


def _async_methods(base: Any) -> dict[str, Any]:
    async def aiter_bytes(self: Any, chunk_size: int | None = None) -> AsyncIterator[bytes]:
        ear: RawEar = self._loopwatch
        chunks = base.aiter_bytes(self, chunk_size)
        try:
            while (chunk := await _anext(ear, chunks)) is not None:
                for piece in ear.pass_on(chunk):
                    yield piece
            rest = ear.finish()
        except (LoopTripped, QuietCut) as cut:
            await chunks.aclose()
            await self.aclose()
            if isinstance(cut, LoopTripped):
                raise
            return
        finally:
            _over(self, ear)
        if rest:
            yield rest

    async def aclose(self: Any) -> None:
        await base.aclose(self)
        _over(self, self._loopwatch)

    return {"aiter_bytes": aiter_bytes, "aclose": aclose}


async def _anext(ear: RawEar, chunks: AsyncIterator[bytes]) -> bytes | None:
    ear.pulling = True
    try:
        return await anext(chunks, None)
    finally:
        ear.pulling = False


def _over(response: Any, ear: RawEar) -> None:
    """End the call, but not while its last bytes are under way: httpx2 closes before it hands them out."""
    if response.is_closed and not ear.pulling:
        ear.watched.end()
