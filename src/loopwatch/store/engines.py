"""One database, reached: its engine, its reading and writing transactions.

SQLite keeps its log synced (WAL, synchronous=FULL): what was committed survives the machine, and one
sync serves everybody in the commit. It has one writer at a time, so writing transactions of this
process queue here rather than poll for the lock, and take it from their first statement on.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path
from typing import Any, TypeVar, cast

from sqlalchemy import URL, Connection, Dialect, event, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from loopwatch.clock import Clock
from loopwatch.errors import InputError, StoreUnavailable
from loopwatch.records.moments import micros
from loopwatch.store import hops
from loopwatch.store.faults import translated, unavailable
from loopwatch.store.files import refuse_unusable
from loopwatch.store.statements import Local, Remote, Statements, run_through

T = TypeVar("T")
CONNECT_SECONDS = 5
STATEMENT_SECONDS = 30
BUSY_SECONDS = 5.0
"""How long SQLite waits for another process to finish its transaction."""
_PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "fullfsync=ON",  # on macOS a plain sync leaves it in the drive's cache; no other system knows it
    "temp_store=MEMORY",
    "cache_size=-65536",
)
_WRITES = "loopwatch_writes"
GONE = "the database file {} was deleted or replaced while it was in use: stop the server and put it back"


class Database:
    """An engine, and how to read from and write to it. Errors come out as StoreError or StoreUnavailable."""

    def __init__(self, engine: AsyncEngine, clock: Clock) -> None:
        self.engine = engine
        self.clock = clock
        self.is_open = False  # until then whoever opens it is told, and the log need not be
        self._one_writer = asyncio.Lock() if self.is_sqlite else None
        self._file: tuple[int, int] | None = None  # which file a SQLite database is

    @property
    def dialect(self) -> str:
        """What the database speaks: "sqlite" or "postgresql"."""
        return self.engine.dialect.name

    @property
    def is_sqlite(self) -> bool:
        """Whether it is SQLite."""
        return self.dialect == "sqlite"

    @property
    def name(self) -> str:
        """What messages call it: SQLite's file."""
        return f"the database {self.engine.url.database}" if self.is_sqlite else "the database"

    def unavailable(self, error: BaseException) -> StoreUnavailable:
        """The error for whoever asked, where the database is at fault."""
        return unavailable(error, self.name)

    def now(self) -> int:
        """Now, in microseconds since 1970."""
        return micros(self.clock.now())

    def refuse_gone(self) -> None:
        """Raise StoreUnavailable where SQLite's file was deleted or replaced: what is open is another."""
        if not self.is_sqlite:
            return
        path = str(self.engine.url.database)
        try:
            found = Path(path).stat()
        except OSError:
            raise StoreUnavailable(GONE.format(path)) from None
        if self._file is None:
            self._file = (found.st_dev, found.st_ino)
        if self._file != (found.st_dev, found.st_ino):
            raise StoreUnavailable(GONE.format(path))

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        """A transaction that only reads: one state of the database throughout on SQLite."""
        with translated(self.name, logged=self.is_open):
            async with self.engine.connect() as connection:
                yield connection

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        """A transaction that is durable once the block ends, and undone where it raises."""
        with translated(self.name, logged=self.is_open):
            async with self.transaction() as connection:
                yield connection

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncConnection]:
        """As ``writing``, with the database's own errors: for whoever tries again."""
        async with AsyncExitStack() as held:
            if self._one_writer is not None:
                await held.enter_async_context(self._one_writer)
            connection = await held.enter_async_context(self.engine.connect())
            self.refuse_gone()
            writes = await connection.execution_options(**{_WRITES: True})
            async with writes.begin():
                yield writes

    async def within(self, work: Callable[[Statements], Coroutine[Any, Any, T]], *, waits: bool) -> T:
        """Do ``work`` in a writing transaction, with the database's own errors.

        On SQLite in one visit to its thread, unless the work ``waits`` for somebody else.
        """
        if waits or self._one_writer is None:
            async with self.transaction() as connection:
                return await work(Remote(connection))
        async with self._one_writer, self.engine.connect() as connection:
            self.refuse_gone()
            driver = cast("hops.Connection", (await connection.get_raw_connection()).driver_connection)
            return await driver.visit(lambda there: _at_once(there, self.engine.dialect, work))


def _at_once(
    connection: sqlite3.Connection, dialect: Dialect, work: Callable[[Statements], Coroutine[Any, Any, T]]
) -> T:
    """A whole transaction, in the connection's thread."""
    with closing(connection.cursor()) as cursor:
        cursor.execute("BEGIN IMMEDIATE")
        try:
            done = run_through(work(Local(cursor, dialect)))
            cursor.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                cursor.execute("ROLLBACK")
            raise
        return done


def open_database(url: str, clock: Clock) -> Database:
    """The database at ``url``, not yet spoken to.

    Raises InputError for what is no address of one, StoreError where SQLite's file cannot be used.
    """
    parsed = parse(url)
    if parsed.get_backend_name() == "sqlite":
        return Database(_sqlite(parsed), clock)
    engine = create_async_engine(
        parsed,
        hide_parameters=True,  # errors are logged, ids of users are not
        pool_size=5,
        max_overflow=5,
        pool_timeout=CONNECT_SECONDS,
        connect_args={
            "timeout": CONNECT_SECONDS,
            "command_timeout": STATEMENT_SECONDS,
            "server_settings": {"application_name": "loopwatch", "timezone": "UTC"},
        },
    )
    return Database(engine, clock)


def parse(url: str) -> URL:
    """The address with the driver that we use. Raises InputError, which does not show the password in it."""
    try:
        parsed = make_url(url)
        backend = parsed.get_backend_name()
    except (ArgumentError, ValueError):
        parsed, backend = None, ""
    if parsed is not None and backend == "sqlite" and parsed.database and parsed.database != ":memory:":
        return parsed.set(drivername="sqlite+aiosqlite")
    if parsed is not None and backend in ("postgresql", "postgres"):
        return parsed.set(drivername="postgresql+asyncpg")
    raise InputError("the database must be sqlite:///PATH or postgresql://USER:PASSWORD@HOST:PORT/NAME")


def _sqlite(url: URL) -> AsyncEngine:
    path = Path(str(url.database)).expanduser()
    refuse_unusable(path)
    engine = create_async_engine(
        url.set(database=str(path)),
        hide_parameters=True,
        pool_size=5,
        max_overflow=5,
        pool_timeout=CONNECT_SECONDS,
        connect_args={"async_creator_fn": lambda *_, **__: hops.connect(str(path), BUSY_SECONDS)},
    )
    event.listen(engine.sync_engine, "connect", _prepare)
    event.listen(engine.sync_engine, "begin", _begin)
    return engine


def _prepare(connection: Any, _: object) -> None:
    """Set a new connection up; transactions are begun by ``_begin``, not by the driver's guess."""
    cursor = connection.cursor()
    for pragma in _PRAGMAS:
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
