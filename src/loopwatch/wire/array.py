r"""The elements of one JSON array that streams, as Gemini sends it without ``alt=sse``: ``[{…},\r\n{…}]``."""

import re

from loopwatch.errors import InputError
from loopwatch.wire.lines import ENDLESS, LINE_CAP

_MARK = re.compile(rb'["{}\[\]]')
_IN_STRING = re.compile(rb'["\\]')


class Elements:
    """Feed it what arrives; it gives back the objects and arrays of the outermost array that are complete.

    What is no JSON gives elements that are none either: whoever decodes them finds out.
    """

    __slots__ = ("_depth", "_escaped", "_open", "_pending")

    def __init__(self) -> None:
        """Start before the outermost bracket."""
        self._pending = bytearray()
        self._depth = 0
        self._open = False  # whether a string is
        self._escaped = False  # whether its next character is

    def feed(self, data: bytes) -> list[tuple[bytes, int]]:
        """Take the next bytes; return each element they complete, and where in ``data`` it ends.

        Raises InputError on an element without end.
        """
        found: list[tuple[bytes, int]] = []
        start = at = 0
        while at < len(data):
            if self._open:
                at = self._through_string(data, at)
                continue
            mark = _MARK.search(data, at)
            if mark is None:
                break
            at = mark.end()
            sign = mark.group()
            if sign == b'"':
                self._open = True
            elif sign in b"{[":
                self._depth += 1
                if self._depth == 2:  # noqa: PLR2004  the array, and an element in it
                    start = mark.start()
            else:
                self._depth -= 1
                if self._depth == 1:
                    found.append((bytes(self._pending) + data[start:at], at))
                    self._pending.clear()
        if self._depth > 1:
            self._pending += data[start:]
            if len(self._pending) > LINE_CAP:
                raise InputError(ENDLESS.format("an element"))
        return found

    def _through_string(self, data: bytes, at: int) -> int:
        """Where the string ends that is open at ``at``, or the data do."""
        if self._escaped:
            self._escaped = False
            return at + 1
        mark = _IN_STRING.search(data, at)
        if mark is None:
            return len(data)
        self._escaped = mark.group() == b"\\"
        self._open = self._escaped
        return mark.end()
