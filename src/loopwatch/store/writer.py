"""The writer: whoever logs calls at the same time shares one transaction, and one sync of the disk.

``log`` answers only when its calls are durable. While one transaction commits, the next batch gathers;
a call that comes alone waits for nobody. A request of many calls is stored in slices, each a part of a
transaction, so that a call that comes after it waits for one slice and not for all. A batch that fails
for a reason of its rows is tried again in its parts, so that nobody pays for somebody else's row.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from loopwatch.errors import StoreError, StoreUnavailable
from loopwatch.store.engines import Database
from loopwatch.store.faults import DATABASE_ERRORS, is_outage, is_race
from loopwatch.store.ingest import Ingest, Outcome, Written
from loopwatch.store.sums import Entry

if TYPE_CHECKING:
    from loopwatch.records.alert import Alert
    from loopwatch.records.call import Call

MOST_ROWS = 500
"""Calls in a transaction: more of them no longer make the sync cheaper, and hold the locks for longer."""
SHARE = 100
"""Calls of one request that go before the first of others; the room that is left is filled up."""
LINGER = 0.002
"""Seconds after a batch of several callers in which they may come back: half as many transactions where
64 are always in flight, for a wait that is a fraction of the sync's."""
MOST_WAITING = 20_000
"""Calls that wait for a transaction before new ones are turned away."""
_RACES = 8
"""How often a transaction is begun anew because another process came first."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Counts:
    """What the writer has done since it began, for metrics."""

    transactions: int = 0
    stored: int = 0
    corrected: int = 0
    duplicates: int = 0
    conflicts: int = 0
    alerts: int = 0
    unavailable: int = 0
    repeated: int = 0


@dataclass(slots=True, eq=False)
class _Request:
    """The calls of one caller, who waits for ``done``: all of them stored, or the first failure.

    ``taken`` of them are in a transaction or through it, in their order.
    """

    entries: list[Entry]
    done: "asyncio.Future[list[Outcome]]" = field(repr=False)
    outcomes: "list[Outcome]" = field(default_factory=list)
    taken: int = 0
    failed: bool = False

    @property
    def left(self) -> int:
        """Calls that wait for a transaction; none once one has failed."""
        return 0 if self.failed else len(self.entries) - self.taken

    def take(self, most: int) -> list[Entry]:
        """The next calls, so many at most."""
        some = self.entries[self.taken : self.taken + most]
        self.taken += len(some)
        return some

    def stored(self, outcomes: "Iterable[Outcome]") -> None:
        """So much of it is durable."""
        self.outcomes += outcomes
        if len(self.outcomes) == len(self.entries) and not self.done.done():
            self.done.set_result(self.outcomes)

    def fail(self, error: Exception) -> None:
        """It is not, or not all of it: the rest is not tried."""
        self.failed = True
        if not self.done.done():
            self.done.set_exception(error)


_Slice = tuple[_Request, list[Entry]]


class Writer:
    """Takes calls from any number of tasks of one event loop. ``run`` does the work until ``close``."""

    def __init__(self, database: Database, ingest: Ingest) -> None:
        self.counts = Counts()
        self.on_alerts: Callable[[Sequence[Alert]], None] | None = None
        """Called with what has just been committed, so that delivery need not wait for its next look."""
        self._database = database
        self._ingest = ingest
        self._waiting: deque[_Request] = deque()
        self._rows = 0
        self._come = asyncio.Event()
        self._closed = False

    async def log(self, project_id: str, calls: "Sequence[Call]") -> list[Outcome]:
        """Store calls; an outcome for each, once all are durable.

        Raises StoreUnavailable where not all could be stored now: sent again with the same event ids,
        none counts twice. Up to ``SHARE`` calls are stored together or not at all, more than that in parts.
        Raises StoreError for calls that cannot be stored.
        """
        if not calls:
            return []
        if self._closed:
            raise StoreUnavailable("the server is stopping")
        if self._rows >= MOST_WAITING:
            self.counts.unavailable += 1
            raise StoreUnavailable(f"more than {MOST_WAITING} calls wait to be stored")
        request = _Request(
            [Entry(project_id, call) for call in calls], asyncio.get_running_loop().create_future()
        )
        self._waiting.append(request)
        self._rows += len(calls)
        self._come.set()
        return await request.done

    def close(self) -> None:
        """Take nothing more. ``run`` ends once everything that waits has been stored or turned away."""
        self._closed = True
        self._come.set()

    async def run(self) -> None:
        """Store what comes, until ``close``."""
        while True:
            await self._come.wait()
            while batch := self._next():
                await self._store(batch)
                if len(batch) > 1:
                    await asyncio.sleep(LINGER)
            self._come.clear()
            if self._closed:
                return

    def _next(self) -> list[_Slice]:
        """The next transaction: a share of everybody, in the order in which they came, and then more.

        Who is not through waits behind those who are not begun; no share is cut in two.
        """
        batch: list[_Slice] = []
        room = MOST_ROWS
        while self._waiting and min(SHARE, self._waiting[0].left) <= room:
            request = self._waiting.popleft()
            batch.append((request, request.take(SHARE)))
            room -= len(batch[-1][1])
        for request, entries in batch:
            room += len(entries)
            entries.extend(request.take(room - len(entries)))
            room -= len(entries)
        self._waiting += (request for request, _ in batch if request.left)
        self._rows -= MOST_ROWS - room
        return batch

    async def _store(self, batch: Sequence[_Slice]) -> None:
        """Store a batch and answer everybody in it, whatever happens."""
        try:
            written = await self._transaction([entry for _, entries in batch for entry in entries])
        except Exception as error:  # noqa: BLE001  whatever it is, somebody waits for an answer
            await self._failed(batch, error)
            return
        outcomes = iter(written.outcomes)
        for request, entries in batch:
            request.stored(islice(outcomes, len(entries)))
        self._count(written)
        if written.alerts and self.on_alerts is not None:
            self.on_alerts(written.alerts)

    async def _transaction(self, entries: Sequence[Entry]) -> Written:
        """One transaction; begun anew where another process came first, or, once, the connection was dead."""
        lost = False
        for attempt in range(_RACES):
            try:
                return await self._database.within(
                    lambda on: self._ingest.write(on, entries, self._database.now()),
                    waits=self._ingest.windows.waits,
                )
            except DATABASE_ERRORS as error:
                dead = getattr(error, "connection_invalidated", False) and not lost
                if attempt + 1 == _RACES or not (is_race(error) or dead):
                    raise
                lost = lost or dead
                self.counts.repeated += 1
        raise AssertionError  # the last attempt has returned or raised

    async def _failed(self, batch: Sequence[_Slice], error: Exception) -> None:
        if is_outage(error) or isinstance(error, StoreUnavailable):
            reason: StoreError = (
                error if isinstance(error, StoreUnavailable) else self._database.unavailable(error)
            )
            unstored = sum(len(entries) for _, entries in batch)
            self.counts.unavailable += unstored
            _log.warning("%d calls could not be stored: %s", unstored, reason)
        elif len(batch) > 1:
            for one in batch:
                await self._store([one])
            return
        else:
            _log.error("calls could not be stored: %s", type(error).__name__, exc_info=error)
            reason = StoreError("these calls cannot be stored: the server's log has the reason")
        for request, _ in batch:
            self._give_up(request, reason)

    def _give_up(self, request: _Request, reason: StoreError) -> None:
        """Answer a request that failed, of which nothing more is stored."""
        if request.left:
            self._rows -= request.left
            self._waiting.remove(request)
        request.fail(reason)

    def _count(self, written: Written) -> None:
        self.counts.transactions += 1
        self.counts.stored += written.outcomes.count("stored")
        self.counts.corrected += written.outcomes.count("corrected")
        self.counts.duplicates += written.outcomes.count("duplicate")
        self.counts.conflicts += written.outcomes.count("conflict")
        self.counts.alerts += len(written.alerts)
