"""Time, so that it can be somebody else's: whoever waits, dates or measures takes a ``Clock``.

``SystemClock`` is the machine's. ``ManualClock`` ships for tests, yours too: it stands still until it is
moved, and a wait of an hour is over at once.
"""

import asyncio
import heapq
import itertools
import time
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol, TypeVar

T = TypeVar("T")

SETTLED = 100
"""Turns of the event loop after which whatever can happen without time passing has happened."""


class Timer(Protocol):
    """A call that is to come."""

    def cancel(self) -> None:
        """It shall not come."""


class Clock(Protocol):
    """What can be asked of time. Seconds are floats; dates are in UTC."""

    def now(self) -> datetime:
        """The date and time, in UTC."""

    def monotonic(self) -> float:
        """Seconds since some moment; they never go back."""

    async def sleep(self, seconds: float) -> None:
        """Wait, and let others go on."""

    def call_later(self, seconds: float, call: Callable[[], object]) -> Timer:
        """Have ``call`` called by the running event loop, in so many seconds."""


class SystemClock:
    """The machine's clock."""

    monotonic = staticmethod(time.monotonic)  # asked with each chunk of a stream

    def now(self) -> datetime:
        """The date and time, in UTC."""
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        """Wait, and let others go on."""
        await asyncio.sleep(seconds)

    def call_later(self, seconds: float, call: Callable[[], object]) -> Timer:
        """Have ``call`` called by the running event loop, in so many seconds."""
        return asyncio.get_running_loop().call_later(seconds, call)


class ManualClock:
    """A clock that stands still until it is moved, by ``advance`` or, from wait to wait, by ``run``."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        """Begin at ``start``, which must say its time zone."""
        if start.tzinfo is None:
            raise ValueError("start has no time zone: datetime(..., tzinfo=UTC)")
        self._start = start.astimezone(UTC)
        self._elapsed = 0.0
        self._due: list[tuple[float, int, _Call]] = []
        self._numbers = itertools.count()

    def now(self) -> datetime:
        """The date and time, in UTC."""
        return self._start + timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        """Seconds since the clock was made."""
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock has been moved so far."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def end() -> None:
            if not over.done():
                over.set_result(None)

        timer = self.call_later(seconds, end)
        try:
            await over
        finally:
            timer.cancel()

    def call_later(self, seconds: float, call: Callable[[], object]) -> Timer:
        """Have ``call`` called once the clock has been moved so far."""
        due = _Call(call)
        heapq.heappush(self._due, (self._elapsed + max(0.0, seconds), next(self._numbers), due))
        return due

    def advance(self, seconds: float) -> None:
        """Move the clock; what comes due is called on the way, in its order and at its time."""
        until = self._elapsed + seconds
        while (at := self._next()) is not None and at <= until:
            self._to_next(at)
        self._elapsed = until

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do ``work``, and move the clock to the next wait whenever nothing can go on without.

        Only for work whose every wait is one on this clock: it does not see that a socket is awaited.
        Raises RuntimeError where it waits for something that no clock brings.
        """
        task = asyncio.ensure_future(work)
        try:
            while not await _settled(task):
                at = self._next()
                if at is None:
                    raise RuntimeError("the work waits for something that is not on this clock")
                self._to_next(at)
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait([task])
        return task.result()

    def _next(self) -> float | None:
        """When the next call is due; those that were cancelled are forgotten."""
        while self._due and self._due[0][2].call is None:
            heapq.heappop(self._due)
        return self._due[0][0] if self._due else None

    def _to_next(self, at: float) -> None:
        self._elapsed = max(self._elapsed, at)
        call = heapq.heappop(self._due)[2].call
        if call is not None:
            call()


class _Call:
    """A call that is to come; without one, it was cancelled."""

    __slots__ = ("call",)

    def __init__(self, call: Callable[[], object]) -> None:
        self.call: Callable[[], object] | None = call

    def cancel(self) -> None:
        """It shall not come."""
        self.call = None


async def _settled(task: "asyncio.Task[Any]") -> bool:
    """Let everything go on that can; whether the task is done."""
    for _ in range(SETTLED):
        if task.done():
            return True
        await asyncio.sleep(0)
    return task.done()
