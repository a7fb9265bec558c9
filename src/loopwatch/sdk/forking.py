"""After a fork a child has its parent's memory, none of its threads, and perhaps locks that those held.

Whatever has a lock, a thread or a connection says so with ``renewed_after_fork``, and begins anew in a child.
"""

import os
import threading
import weakref
from typing import Protocol


class Forgetful(Protocol):
    """What can begin anew."""

    def forget(self) -> None:
        """Leave to the parent what is the parent's."""


_ALIVE: "weakref.WeakSet[Forgetful]" = weakref.WeakSet()
_lock = threading.Lock()


def renewed_after_fork(one: Forgetful) -> None:
    """Have ``one`` begin anew in every child that is forked from now on, as long as it lives."""
    with _lock:
        _ALIVE.add(one)


def _renew() -> None:
    _lock.release()
    for one in list(_ALIVE):
        one.forget()


os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_renew)
