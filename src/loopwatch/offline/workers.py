"""Work done by several processes, its results in the order of the tasks.

Each process is told what to do through a pipe of its own, and nobody else holds an end of it: so that
we see at once when one dies, and each of them when we do. A Ctrl-C is for us alone.
"""

import multiprocessing
import os
import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable, Container, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, cast

from loopwatch.errors import LoopwatchError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    Pipe = Connection[Any, Any]

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 3
"""Tasks handed out for each process, so that none waits and the results that wait are few."""

PART = 4_096
"""Results that a process hands over at a time."""

PARTS = 4
"""Parts of a task's results that may wait for its turn; with more to say, its process has to wait itself."""

GRACE = 5
"""Seconds in which a process that was told to end must have done so."""


class Part(NamedTuple):
    """Some results of a task; with the last of them, what went wrong if anything did."""

    results: list[Any]
    last: bool = False
    error: Exception | None = None


def in_order(
    work: Callable[[T], Iterable[R]], tasks: Iterable[T], jobs: int, *, elsewhere: Callable[[T], bool]
) -> Generator[tuple[T, Iterator[R] | None], None, None]:
    """Each task with the results that ``work`` has in one of ``jobs`` processes, some tasks ahead.

    They are to be read before the next task is asked for. A task that is not to be done ``elsewhere``
    comes with None, in its turn. Raises LoopwatchError where a process dies, and whatever ``work`` raises.
    """
    crew: _Crew[T, R] = _Crew(work, jobs)
    waiting: deque[tuple[T, Iterator[R] | None]] = deque()
    try:
        for number, task in enumerate(tasks):
            if elsewhere(task):
                crew.hand_out(number, task)
                waiting.append((task, crew.results_of(number)))
            else:
                waiting.append((task, None))
            if len(waiting) > jobs * AHEAD:
                yield waiting.popleft()
        while waiting:
            yield waiting.popleft()
    finally:
        crew.end()


class _Crew(Generic[T, R]):
    """The processes, started as they are needed, and the results that were not asked for yet."""

    def __init__(self, work: Callable[[T], Iterable[R]], jobs: int) -> None:
        self._work = work
        self._jobs = jobs
        self._workers: list[_Worker] = []
        self._parts: dict[int, deque[Part]] = {}

    def hand_out(self, number: int, task: T) -> None:
        """Give a task to whoever has the fewest."""
        worker = min(self._workers, key=lambda one: len(one.owes), default=None)
        if worker is None or (worker.owes and len(self._workers) < self._jobs):
            worker = _Worker(self._work)
            self._workers.append(worker)
        self._parts[number] = deque()
        worker.tell(number, task)

    def results_of(self, number: int) -> Iterator[R]:
        """The results of a task that was handed out, as they come; all before it must have been read."""
        parts = self._parts[number]
        last = False
        while not last:
            while not parts:
                self._listen(number)
            results, last, error = parts.popleft()
            yield from results
            if error is not None:
                raise error
        del self._parts[number]

    def _listen(self, number: int) -> None:
        """Take a part of whoever has one, and of the task that is to be read in any case."""
        heard = [
            worker
            for worker in self._workers
            if worker.owes and (worker.owes[0] == number or len(self._parts[worker.owes[0]]) < PARTS)
        ]
        ready = wait([worker.connection for worker in heard] + [worker.sentinel for worker in self._workers])
        for worker in self._workers:
            worker.refuse_death(ready)
        for worker in heard:
            if worker.connection in ready:
                part = worker.answer()
                self._parts[worker.owes[0]].append(part)
                if part.last:
                    worker.owes.popleft()

    def end(self) -> None:
        """End all of them, also in the middle of their work."""
        for worker in self._workers:
            worker.end()


class _Worker:
    """One process, and the tasks for which it owes us a result."""

    def __init__(self, work: Callable[[Any], Any]) -> None:
        context = multiprocessing.get_context("spawn")  # a fork would copy the threads of a progress display
        self.connection, theirs = context.Pipe()
        self.owes: deque[int] = deque()
        self._process = context.Process(target=_serve, args=(theirs, work), daemon=True)
        with _deaf_to_interrupts():
            self._process.start()
        theirs.close()

    def tell(self, number: int, task: object) -> None:
        """Hand over a task."""
        self.owes.append(number)
        try:
            self.connection.send(task)
        except OSError:
            raise LoopwatchError(self._obituary()) from None

    @property
    def sentinel(self) -> int:
        """What is ready when the process has ended."""
        return self._process.sentinel

    def refuse_death(self, ready: Container[object]) -> None:
        """Raise LoopwatchError if it is dead, whether or not it is its turn."""
        if self.sentinel in ready:
            raise LoopwatchError(self._obituary())

    def answer(self) -> Part:
        """The next results of the first task of those that it owes."""
        try:
            part: Part = self.connection.recv()
        except (EOFError, OSError):
            raise LoopwatchError(self._obituary()) from None
        return part

    def end(self) -> None:
        """An idle process ends with its pipe, a busy one has to be ended; it has nothing to put in order."""
        self.connection.close()
        if self.owes:
            self._process.kill()
        self._process.join(GRACE)

    def _obituary(self) -> str:
        self._process.join(GRACE)
        code = self._process.exitcode
        if code is not None and code < 0:
            return f"a scanning process was killed by signal {-code}: scan again, with fewer --jobs"
        return (
            f"a scanning process ended with code {code}: a program that calls scan() with jobs needs"
            " `if __name__ == '__main__':` around its main part"
        )


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """A process started in here never sees a Ctrl-C; one that comes meanwhile reaches us afterwards."""
    resource_tracker.ensure_running()  # or starting the first process would start it, and undo this
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(connection: "Pipe", work: Callable[[Any], Iterable[Any]]) -> None:
    """What a process does: work until nobody is left to work for."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):
        while True:
            for part in _parts(work, connection.recv()):
                connection.send(part)


def _end_with_parent() -> None:
    """Whatever we are at: if the one who wants it is killed, it can tell us nothing."""
    parent = cast("BaseProcess", multiprocessing.parent_process())
    os._exit(len(wait([parent.sentinel])))


def _parts(work: Callable[[Any], Iterable[Any]], task: Any) -> Iterator[Part]:
    results: list[Any] = []
    failure = None
    try:
        for result in work(task):
            results.append(result)
            if len(results) == PART:
                yield Part(results)
                results = []
    except Exception as error:  # noqa: BLE001  it is raised again where the results are asked for
        error.add_note(traceback.format_exc())
        failure = error
    yield Part(results, last=True, error=failure)
