"""The end of a process: what a tracker still has is sent then, within a bounded time.

A program's end is ``atexit``'s. What ``multiprocessing`` forked skips that, and has an end of its own.
"""

import atexit
import sys
import weakref
from collections.abc import Callable
from typing import Any, Protocol

EXIT_SECONDS = 2.0
"""How long a program that ends waits for its last rows."""


class Closing(Protocol):
    """What is to be closed at the end."""

    def close(self, timeout: float) -> bool:
        """Send what is waiting within so many seconds."""


def closed_at_exit(one: Closing) -> None:
    """Have ``one`` closed when this program ends, if it is still there."""
    atexit.register(_closing(weakref.ref(one)))


def closed_at_end_of_child(one: Closing) -> None:
    """The same at the end of a process that ``multiprocessing`` made; called in it."""
    process: Any = sys.modules.get("multiprocessing.process")
    util: Any = sys.modules.get("multiprocessing.util")
    if process is not None and util is not None and process.parent_process() is not None:
        util.Finalize(None, _closing(weakref.ref(one)), exitpriority=10)


def _closing(one: "weakref.ref[Closing]") -> Callable[[], None]:
    def close() -> None:
        alive = one()
        if alive is not None:
            alive.close(EXIT_SECONDS)

    return close
