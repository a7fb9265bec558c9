"""Rows go to the server from a thread of their own, in batches; whoever logs one never waits.

The queue is bounded: where the server is away for long, the oldest rows are dropped, and counted. A row
keeps its event id however often it is sent, so none counts twice.
"""

import random
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from http import HTTPStatus

from loopwatch.clock import SystemClock
from loopwatch.errors import InputError, LoopwatchError, SettingsError, StoreUnavailable, one_line
from loopwatch.sdk.forking import renewed_after_fork
from loopwatch.sdk.link import REFUSED, Answer, Link

QUEUE = 10_000
"""Rows that wait at most: some 5 MB."""
BATCH = 500
BATCH_BYTES = 1_000_000
REASON = 200
"""Characters of a server's reason that are told."""
LINGER_SECONDS = 0.5
"""How long the first row of a batch waits for others."""
FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0
"""Seconds after a failure, at first and at most; twice as long each time."""
FINAL = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNSUPPORTED_MEDIA_TYPE, HTTPStatus.UNPROCESSABLE_ENTITY)
"""What rows do not recover from; all else (a proxy's 404, a redirect, 5xx) may be another answer later."""


class Sender:
    """Takes rows, each one JSON object, and sends them. ``dropped`` counts those that nobody received.

    One attempt is under way at a time; ``flush`` has one made at once, also after a failure.

    ``on_start`` is told when a process begins to send: what it still has at its end is to be closed then.
    ``on_error`` is given what goes wrong, once a failure and not once a row, in the sender's thread. Raises
    SettingsError for a ``queue`` that holds nothing.
    """

    def __init__(
        self,
        link: Link,
        on_error: Callable[[LoopwatchError], None],
        on_refused: Callable[[int], None],
        queue: int = QUEUE,
        on_start: Callable[[], None] = lambda: None,
    ) -> None:
        if not queue >= 1:
            raise SettingsError(f"queue is {queue!r}: it must be a whole number from 1 on")
        self.dropped = 0
        self._on_start = on_start
        self._link = link
        self._clock = SystemClock()  # a thread waits on the machine's
        self._on_error = on_error
        self._on_refused = on_refused
        self._most = queue
        self._random = random.Random()  # noqa: S311  for jitter
        self._begin()
        renewed_after_fork(self)

    def _begin(self) -> None:
        self._rows: deque[bytes] = deque()
        self._sending = 0
        self._lock = threading.Condition()
        self._thread: threading.Thread | None = None
        self._urgent = False
        self._nudged = False
        self._closed = False
        self._refused = False
        self._failures = 0
        self._batch = BATCH

    @property
    def waiting(self) -> int:
        """Rows that have not been received yet."""
        return len(self._rows) + self._sending

    def put(self, row: bytes) -> None:
        """Have a row sent. Never waits, never raises."""
        full = False
        with self._lock:
            if self._refused or self._closed:
                self.dropped += 1
                return
            if len(self._rows) >= self._most:
                self._rows.popleft()
                self.dropped += 1
                full = self.dropped == 1 or self.dropped % self._most == 0
            self._rows.append(row)
            if self._thread is None:
                self._start()
            if len(self._rows) in (1, BATCH):
                self._lock.notify_all()
        if full:
            self._on_error(StoreUnavailable(f"the queue is full: {self.dropped} calls were not logged"))

    def _start(self) -> None:
        thread = threading.Thread(target=self._work, name="loopwatch-sender", daemon=True)
        with suppress(RuntimeError):  # an interpreter that is ending starts none
            thread.start()
            self._thread = thread
            self._on_start()

    def flush(self, timeout: float) -> bool:
        """Send what is waiting now; whether all of it was received within ``timeout`` seconds."""
        until = self._clock.monotonic() + timeout
        with self._lock:
            self._urgent = self._nudged = True
            self._lock.notify_all()
            while self.waiting and not self._closed and (left := until - self._clock.monotonic()) > 0:
                self._lock.wait(left)
            self._urgent = False
            return not self.waiting

    def close(self, timeout: float) -> bool:
        """Send what is waiting, then stop for good within ``timeout`` seconds; whether all was received.

        What is put or still waits after that is dropped, and counted. Closing again changes nothing.
        """
        if self._closed:
            return not self.waiting
        until = self._clock.monotonic() + timeout
        self.flush(0.0 if self._failures else timeout)
        with self._lock:
            self._closed = True
            self._lock.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(max(until - self._clock.monotonic(), 0.1))
        self._link.close()
        with self._lock:
            lost = self.waiting
            self.dropped += lost
            self._rows.clear()
        return not lost

    def forget(self) -> None:
        """Begin anew in a forked child: what was waiting is the parent's to send, and to count."""
        self._link.forget()
        self.dropped = 0
        self._begin()

    def _work(self) -> None:
        while True:
            batch = self._next()
            if batch is None:
                return
            self._finish(batch, self._send(batch))

    def _next(self) -> list[bytes] | None:
        """The next batch, once there is one and it is time; None at the end."""
        with self._lock:
            while not self._rows:
                if self._closed:
                    return None
                self._lock.wait()
            if not self._urgent and not self._closed and len(self._rows) < BATCH:
                self._lock.wait_for(self._is_due, LINGER_SECONDS)
            if self._closed and self._failures:
                return None
            batch: list[bytes] = []
            size = 0
            while self._rows and len(batch) < self._batch and size < BATCH_BYTES:
                size += len(self._rows[0])
                batch.append(self._rows.popleft())
            self._sending = len(batch)
            return batch

    def _is_due(self) -> bool:
        return self._urgent or self._closed or len(self._rows) >= BATCH

    def _send(self, batch: Sequence[bytes]) -> Answer:
        try:
            return self._link.post(batch)
        except LoopwatchError as error:  # httpx2 is missing: it will be missing again
            return Answer(0, fault=str(error))
        except Exception as error:  # noqa: BLE001  a thread that dies would log nothing ever after
            return Answer(0, fault=f"calls could not be sent ({type(error).__name__})")

    def _finish(self, batch: list[bytes], answer: Answer) -> None:
        """Forget what was received, give up what never will be, keep the rest for later."""
        status = answer.status
        succeeds = HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES
        if succeeds and answer.document is not None:
            self._failures = 0
            self._batch = min(BATCH, 2 * self._batch)
            self._over(0)
            rejected = answer.document.get("rejected")
            if isinstance(rejected, list) and rejected:
                reason = rejected[0].get("reason") if isinstance(rejected[0], dict) else rejected[0]
                self._on_error(
                    InputError(f"{len(rejected)} calls were not logged: {one_line(str(reason)[:REASON])}")
                )
        elif status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE and len(batch) > 1:
            self._batch = len(batch) // 2
            self._keep(batch)
        elif status in REFUSED:
            with self._lock:
                self._refused = True
                self._over(len(batch) + len(self._rows))
                self._rows.clear()
            self._on_refused(status)
        elif status in FINAL or status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            self._over(len(batch))
            self._on_error(InputError(f"{len(batch)} calls were not logged: HTTP {status}"))
        else:
            self._wait_after_failure(batch, answer)

    def _keep(self, batch: list[bytes]) -> None:
        """Put rows back before those that came later; where there are too many, the oldest go."""
        with self._lock:
            self._rows.extendleft(reversed(batch))
            self._sending = 0
            while len(self._rows) > self._most:
                self._rows.popleft()
                self.dropped += 1

    def _wait_after_failure(self, batch: list[bytes], answer: Answer) -> None:
        self._failures += 1
        longest = min(LONGEST_WAIT, FIRST_WAIT * 2 ** (self._failures - 1))
        wait = longest * self._random.uniform(0.5, 1.0)
        if self._failures == 1:
            reason = answer.fault or _said(answer.status)
            self._on_error(StoreUnavailable(f"{reason}: calls are kept and sent later"))
        self._keep(batch)
        with self._lock:
            until = self._clock.monotonic() + max(wait, answer.retry_after or 0.0)
            while not self._closed and not self._nudged and (left := until - self._clock.monotonic()) > 0:
                self._lock.wait(left)
            self._nudged = False

    def _over(self, lost: int) -> None:
        with self._lock:
            self._sending = 0
            self.dropped += lost
            self._lock.notify_all()


def _said(status: int) -> str:
    if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return "something else than a loopwatch server answers (is the endpoint right, or a proxy between?)"
    return (
        f"the loopwatch server answers with HTTP {status}"
        if status
        else "the loopwatch server does not answer"
    )
