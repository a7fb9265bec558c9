"""The demo's date: late enough in a month for the month's figures to say something."""

from collections.abc import Callable
from datetime import datetime, timedelta

from loopwatch.clock import Clock, Timer

FULL = 12
"""The day from which on a month has enough in it."""
LAST_DAYS = 3


class Shifted:
    """A clock that goes as another does, with another date."""

    def __init__(self, clock: Clock, by: timedelta) -> None:
        self._clock = clock
        self._by = by

    def now(self) -> datetime:
        """The other's date and time, shifted."""
        return self._clock.now() + self._by

    def monotonic(self) -> float:
        """The other's seconds."""
        return self._clock.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait as the other does."""
        await self._clock.sleep(seconds)

    def call_later(self, seconds: float, call: Callable[[], object]) -> Timer:
        """Have ``call`` called as the other does."""
        return self._clock.call_later(seconds, call)


def late_in_a_month(clock: Clock) -> Clock:
    """The clock itself; in the first days of a month one that is still in the month before."""
    day = clock.now().day
    return clock if day >= FULL else Shifted(clock, timedelta(days=-day - LAST_DAYS))
