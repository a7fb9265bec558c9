"""Which calls count in a rolling window, exactly, at a cost that does not grow with their number.

A call counts while its age is less than the window: one that is exactly a window old no longer does. The
calls of each ``BUCKET`` are summed as they come. Whatever the moment, the window holds whole buckets
and the younger part of one, the edge; only the edge's calls are looked at one by one. All times are
integers, microseconds since 1970.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import NamedTuple

BUCKET = 5_000_000
"""Five seconds: a window of five minutes has 60 sums and, evenly filled, a sixtieth of its calls in the
edge. Smaller ones cost rows, larger ones a longer edge."""


class Span(NamedTuple):
    """A window's bounds: the calls that count are later than ``after``.

    That is every bucket that starts later than ``edge``, and of the bucket at ``edge`` the calls later
    than ``after``.
    """

    after: int
    edge: int

    @property
    def edge_end(self) -> int:
        """Where the whole buckets begin."""
        return self.edge + BUCKET


def bucket_of(at: int) -> int:
    """The start of the bucket that ``at`` falls into."""
    return at - at % BUCKET


def span(now: int, window: int) -> Span:
    """The bounds of the window that ends ``now``; calls dated ahead of it count too."""
    return Span(now - window, bucket_of(now - window))


def above(tokens: int, threshold: int) -> bool:
    """Whether so many tokens are too many: strictly more than the threshold."""
    return tokens > threshold


def rolled(added: Mapping[int, tuple[int, ...]], starts: Sequence[int], window: int) -> list[tuple[int, ...]]:
    """The sums that a window of that length holds at the end of each bucket, to the bucket.

    ``added`` has sums by the start of their bucket, ``starts`` even steps of ``BUCKET``. A bucket that the
    window holds a part of counts whole.
    """
    ends = deque(sorted(added))
    held: deque[int] = deque()
    totals: list[tuple[int, ...]] = []
    sums = [0] * len(next(iter(added.values()), (0, 0, 0)))
    for start in starts:
        while ends and ends[0] <= start:
            held.append(ends.popleft())
            sums = [one + more for one, more in zip(sums, added[held[-1]], strict=True)]
        while held and held[0] + BUCKET <= start + BUCKET - window:
            sums = [one - less for one, less in zip(sums, added[held.popleft()], strict=True)]
        totals.append(tuple(sums))
    return totals


class RollingWindow:
    """One user's window in memory, for a process that watches itself. Holds no more than a window's calls."""

    def __init__(self, window: int) -> None:
        """``window`` is its length in microseconds."""
        self.window = window
        self._buckets: dict[int, tuple[int, list[tuple[int, int]]]] = {}

    def add(self, at: int, tokens: int) -> None:
        """Count a call, in whatever order they come."""
        start = bucket_of(at)
        total, calls = self._buckets.get(start, (0, []))
        calls.append((at, tokens))
        self._buckets[start] = (total + tokens, calls)

    def total(self, now: int) -> int:
        """The tokens of the window that ends ``now``. What is older than it is forgotten."""
        bounds = span(now, self.window)
        self._buckets = {start: kept for start, kept in self._buckets.items() if start >= bounds.edge}
        total = 0
        for start, (tokens, calls) in self._buckets.items():
            if start > bounds.edge:
                total += tokens
            else:
                total += sum(tokens for at, tokens in calls if at > bounds.after)
        return total
