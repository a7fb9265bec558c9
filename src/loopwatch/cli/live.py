"""What is seen of a call while it is under way."""

import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Self

from loopwatch.cli.notes import Notes
from loopwatch.cli.terminal import Screen, is_erasable, say
from loopwatch.cli.waiting import Waiting
from loopwatch.client.items import AttemptDiscarded, Delta, Item, Reply
from loopwatch.errors import LoopedReply

WAITS = {
    "content": "the model is answering",
    "reasoning": "the model is thinking",
    "tools": "the model is writing a tool call",
}
"""What is waited for while deltas come that are not shown."""

SCROLLED = (
    "loopwatch: the beginning of the discarded attempt has scrolled out of sight; it still stands above"
)


class Live:
    """Follows a call: a context manager that leaves the terminal in order, however it is left.

    Where standard output is a terminal on which things can be taken back, deltas are shown as they come,
    unless it is not ``wanted``. What is waited for is said on standard error, where that is one.
    """

    def __init__(self, notes: Notes, *, wanted: bool) -> None:
        """Look who is there to see it; ``notes`` are said where they belong."""
        self.screen = Screen(sys.stdout) if wanted and is_erasable(sys.stdout) else None
        self.waiting = Waiting(sys.stderr if is_erasable(sys.stderr) else None)
        self._notes = notes

    async def follow(self, items: AsyncGenerator[Item, None]) -> Reply:
        """The reply that a call ends with. Raises what the call raises."""
        self.waiting.begin("waiting for the model")
        async with aclosing(items):
            try:
                async for item in items:
                    if isinstance(item, Delta):
                        self._show(item)
                    elif isinstance(item, AttemptDiscarded):
                        self._take_back()
                        self.waiting.begin("waiting for the model")
                    elif isinstance(item, Reply):
                        self.settle()
                        return item
            except LoopedReply:
                self._take_back()
                raise
        raise AssertionError("a stream ends with a reply or with an error")

    def settle(self) -> None:
        """Nothing more comes: end the line, and say what was kept."""
        self.waiting.end()
        if self.screen is not None:
            self.screen.end()
        self._notes.print()

    def __enter__(self) -> Self:
        """Nothing is shown yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Settle."""
        self.settle()

    def _show(self, delta: Delta) -> None:
        if self.screen is not None and delta.channel == "content":
            self.waiting.end()
            self.screen.show(delta.text)
        else:
            self.waiting.change(WAITS[delta.channel])

    def _take_back(self) -> None:
        self.waiting.end()
        if self.screen is not None and not self.screen.take_back():
            say(SCROLLED)
        self._notes.print()
