"""The client's side of a request: its body as it comes, our answer as it goes, and a limit to how slow."""

import asyncio
import math
from collections.abc import AsyncIterator
from http import HTTPStatus

from starlette.types import Message, Receive, Send

from loopwatch.client.watchdog import Expired, Watchdog
from loopwatch.clock import Clock
from loopwatch.proxy.headers import Headers
from loopwatch.proxy.presence import ClientGone
from loopwatch.proxy.refusals import Broken, Refusal


class Client:
    """Whoever asked. ``status`` is what it has been answered with, 0 before that.

    Writing waits until the client takes what was written before: nothing is read ahead of a slow one.
    """

    def __init__(self, receive: Receive, send: Send, clock: Clock, idle: float) -> None:
        self.status = 0
        self.extra: Headers = []
        """Headers of ours that its answer is to have."""
        self._receive = receive
        self._send = send
        self._clock = clock
        self._idle = idle
        self._patience: Watchdog | None = None
        self._read = asyncio.Event()
        self.left: ClientGone | Refusal | None = None
        """Why its body did not come to its end, where it did not."""

    async def body(self, announced: bytes, most: int) -> bytes:
        """The whole body. Raises Refusal where it is too large or does not come, ClientGone."""
        if announced.isdigit() and int(announced[:18]) > most:
            raise _too_large(most)
        parts: list[bytes] = []
        size = 0
        async for part in self.pieces():
            parts.append(part)
            size += len(part)
            if size > most:
                raise _too_large(most)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body piece by piece. Raises as ``body``."""
        more = True
        while more:
            try:
                async with asyncio.timeout(self._idle):
                    message = await self._receive()
            except TimeoutError:
                reason = f"nothing of the request came for {self._idle:g} s: send all of it"
                self.left = Refusal(HTTPStatus.REQUEST_TIMEOUT, reason)
                raise self.left from None
            if message["type"] == "http.disconnect":
                self.left = ClientGone()
                raise self.left
            more = message.get("more_body", False)
            if message.get("body"):
                yield message["body"]
        self._read.set()

    async def receive_after_body(self) -> Message:
        """As ASGI's receive, once the body has been read."""
        await self._read.wait()
        return await self._receive()

    async def start(self, status: int, headers: Headers) -> None:
        """Begin the answer."""
        self.status = status
        await self._send(
            {"type": "http.response.start", "status": status, "headers": [*headers, *self.extra]}
        )

    async def write(self, data: bytes) -> None:
        """More of its body. Raises Broken where the client has taken nothing for too long."""
        patience = self._patience
        if patience is None:
            patience = self._patience = Watchdog(self._clock, idle=self._idle, ceiling=math.inf)
        patience.watch()
        try:
            await self._send({"type": "http.response.body", "body": data, "more_body": True})
        except asyncio.CancelledError:
            try:
                patience.explain()
            except Expired:
                raise Broken(f"the client took nothing for {self._idle:g} s") from None
            raise
        finally:
            patience.rest()
        patience.progressed()

    async def end(self, data: bytes = b"") -> None:
        """The rest of it."""
        await self._send({"type": "http.response.body", "body": data})

    def close(self) -> None:
        """Let go of the timer."""
        if self._patience is not None:
            self._patience.stop()


def _too_large(most: int) -> Refusal:
    return Refusal(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        f"the request has more than {most:,} bytes: raise --max-body, or send less",
    )
