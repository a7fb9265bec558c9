"""The vendors' own streams, with an ear in them.

``post(stream_cls=…)`` is how OpenAI's and Anthropic's clients are told what to build a stream with. Ours
are subclasses of just that class, so whoever gets one has a stream of the vendor's. They hear the data of
each server-sent event before the vendor reads it.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from copy import copy
from functools import lru_cache
from types import new_class
from typing import TYPE_CHECKING, Any, get_origin

from loopwatch.errors import LoopTripped
from loopwatch.sdk.guarding import QuietCut

if TYPE_CHECKING:
    from loopwatch.sdk.watching import Watched


class Ear:
    """What a stream and the vendor's copies of it share: the call that is being watched, if any.

    ``owner`` is the stream that the caller holds: when that one is gone, nobody reads on.
    """

    __slots__ = ("owner", "watched")

    def __init__(self, owner: int) -> None:
        self.owner = owner
        self.watched: Watched | None = None

    def end(self) -> None:
        """The stream is over."""
        if self.watched is not None:
            self.watched.end()

    def hears(self, data: str) -> bool:
        """Whether an event is the caller's. Raises LoopTripped at a loop, or QuietCut where wanted."""
        watched = self.watched
        if watched is None:
            return True
        verdict = watched.hear(data.encode("utf-8", "surrogatepass"))
        if verdict == "cut":
            raise watched.tripped() or QuietCut
        return verdict == "pass"


def ear_of(answer: object) -> Ear | None:
    """The ear of a stream of ours; None of anything else."""
    ear = getattr(answer, "_loopwatch", None)
    return ear if isinstance(ear, Ear) else None


@lru_cache(maxsize=256)
def with_ear(stream_cls: Any) -> Any:
    """The class ``stream_cls`` (also ``Stream[Chunk]``), with an ear."""
    base = get_origin(stream_cls) or stream_cls
    body = _async_body if hasattr(base, "__aiter__") else _body
    return new_class(base.__name__, (stream_cls,), {}, lambda namespace: namespace.update(body(base)))


def _shared(base: Any) -> dict[str, Any]:
    def __init__(self: Any, **options: Any) -> None:  # noqa: N807  it becomes a method
        self._loopwatch = Ear(id(self))
        base.__init__(self, **options)

    def __del__(self: Any) -> None:  # noqa: N807  as above
        ear = self.__dict__.get("_loopwatch")
        if ear is not None and ear.owner == id(self):
            ear.end()

    return {"__init__": __init__, "__del__": __del__, "__module__": base.__module__}


def _body(base: Any) -> dict[str, Any]:
    def _iter_events(self: Any) -> Iterator[Any]:
        ear = self._loopwatch
        try:
            for event in base._iter_events(self):  # noqa: SLF001  a subclass may
                if ear.hears(event.data):
                    yield event
        except (LoopTripped, QuietCut) as cut:
            self.response.close()
            ear.end()
            if isinstance(cut, LoopTripped):
                raise

    def __stream__(self: Any) -> Iterator[Any]:  # noqa: N807  the vendors' name for it
        return _until_over(base.__stream__, copy(self))  # the copy, that stream and generator form no cycle

    def close(self: Any) -> None:
        try:
            base.close(self)
        finally:
            self._loopwatch.end()

    return _shared(base) | {"_iter_events": _iter_events, "__stream__": __stream__, "close": close}


def _until_over(stream: Callable[[Any], Iterator[Any]], of: Any) -> Iterator[Any]:
    try:
        yield from stream(of)
    finally:
        of._loopwatch.end()  # noqa: SLF001  ours


def _async_body(base: Any) -> dict[str, Any]:
    async def _iter_events(self: Any) -> AsyncIterator[Any]:
        ear = self._loopwatch
        try:
            async for event in base._iter_events(self):  # noqa: SLF001  a subclass may
                if ear.hears(event.data):
                    yield event
        except (LoopTripped, QuietCut) as cut:
            await self.response.aclose()
            ear.end()
            if isinstance(cut, LoopTripped):
                raise

    def __stream__(self: Any) -> AsyncIterator[Any]:  # noqa: N807  the vendors' name for it
        return _until_over_async(base.__stream__, copy(self))  # as above

    async def close(self: Any) -> None:
        try:
            await base.close(self)
        finally:
            self._loopwatch.end()

    return _shared(base) | {"_iter_events": _iter_events, "__stream__": __stream__, "close": close}


async def _until_over_async(stream: Callable[[Any], AsyncIterator[Any]], of: Any) -> AsyncIterator[Any]:
    inner: Any = stream(of)
    try:
        async for item in inner:
            yield item
    finally:
        of._loopwatch.end()  # noqa: SLF001  ours
        await inner.aclose()
