"""The two clocks of an attempt: how long it may be silent, and how long it may last.

Both begin when the request is sent. The idle one begins anew with each delta that carries something: a
keep-alive comment, which would satisfy a read timeout, does not count. One timer serves both; it is set
again when it rings, not with each chunk (some 130 ns a chunk instead of 5 µs for a timeout of asyncio's).
"""

import asyncio
from collections.abc import Awaitable
from typing import Literal, TypeVar

from loopwatch.clock import Clock, Timer

T = TypeVar("T")


class Expired(Exception):
    """Which of the two has run out."""

    def __init__(self, which: Literal["idle", "ceiling"]) -> None:
        """Take which."""
        super().__init__(which)
        self.which: Literal["idle", "ceiling"] = which


class Watchdog:
    """Rings while something is awaited through it, never while the reply's reader is at work.

    ``idle`` and ``ceiling`` are in seconds. Where both run out together, it is the ceiling.
    """

    __slots__ = (
        *("_cancelled_before", "_clock", "_expired", "_last", "_monotonic", "_rested", "_task"),
        *("_timer", "_until", "ceiling", "idle"),
    )

    def __init__(self, clock: Clock, *, idle: float, ceiling: float) -> None:
        """Start both."""
        self.idle = idle
        self.ceiling = ceiling
        self._clock = clock
        self._monotonic = clock.monotonic
        self._last = self._rested = clock.monotonic()
        self._until = self._last + ceiling
        self._task: asyncio.Task[object] | None = None  # who awaits
        self._cancelled_before = 0  # how often that task had been
        self._expired: Literal["idle", "ceiling"] | None = None
        self._timer: Timer | None = None
        self._set()

    def progressed(self) -> None:
        """Something came with what was awaited last: the idle clock begins anew."""
        self._last = self._rested

    async def wait(self, something: Awaitable[T]) -> T:
        """Await ``something``. Raises Expired where one of the clocks runs out before it comes."""
        self.watch()
        try:
            return await something
        except asyncio.CancelledError:
            self.explain()
            raise
        finally:
            self.rest()

    # The same in three steps, for what is awaited with every chunk.

    def watch(self) -> None:
        """Something is about to be awaited."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  a coroutine runs in a task
        self._last += self._monotonic() - self._rested  # the reader's time is not the provider's silence
        if self._timer is None:
            self._set()
        self._cancelled_before = task.cancelling()
        self._task = task

    def explain(self) -> None:
        """What was awaited was cancelled. Raises Expired where that was a clock and nobody else."""
        task = self._task
        if self._expired is not None and task is not None and task.uncancel() <= self._cancelled_before:
            raise Expired(self._expired) from None

    def rest(self) -> None:
        """Nothing is awaited any more."""
        self._task = None
        self._rested = self._monotonic()

    def stop(self) -> None:
        """Ring no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _due(self) -> float:
        return min(self._last + self.idle, self._until)

    def _set(self) -> None:
        self._timer = self._clock.call_later(max(0.0, self._due() - self._monotonic()), self._ring)

    def _ring(self) -> None:
        """A turn of the event loop's grace: what has arrived while nothing ran is read first."""
        self._timer = self._clock.call_later(0, self._judge) if self._task is not None else None

    def _judge(self) -> None:
        self._timer = None
        if self._task is None:
            return
        now = self._monotonic()
        if now < self._due():
            self._set()
            return
        self._expired = "ceiling" if now >= self._until else "idle"
        self._task.cancel()
