"""One exchange of the scriptable provider: the request it got, and the stream on which it answers."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from aiohttp import web

from loopwatch.clock import Clock
from loopwatch.testing.chunks import choice, event, json_event, present

Ended = Literal["finished", "dropped", "stopped", "failed"]
"""How an exchange ended: as scripted, by the client, by the provider's own end, by an error of the script."""

_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


@dataclass(slots=True, eq=False)
class Request:
    """A request that was received, and what became of it.

    ``headers`` is read without regard to case; ``body`` is the parsed JSON, None where ``raw`` is none;
    ``at`` is the provider's clock (``monotonic``) on arrival. ``bytes_sent`` and ``events_sent`` count
    what of the answer's body was handed to the system, whether or not it was read; an event in ``Raw``
    bytes is not counted as one. ``ended`` is None while the exchange goes on.
    """

    number: int
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    raw: bytes
    body: Any
    at: float
    bytes_sent: int = 0
    events_sent: int = 0
    ended: Ended | None = None
    _over: asyncio.Event = field(default_factory=asyncio.Event, repr=False)

    def end(self, how: Ended) -> None:
        """It is over; the first word counts."""
        self.ended = self.ended or how
        self._over.set()

    async def over(self, *, within: float = 5) -> None:
        """Wait until the exchange has ended. Raises TimeoutError where that takes longer."""
        async with asyncio.timeout(within):
            await self._over.wait()


class Step(Protocol):
    """A part of an answer. Yours need nothing but this method."""

    async def play(self, stream: "Stream") -> None:
        """Send it, or wait, or end the stream."""


@dataclass(slots=True, eq=False)
class Stream:
    """Where the steps of an answer write. ``split`` is the most bytes of one write, None: no bound.

    ``head`` has the fields of every chunk; ``ending`` says how the exchange is to end before its steps
    do: ``close`` properly, ``cut`` in the middle of the body, ``reset`` with an error to the client.
    """

    request: Request
    response: web.StreamResponse
    clock: Clock
    head: Mapping[str, Any]
    split: int | None = None
    ending: Literal["close", "cut", "reset"] | None = None
    _held: bytearray | None = None

    async def play(self, steps: Iterable[Step]) -> None:
        """Play steps until one of them ends the exchange."""
        for step in steps:
            if self.ending is not None:
                return
            await step.play(self)

    async def sleep(self, seconds: float) -> None:
        """Wait, on the provider's clock."""
        if seconds > 0:
            await self.clock.sleep(seconds)

    async def write(self, data: bytes) -> None:
        """Send bytes as they are. Raises ConnectionError where the client has gone."""
        if self._held is not None:
            self._held += data
            await asyncio.sleep(0)
            return
        size = self.split or len(data) or 1
        for start in range(0, len(data), size):
            piece = data[start : start + size]
            await asyncio.sleep(0)  # a write rarely waits: without this, nobody else would ever run
            await self.response.write(piece)
            self.request.bytes_sent += len(piece)

    async def event(self, data: bytes) -> None:
        """Send one event."""
        await self._event(event(data))

    async def chunk(self, fields: Mapping[str, Any]) -> None:
        """Send one chunk with these fields besides those of its head; None leaves a field out."""
        await self._event(json_event(present({**self.head, **fields})))

    async def delta(self, delta: Mapping[str, Any]) -> None:
        """Send one chunk with this delta."""
        await self.chunk({"choices": [choice(delta)]})

    async def _event(self, data: bytes) -> None:
        await self.write(data)
        self.request.events_sent += 1

    @asynccontextmanager
    async def together(self) -> AsyncIterator[None]:
        """Send what is written in the block at its end, in one write (``split`` still holds)."""
        outer, held = self._held, bytearray()
        self._held = held
        yield
        self._held = outer
        await self.write(bytes(held))

    def leave(self, transport: asyncio.Transport | None) -> bool:
        """Close the connection where ``ending`` says so; whether it does."""
        if transport is None or self.ending not in {"cut", "reset"}:
            return False
        if self.ending == "cut":
            transport.close()
        else:
            connection = transport.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
            transport.abort()
        return True
