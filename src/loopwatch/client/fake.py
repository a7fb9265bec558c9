"""A transport for tests: it answers as told, in the time of a ``ManualClock``, without a socket.

>>> FakeTransport(FakeAnswer(502), FakeAnswer(chunks=[b"data: ...", 5.0, b"data: [DONE]"]))
FakeTransport(2 answers)
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from loopwatch.client.transport import Request, TransportError
from loopwatch.clock import Clock, SystemClock

HANG = "hang"
"""A chunk that never comes."""


@dataclass(frozen=True, slots=True)
class FakeAnswer:
    """One answer: its status, headers, and what comes after the head.

    A number among ``chunks`` is a pause in seconds, an exception is raised in its place, and ``HANG``
    lasts until the response is dropped. ``after`` is the pause before the head, ``HANG`` for no head.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    chunks: Sequence[bytes | float | str | Exception] = ()
    after: float | str = 0


class FakeResponse:
    """An answer that is being read: whether it was ``dropped``, and what is left ``unread``."""

    def __init__(self, answer: FakeAnswer, clock: Clock) -> None:
        """Begin after its head."""
        self.status = answer.status
        self.headers = {name.lower(): value for name, value in answer.headers.items()}
        self.unread = list(answer.chunks)
        self.dropped = False
        self._clock = clock

    async def read(self) -> bytes:
        """The next chunk, after whatever pauses are due before it."""
        while self.unread:
            chunk = self.unread.pop(0)
            if isinstance(chunk, bytes):
                return chunk
            if isinstance(chunk, Exception):
                raise chunk
            await _pause(chunk, self._clock)
        return b""

    def drop(self) -> None:
        """Note that it was closed."""
        self.dropped = True


class FakeTransport:
    """Gives its answers one after the other, the last one for ever. ``requests`` has what was asked."""

    def __init__(self, *answers: FakeAnswer | TransportError, clock: Clock | None = None) -> None:
        """Take the answers; a TransportError among them is raised in its turn."""
        self._answers = answers
        self._clock = clock or SystemClock()
        self.requests: list[Request] = []
        self.responses: list[FakeResponse] = []
        self.closed = False

    def __repr__(self) -> str:
        """How many answers there are."""
        return f"FakeTransport({len(self._answers)} answers)"

    async def send(self, request: Request) -> FakeResponse:
        """Answer."""
        answer = self._answers[min(len(self.requests), len(self._answers) - 1)]
        self.requests.append(request)
        if isinstance(answer, TransportError):
            raise answer
        await _pause(answer.after, self._clock)
        response = FakeResponse(answer, self._clock)
        self.responses.append(response)
        return response

    async def aclose(self) -> None:
        """Note that it was closed."""
        self.closed = True


async def _pause(length: float | str, clock: Clock) -> None:
    if length == HANG:
        await asyncio.get_running_loop().create_future()
    elif isinstance(length, int | float) and length > 0:
        await clock.sleep(length)
