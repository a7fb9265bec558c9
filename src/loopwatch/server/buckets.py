"""How often a key may ask: a bucket of tokens each, refilled at a steady rate."""

from collections import OrderedDict

from loopwatch.clock import Clock

RATE = 500.0
"""Requests a second that one key may go on making: the whole ingest of a busy product, one event a POST."""
BURST = 2_000.0
"""Requests that it may make at once after a rest: what a client queued while we were away."""
MOST_KEPT = 10_000


class Buckets:
    """The buckets of all keys. A key that is full again is as good as new, and may be forgotten."""

    def __init__(self, clock: Clock, rate: float = RATE, burst: float = BURST) -> None:
        """``rate`` is in requests a second, ``burst`` in requests."""
        self._clock = clock
        self._rate = rate
        self._burst = burst
        self._kept: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str) -> float:
        """Take one token. Returns 0.0, or in how many seconds there will be one."""
        now = self._clock.monotonic()
        left, before = self._kept.pop(key, (self._burst, now))
        left = min(self._burst, left + (now - before) * self._rate)
        wait = 0.0 if left >= 1 else (1 - left) / self._rate
        self._kept[key] = (left - 1 if wait == 0.0 else left, now)
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return wait
