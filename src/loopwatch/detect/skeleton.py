"""A text with each of its numbers as one ``0``, so that what counts on becomes periodic.

The numbers themselves are read only when somebody asks: most texts that are full of them, maps and
tables, are known for data by their skeleton alone.
"""

import re
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from loopwatch.detect.lags import Tail

NUMBER_CAP = 64
"""Digits after which a number is taken as read, so that what waits for its end is bounded."""

VALUE_DIGITS = 15
"""Digits of a number that count as its value; a number that grows by one zero a line stands still."""

STRIDES_KEPT = 128
"""Stretches of text whose numbers can still be read: 32,768 characters."""

DIGITS = "0123456789"
IN_NUMBER = DIGITS + ":.,"
number = re.compile(
    r"[0-9]+(?:(?::[0-9]{2}){1,3}(?:[.,][0-9]+)?)?"
)  # begins in one way: scanned four times as fast


class Number(NamedTuple):
    """One number of the reply: its value, whether it is a time stamp, where it ends."""

    value: int
    is_time: bool
    skeleton_end: int
    end: int


class _Stride(NamedTuple):
    """A stretch of the reply and where it begins, in the reply and in the skeleton."""

    text: str
    start: int
    skeleton_start: int


class Skeleton:
    """Grows with a reply; ``tail`` has its end, ``numbers`` what stood for the zeros."""

    __slots__ = ("_cut", "_pending", "_read", "_strides", "tail")

    def __init__(self) -> None:
        """Start at the beginning of a reply."""
        self.tail = Tail()
        self._strides: deque[_Stride] = deque(maxlen=STRIDES_KEPT)
        self._pending = ""
        self._cut = False
        self._read = 0

    def append(self, block: str) -> int:
        """Add ``block`` and return by how much the skeleton has grown; a number still growing waits."""
        text = self._pending + block
        start = self._read - len(self._pending)
        self._read += len(block)
        if self._cut:
            rest = text.lstrip(DIGITS)
            start += len(text) - len(rest)
            text = rest
            self._cut = not rest
        settled = text.rstrip(IN_NUMBER)
        self._pending = text[len(settled) :].lstrip(":.,")
        if len(self._pending) > NUMBER_CAP:
            self._pending, self._cut = "", True
        else:
            text = text[: len(text) - len(self._pending)]
        before = self.tail.end
        self._strides.append(_Stride(text, start, before))
        self.tail.append(number.sub("0", text))
        return self.tail.end - before

    def newest_first(self, since: int) -> Iterator[Number]:
        """The numbers that end after position ``since`` of the skeleton, the newest first, as far as kept."""
        for stride in reversed(self._strides):
            for known in reversed(_numbers(stride)):
                if known.skeleton_end <= since:
                    return
                yield known
            if stride.skeleton_start <= since:
                return

    def newest(self) -> list[Number]:
        """The numbers of the block that was appended last."""
        return _numbers(self._strides[-1])


def _numbers(stride: _Stride) -> list[Number]:
    numbers = []
    removed = 0
    for found in number.finditer(stride.text):
        begin, stop = found.span()
        removed += stop - begin - 1
        value, is_time = _value(found.group())
        numbers.append(Number(value, is_time, stride.skeleton_start + stop - removed, stride.start + stop))
    return numbers


def _value(digits: str) -> tuple[int, bool]:
    """What a number is worth, a time stamp in thousandths of a second."""
    if ":" not in digits:
        return int(digits[:VALUE_DIGITS]), False
    clock, _, fraction = digits.replace(",", ".").partition(".")
    seconds = 0
    for part in clock.split(":"):
        seconds = seconds * 60 + int(part[:VALUE_DIGITS])
    return seconds * 1_000 + int((fraction + "000")[:3]), True
