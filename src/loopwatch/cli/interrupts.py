"""A Ctrl-C that ends the program, wherever it hits.

Python alone can lose one: it may come in the instant before a read begins to wait, which it then no
longer wakes; or be raised where nothing may be raised, as in a callback of the import system.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

AGAIN = 0.5
"""Seconds after which a Ctrl-C that had no effect is sent again."""


class Interrupted(KeyboardInterrupt):
    """A Ctrl-C. Of a plain KeyboardInterrupt the interpreter may remember that it came out of an exec."""


@contextmanager
def interrupts_arrive() -> Iterator[None]:
    """A Ctrl-C in here raises Interrupted, for certain and once; outside the main thread, nothing changes.

    Whoever wants another handler, a server say, installs its own over this one.
    """
    main = threading.main_thread()
    if threading.current_thread() is not main or not hasattr(signal, "pthread_kill"):
        yield
        return
    before = signal.signal(signal.SIGINT, _raise)
    noted, noting = os.pipe()
    os.set_blocking(noting, False)
    wakeup = signal.set_wakeup_fd(noting, warn_on_full_buffer=False)
    over = threading.Event()
    insistent = threading.Thread(target=_insist, args=(noted, over), daemon=True)
    insistent.start()
    try:
        yield
    finally:
        over.set()
        signal.set_wakeup_fd(wakeup)
        os.close(noting)  # which ends the thread
        insistent.join()
        os.close(noted)
        signal.signal(signal.SIGINT, before)


def _raise(number: int, frame: object) -> None:
    """Raise Interrupted, unless one is on its way and what it passes is being put in order."""
    del number, frame
    error = sys.exc_info()[1]
    while error is not None:
        if isinstance(error, Interrupted):
            return
        error = error.__context__
    raise Interrupted


def _insist(noted: int, over: threading.Event) -> None:
    """Repeat every Ctrl-C that is noted, until it has had its effect."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # it is for the main thread
    main = threading.main_thread()
    while os.read(noted, 1):
        if not over.wait(AGAIN) and main.ident and signal.getsignal(signal.SIGINT) is _raise:
            signal.pthread_kill(main.ident, signal.SIGINT)
