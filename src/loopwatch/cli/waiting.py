"""A line that says what is waited for, and is gone when it comes."""

import asyncio
from typing import TextIO

from loopwatch.cli.terminal import size

STEP = 1
"""Seconds after which it appears, and between its changes: what comes at once makes no flicker."""


class Waiting:
    """Says on a terminal what is waited for and how long already; without one it says nothing.

    To be used within an event loop, and at the beginning of a line.
    """

    def __init__(self, terminal: TextIO | None) -> None:
        """Wait for nothing yet."""
        self._terminal = terminal
        self._what = ""
        self._since = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._shown = False

    def begin(self, what: str) -> None:
        """Wait from now on."""
        self.end()
        if self._terminal is None:
            return
        loop = asyncio.get_running_loop()
        self._what, self._since = what, loop.time()
        self._timer = loop.call_later(STEP, self._tick, self._terminal)

    def change(self, what: str) -> None:
        """Call it something else, from its next change on."""
        self._what = what

    def end(self) -> None:
        """Wait no more, and take the line back."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._shown and self._terminal is not None:
            _write(self._terminal, "")
            self._shown = False

    def _tick(self, terminal: TextIO) -> None:
        loop = asyncio.get_running_loop()
        columns, _ = size(terminal)
        _write(terminal, f"{self._what}, {loop.time() - self._since:.0f} s"[: columns - 1])
        self._shown = True
        self._timer = loop.call_later(STEP, self._tick, terminal)


def _write(terminal: TextIO, line: str) -> None:
    terminal.write(f"\r{line}\x1b[K")
    terminal.flush()
