"""A stream is handed on as it arrives, and ended where it becomes a loop."""

import itertools
from typing import TYPE_CHECKING

from multidict import CIMultiDict
from yarl import URL

from loopwatch.client.status import is_success
from loopwatch.detect.settings import CHANNELS
from loopwatch.proxy.asking import Asking, is_half_call
from loopwatch.proxy.dialects.dialect import Asked, Framing, Tail
from loopwatch.proxy.headers import content_type, encoding
from loopwatch.proxy.incoming import Incoming
from loopwatch.proxy.unpacking import Unpacker, unpacker
from loopwatch.proxy.watching import Watch
from loopwatch.sdk.guarding import Guard
from loopwatch.sdk.watching import Watched

if TYPE_CHECKING:
    from collections.abc import Iterable

CHANGED = ("content-length", "content-encoding")
"""Headers that no longer hold once a stream may be ended, or is unpacked, on the way."""
NOTHING = Asked("", "", {}, {})


class Streamed:
    """Relays the answer to one request."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking
        self._retries = asking.house.settings.on_trip == "retry" and asking.inquiry.is_single

    async def relay(self, url: URL, headers: CIMultiDict[str], body: bytes) -> None:
        """Ask, and relay what comes. Raises Broken, Refusal and ClientGone."""
        for attempt in itertools.count(1):
            async with self._asking.opened(url, headers, body) as (incoming, watched):
                response = incoming.response
                framing = self._asking.inquiry.dialect.framing(content_type(response))
                packed = encoding(response)
                unpacking = unpacker(packed) if packed else None
                if framing is None or not is_success(response.status) or (packed and unpacking is None):
                    await self._asking.relay_plain(incoming, watched)
                    return
                course = _Course(self._asking, incoming, watched, framing, holds=self._retries)
                looped = await course.run(unpacking)
            if looped is None:
                return
            await self._asking.discard(attempt, watched, looped)


class _Course:
    """One stream from its first event to its last."""

    def __init__(
        self, asking: Asking, incoming: Incoming, watched: Watched, framing: Framing, *, holds: bool
    ) -> None:
        inquiry = asking.inquiry
        self._asking = asking
        self._client = asking.client
        self._incoming = incoming
        self._watched = watched
        self._tail: Tail = inquiry.dialect.tail(inquiry.asked or NOTHING, framing)
        self._watch = Watch(watched, self._tail, framing)
        self._held: list[bytes] | None = [] if holds else None

    async def run(self, unpacking: Unpacker | None) -> Guard | None:
        """Relay it. Returns the verdict where it looped before any of it was relayed, else None."""
        incoming, watch, read, write = self._incoming, self._watch, self._watch.read, self._client.write
        if self._held is None:
            await self._start()
        progress = 0
        while data := await incoming.read():
            pieces: Iterable[bytes] = (data,) if unpacking is None else unpacking.feed(data)
            for piece in pieces:
                cut_at = read(piece)
                if cut_at is not None:
                    return await self._cut(piece[:cut_at])
                if self._held is not None:
                    await self._hold(piece)
                else:
                    await write(piece)
            if watch.progress != progress or watch.fault is not None:
                progress = watch.progress
                incoming.progressed()
        self._asking.finished(self._watched, watch)
        await self._release()
        await self._client.end()
        return None

    async def _start(self) -> None:
        response = self._incoming.response
        await self._client.start(response.status, self._asking.head(response, without=CHANGED))

    async def _hold(self, piece: bytes) -> None:
        """Keep a piece back, or let all go where there is enough of it."""
        assert self._held is not None  # noqa: S101  the caller has looked
        self._held.append(piece)
        chars = sum(len(self._watched.draft.text(channel)) for channel in CHANNELS)
        if chars >= self._asking.house.settings.hold or self._watch.fault is not None:
            await self._release()

    async def _release(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            await self._start()
            await self._client.write(b"".join(held))

    async def _cut(self, rest: bytes) -> Guard | None:
        """It has become a loop: drop it, and end what the client has in its own format."""
        asking, watched, guard = self._asking, self._watched, self._watched.guard
        assert guard is not None  # noqa: S101  it has judged
        self._incoming.response.drop()
        watched.end()
        if self._held is not None:
            return guard
        fails = asking.house.settings.on_trip == "error" or is_half_call(watched, guard)
        cut = asking.tell(watched, guard, "error" if fails else "stop")
        await self._client.write(rest)
        closing = self._tail.failing(cut.message) if fails else self._tail.closing(asking.usage, cut.remark)
        await self._client.end(closing)
        return None
