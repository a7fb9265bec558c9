"""The lines of a file, or of a range of its bytes, in flat memory however long a line is."""

import io
import sys
from collections.abc import Iterator
from typing import NamedTuple

CHUNK = 1 << 16
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Range(NamedTuple):
    """The bytes of a file from ``start`` up to, but not including, ``stop``; line ends before it."""

    start: int
    stop: int
    ends_before: int = 0


class Line(NamedTuple):
    """A line with its number in the stream, from 1; ``text`` is None where it is too long to be read."""

    number: int
    text: bytes | None


def read_lines(stream: io.BufferedIOBase, longest: int, within: Range | None = None) -> Iterator[Line]:
    """The lines of ``stream``, or those that begin within a range of its bytes.

    ``longest`` is how many bytes a line may have; of a longer one nothing is kept.
    """
    place, number = 0, 0
    if within is not None and within.start > 0:
        stream.seek(within.start - 1)
        begun = _skip_line(stream, within.stop - within.start + 1)  # who has the range before reads it
        place = within.start - 1 + begun
        number = within.ends_before + (begun > 1)
    while within is None or place < within.stop:
        text = stream.readline(longest + 1)
        if not text:
            return
        number += 1
        place += len(text)
        if len(text) > longest and not text.endswith(b"\n"):
            place += _skip_line(stream, None if within is None else within.stop - place)
            yield Line(number, None)
        else:
            yield Line(number, text.removeprefix(BYTE_ORDER_MARK) if number == 1 else text)


def ranges(stream: io.BufferedIOBase, step: int) -> Iterator[Range]:
    """The bytes of ``stream`` in ranges of ``step``, counting line ends on the way.

    Where it cannot be read, the last range is all the rest: who reads that will see why.
    """
    start, ends = 0, 0
    try:
        while block := stream.read(step):
            yield Range(start, start + len(block), ends)
            start += len(block)
            ends += block.count(b"\n")
    except OSError:
        yield Range(start, sys.maxsize, ends)


def _skip_line(stream: io.BufferedIOBase, most: int | None) -> int:
    """Pass over the rest of a line, or ``most`` bytes of it; return how many."""
    passed = 0
    while most is None or passed < most:
        text = stream.readline(CHUNK if most is None else min(CHUNK, most - passed))
        passed += len(text)
        if not text or text.endswith(b"\n"):
            break
    return passed
