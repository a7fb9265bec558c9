"""The writer: whoever logs calls at the same time shares one transaction, and one sync of the disk.

``log`` answers only when its calls are durable. While one transaction commits, the next batch gathers;
a call that comes alone waits for nobody. A batch that fails for a reason of its rows is tried again in
its parts, so that nobody pays for somebody else's row.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlalchemy.exc import SQLAlchemyError

from loopwatch.errors import StoreError, StoreUnavailable
from loopwatch.store.engines import Database
from loopwatch.store.faults import is_outage, is_race, unavailable
from loopwatch.store.ingest import Ingest, Outcome, Written
from loopwatch.store.sums import Entry

if TYPE_CHECKING:
    from loopwatch.records.alert import Alert
    from loopwatch.records.call import Call

MOST_ROWS = 500
"""Calls in a transaction: more of them no longer make the sync cheaper, and hold the locks for longer."""
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
    duplicates: int = 0
    conflicts: int = 0
    alerts: int = 0
    unavailable: int = 0
    repeated: int = 0


@dataclass(slots=True, eq=False)
class _Request:
    """The calls of one caller, who waits for ``done``."""

    entries: list[Entry]
    done: "asyncio.Future[list[Outcome]]" = field(repr=False)


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

        Raises StoreUnavailable where they could not be stored now: none of them counts, and sent again
        with the same event ids none counts twice. Raises StoreError for calls that cannot be stored.
        """
        if not calls:
            return []
        if self._closed:
            raise StoreUnavailable("the server is stopping")
        if self._rows >= MOST_WAITING:
            self.counts.unavailable += 1
            raise StoreUnavailable(f"more than {MOST_WAITING} calls wait to be stored")
        entries = [Entry(project_id, call) for call in calls]
        request = _Request(entries, asyncio.get_running_loop().create_future())
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

    def _next(self) -> list[_Request]:
        batch: list[_Request] = []
        rows = 0
        while self._waiting and (not batch or rows + len(self._waiting[0].entries) <= MOST_ROWS):
            batch.append(self._waiting.popleft())
            rows += len(batch[-1].entries)
        self._rows -= rows
        return batch

    async def _store(self, batch: Sequence[_Request]) -> None:
        """Store a batch and answer everybody in it, whatever happens."""
        try:
            written = await self._transaction([entry for request in batch for entry in request.entries])
        except Exception as error:  # noqa: BLE001  whatever it is, somebody waits for an answer
            await self._failed(batch, error)
            return
        outcomes = iter(written.outcomes)
        for request in batch:
            mine = [next(outcomes) for _ in request.entries]
            if not request.done.done():
                request.done.set_result(mine)
        self._count(written)
        if written.alerts and self.on_alerts is not None:
            self.on_alerts(written.alerts)

    async def _transaction(self, entries: Sequence[Entry]) -> Written:
        """One transaction; begun anew where another process came first, or, once, the connection was dead."""
        lost = False
        for attempt in range(_RACES):
            try:
                async with self._database.transaction() as connection:
                    return await self._ingest.write(connection, entries, self._database.now())
            except (SQLAlchemyError, OSError) as error:
                dead = getattr(error, "connection_invalidated", False) and not lost
                if attempt + 1 == _RACES or not (is_race(error) or dead):
                    raise
                lost = lost or dead
                self.counts.repeated += 1
        raise AssertionError  # the last attempt has returned or raised

    async def _failed(self, batch: Sequence[_Request], error: Exception) -> None:
        if is_outage(error) or isinstance(error, StoreUnavailable):
            reason: StoreError = error if isinstance(error, StoreUnavailable) else unavailable(error)
            self.counts.unavailable += sum(len(request.entries) for request in batch)
            _log.warning("%d calls could not be stored: %s", self._total(batch), reason)
        elif len(batch) > 1:
            for request in batch:
                await self._store([request])
            return
        else:
            _log.error("calls could not be stored: %s", type(error).__name__, exc_info=error)
            reason = StoreError("these calls cannot be stored: the server's log has the reason")
        for request in batch:
            if not request.done.done():
                request.done.set_exception(reason)

    @staticmethod
    def _total(batch: Sequence[_Request]) -> int:
        return sum(len(request.entries) for request in batch)

    def _count(self, written: Written) -> None:
        self.counts.transactions += 1
        self.counts.stored += written.outcomes.count("stored")
        self.counts.duplicates += written.outcomes.count("duplicate")
        self.counts.conflicts += written.outcomes.count("conflict")
        self.counts.alerts += len(written.alerts)
