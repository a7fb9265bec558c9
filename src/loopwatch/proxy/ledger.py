"""Where calls are logged: at a loopwatch server, in a database here, or nowhere.

No relay waits for its row. Rows wait in a bounded queue while a server or a database is away; what is
waiting when the proxy ends is stored first.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

import msgspec

from loopwatch.clock import Clock
from loopwatch.errors import InputError, LoopwatchError, StoreError, StoreUnavailable
from loopwatch.records.call import Call
from loopwatch.records.identity import Pseudonym
from loopwatch.sdk.link import Link
from loopwatch.sdk.sender import QUEUE, Sender

BATCH = 500
"""Rows that are stored at a time, as many as the store's writer takes into a transaction."""
AGAIN_SECONDS = 2.0
"""After a database was away."""
LAST_SECONDS = 10.0
"""How long a proxy that ends waits for its last rows."""

_log = logging.getLogger(__name__)


class Ledger(Protocol):
    """Takes rows. ``pseudonym`` is how names that look personal are to be kept, if they are."""

    pseudonym: Pseudonym | None

    @property
    def lost(self) -> int:
        """Rows that could not be logged."""

    def put(self, call: Call) -> None:
        """Have a row logged. Never waits, never raises."""


class NoLedger:
    """Keeps nothing."""

    pseudonym: Pseudonym | None = None
    lost = 0

    def put(self, call: Call) -> None:
        """Forget it."""


class RemoteLedger:
    """Sends rows to a loopwatch server."""

    pseudonym: Pseudonym | None = None

    def __init__(self, server: str, key: str | None) -> None:
        self._sender = Sender(Link(server, key), self._failed, self._refused)

    @property
    def lost(self) -> int:
        """Rows that nobody received."""
        return self._sender.dropped

    def put(self, call: Call) -> None:
        """Queue it for the sender's thread."""
        self._sender.put(msgspec.json.encode(call))

    async def close(self) -> None:
        """Send what is waiting, for a while."""
        await asyncio.to_thread(self._sender.close, LAST_SECONDS)

    @staticmethod
    def _failed(error: LoopwatchError) -> None:
        _log.warning("%s", error)

    @staticmethod
    def _refused(status: int) -> None:
        _log.error("the loopwatch server refuses the key (HTTP %d): calls are not logged", status)


class Writing(Protocol):
    """The store's writer, as far as it is needed."""

    async def log(self, project_id: str, calls: list[Call]) -> object:
        """Store calls. Raises StoreUnavailable and StoreError."""


class LocalLedger:
    """Stores rows in a database of this machine, by way of its writer."""

    def __init__(self, writer: Writing, project: str, pseudonym: Pseudonym | None, clock: Clock) -> None:
        self.pseudonym = pseudonym
        self.lost = 0
        self._writer = writer
        self._project = project
        self._clock = clock
        self._rows: deque[Call] = deque()
        self._come = asyncio.Event()
        self._closed = False

    def put(self, call: Call) -> None:
        """Queue it."""
        if len(self._rows) >= QUEUE:
            self._rows.popleft()
            self._lose(1, "more than that wait for the database")
        self._rows.append(call)
        self._come.set()

    async def run(self) -> None:
        """Store what comes, until ``close``."""
        while True:
            await self._come.wait()
            self._come.clear()
            while self._rows:
                await self._store()
            if self._closed:
                return

    def close(self) -> None:
        """``run`` ends once nothing waits any more."""
        self._closed = True
        self._come.set()

    async def _store(self) -> None:
        batch = [self._rows.popleft() for _ in range(min(BATCH, len(self._rows)))]
        try:
            await self._writer.log(self._project, batch)
        except StoreUnavailable as error:
            self._rows.extendleft(reversed(batch))
            _log.warning("calls wait to be logged: %s", error)
            await self._clock.sleep(AGAIN_SECONDS)
        except StoreError as error:
            self._lose(len(batch), str(error))

    def _lose(self, rows: int, why: str) -> None:
        if self.lost == 0 or rows > 1:
            _log.error("calls were not logged: %s", why)
        self.lost += rows


@asynccontextmanager
async def remote(server: str, key: str | None) -> AsyncIterator[RemoteLedger]:
    """A ledger at a server, for the block."""
    ledger = RemoteLedger(server, key)
    try:
        yield ledger
    finally:
        await ledger.close()


@asynccontextmanager
async def local(
    database: str, project: str | None, public_url: str, secret: bytes, clock: Clock
) -> AsyncIterator[LocalLedger]:
    """A ledger in a database, for the block. Raises as ``open_store``, InputError for the project.

    Calls are judged as they are stored, in the same transaction, whoever stores them: what comes of it
    waits in the outbox for a `loopwatch serve` to deliver it.
    """
    from loopwatch.hosting.storing import Storing, storing  # noqa: PLC0415  not needed with a server

    async with storing(Storing(database, public_url, secret=secret), clock=clock) as (store, *_):
        every = await store.projects.list()
        if not every and project is None:
            every = [await store.projects.create("proxy")]
        found = [one for one in every if project is None or project in (one.id, one.name)]
        if len(found) != 1:
            names = ", ".join(f"{one.id} ({one.name})" for one in every) or "none"
            raise InputError(f"name the project of the calls by --project, one of: {names}")
        known = await store.projects.settings(found[0].id)
        ledger = LocalLedger(store.writer, found[0].id, known.pseudonym, clock)
        running = asyncio.ensure_future(ledger.run())
        try:
            yield ledger
        finally:
            ledger.close()
            done, _ = await asyncio.wait([running], timeout=LAST_SECONDS)
            if not done:
                running.cancel()
                _log.error("%d calls were not logged: the database is away", len(ledger._rows))  # noqa: SLF001
