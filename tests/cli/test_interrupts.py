import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from loopwatch.cli.interrupts import AGAIN, Interrupted, interrupts_arrive


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def in_a_second() -> None:
    threading.Timer(AGAIN / 5, interrupt).start()


def wait_for_ever() -> None:
    """Wait as ``watch`` waits for its input."""
    waiting, never = os.pipe()
    try:
        os.read(waiting, 1)
    finally:
        os.close(waiting)
        os.close(never)


class Swallow:
    """What is raised in here is swallowed by the interpreter, which says so by a hook."""

    def __del__(self) -> None:
        interrupt()
        time.sleep(0)


def test_an_interrupt_ends_a_wait() -> None:
    in_a_second()
    with pytest.raises(Interrupted), interrupts_arrive():
        wait_for_ever()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_that_was_swallowed_comes_again() -> None:
    def lose_it_and_wait() -> None:
        Swallow()
        wait_for_ever()

    with pytest.raises(Interrupted), interrupts_arrive():
        lose_it_and_wait()


def test_while_one_is_on_its_way_what_it_passes_is_put_in_order_in_peace() -> None:
    order = []

    def wait_and_put_in_order() -> None:
        try:
            in_a_second()
            wait_for_ever()
        finally:
            with suppress(ValueError):  # another error that is handled meanwhile does not hide the first
                int("no number")
            time.sleep(AGAIN * 2.5)  # in which it is sent again, twice
            order.append("done")

    with pytest.raises(Interrupted), interrupts_arrive():
        wait_and_put_in_order()
    assert order == ["done"]


def test_whoever_installs_a_handler_of_its_own_gets_each_interrupt_once() -> None:
    got = []
    with interrupts_arrive():
        before = signal.signal(signal.SIGINT, lambda number, _: got.append(number))
        interrupt()
        time.sleep(AGAIN * 2.5)
        signal.signal(signal.SIGINT, before)
    assert got == [signal.SIGINT]


def test_afterwards_all_is_as_it_was() -> None:
    def state() -> tuple[object, int, int]:
        wakeup = signal.set_wakeup_fd(-1)
        signal.set_wakeup_fd(wakeup)
        return signal.getsignal(signal.SIGINT), wakeup, threading.active_count()

    before, files = state(), len(list(Path("/dev/fd").iterdir()))
    with interrupts_arrive():
        assert state() != before
    assert (state(), len(list(Path("/dev/fd").iterdir()))) == (before, files)


def test_in_another_thread_nothing_changes() -> None:
    seen = []

    def inside() -> None:
        with interrupts_arrive():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGINT)]
