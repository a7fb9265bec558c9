"""What part of a thing a call reads, and how much of it was read before.

For ``sweeps``: an agent that pages to the end of a file and starts over, with other page borders, repeats
no call and no result, and yet reads nothing new.
"""

from collections.abc import Mapping
from typing import Any

FROM = ("offset", "start_line", "start", "line_start", "from_line", "begin", "page", "skip")
TO = ("end_line", "end", "line_end", "to_line", "until")
SIZE = ("limit", "count", "length", "num_lines", "lines", "page_size", "per_page")
PIECES = 64
"""Separate parts of one thing that are remembered; the ones read first are forgotten."""
COVERED = 0.5


def part_of(args: Mapping[str, Any]) -> tuple[int, int] | None:
    """The half-open range that the arguments name, None where they name none."""
    start = _number(args, FROM)
    if start is None:
        return None
    if "page" in args:
        return start, start + 1
    end, size = _number(args, TO), _number(args, SIZE)
    if end is not None and end >= start:
        return start, end + 1
    return (start, start + size) if size is not None and size > 0 else None


def _number(args: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    values = (args.get(name) for name in names)
    return next((one for one in values if isinstance(one, int) and not isinstance(one, bool)), None)


class Coverage:
    """The parts of one thing that were read, as ranges that do not touch."""

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        """Start with nothing read."""
        self._parts: list[tuple[int, int]] = []

    def add(self, start: int, end: int) -> bool:
        """Note a range; answer whether at least half of it had been read before."""
        covered = 0
        kept = []
        low, high = start, end
        for one, other in self._parts:
            covered += max(0, min(end, other) - max(start, one))
            if other < start or one > end:
                kept.append((one, other))
            else:
                low, high = min(low, one), max(high, other)
        kept.append((low, high))
        self._parts = kept[-PIECES:]
        return covered >= COVERED * (end - start)
