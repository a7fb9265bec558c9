r"""The lines of a stream, however its bytes were cut.

A line ends with LF, CR or CRLF and with nothing else: U+2028, U+0085 and ``\x0b``, at which
``str.splitlines`` would cut, stand inside model replies. Bytes stay bytes, so a character split between
two reads cannot break.
"""

import re

from loopwatch.errors import InputError

LINE_CAP = 8 * 1_024 * 1_024
"""Bytes of a line, or of an event, without an end at which the stream is given up: no chunk comes near."""

ENDLESS = "{} of the stream has no end after " + f"{LINE_CAP:,} bytes: is this an event stream?"
CR = 13
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
MAYBE_A_MARK = (b"", BYTE_ORDER_MARK[:1], BYTE_ORDER_MARK[:2])
"""First bytes of a stream that the next read may make a byte order mark."""


BLANK = 64 * 1_024
"""White space at the beginning after which a stream is taken for events."""


def first_mark(head: bytes) -> bytes | None:
    """The first byte of a stream that is neither a byte order mark nor white space.

    Empty where ``BLANK`` bytes have none; None where more must come before it is known.
    """
    start = b"" if head in MAYBE_A_MARK else head[:BLANK].removeprefix(BYTE_ORDER_MARK).lstrip()[:1]
    return start if start or len(head) >= BLANK else None


class Lines:
    """Feed it what arrives; it gives back the lines that are complete, without their ends."""

    __slots__ = ("_endless", "_pending", "_skip_lf", "_started")

    def __init__(self) -> None:
        """Start at the beginning of a stream."""
        self._pending = bytearray()
        self._skip_lf = False
        self._started = False
        self._endless = False

    def feed(self, data: bytes) -> list[bytes]:
        """Take the next bytes; return the lines that end in them.

        Raises InputError on an endless line; where other lines end before it, the next call does.
        """
        if self._endless:
            raise InputError(ENDLESS.format("a line"))
        if self._skip_lf and data:
            data = data[1:] if data.startswith(b"\n") else data
            self._skip_lf = False
        pending = self._pending
        scan_from = len(pending)
        pending += data
        if not self._started and pending not in MAYBE_A_MARK:
            self._started = True
            if pending.startswith(BYTE_ORDER_MARK):
                del pending[: len(BYTE_ORDER_MARK)]
                scan_from = 0
        lines = self._cut(scan_from)
        if len(pending) > LINE_CAP:
            self._endless = True
            if not lines:
                raise InputError(ENDLESS.format("a line"))
        return lines

    @property
    def between(self) -> bool:
        """Whether what comes next begins a line, with nothing to be kept in mind."""
        return self._started and not (self._pending or self._skip_lf or self._endless)

    def finish(self) -> bytes:
        """The last line, where it has no end. Raises InputError as ``feed``."""
        if self._endless:
            raise InputError(ENDLESS.format("a line"))
        last = bytes(self._pending)
        self._pending.clear()
        return last

    def _cut(self, scan_from: int) -> list[bytes]:
        """The lines that end in what is pending, at ``scan_from`` or later."""
        pending = self._pending
        lines: list[bytes] = []
        start = 0
        for found in _end.finditer(bytes(memoryview(pending)[scan_from:])):
            end = scan_from + found.start()
            if end - start > LINE_CAP:
                break  # it stays pending, though its end came with the same read
            lines.append(bytes(pending[start:end]))
            start = scan_from + found.end()
            self._skip_lf = pending[start - 1] == CR and start == len(pending)
        del pending[:start]
        return lines


_end = re.compile(rb"\r\n?|\n")
