"""SQLite's connection in its own thread, gone to once a statement.

aiosqlite goes there to make a cursor, to execute, to fetch and to close: four changes of thread for a
statement that takes less time than one of them. Here the cursor lives and dies within one visit, and
what it found comes back with it; all else is aiosqlite's.
"""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeVar

import aiosqlite

if TYPE_CHECKING:
    from asyncio import Future

T = TypeVar("T")


class Cursor:
    """As much of aiosqlite's cursor as SQLAlchemy uses: the result of the last statement, all of it."""

    arraysize = 1

    def __init__(self, connection: "Connection") -> None:
        self._connection = connection
        self._rows: list[Any] = []
        self.description: Any = None
        self.rowcount = -1
        self.lastrowid: int | None = None

    async def __aenter__(self) -> Self:
        return self

    async def execute(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        """Run a statement, and fetch whatever it gives."""
        await self._visit(lambda cursor: cursor.execute(sql, parameters))

    async def executemany(self, sql: str, parameters: Iterable[Sequence[Any]]) -> None:
        """Run a statement for each of the parameters."""
        await self._visit(lambda cursor: cursor.executemany(sql, parameters))

    async def fetchall(self) -> list[Any]:
        """What the statement gave."""
        rows, self._rows = self._rows, []
        return rows

    async def close(self) -> None:
        """Nothing is open."""

    async def _visit(self, run: Callable[[sqlite3.Cursor], object]) -> None:
        def there(connection: sqlite3.Connection) -> None:
            cursor = connection.cursor()
            try:
                run(cursor)
                self.description = cursor.description
                self._rows = cursor.fetchall() if cursor.description else []
                self.rowcount, self.lastrowid = cursor.rowcount, cursor.lastrowid
            finally:
                cursor.close()

        await self._connection.visit(there)


class Connection(aiosqlite.Connection):
    """aiosqlite's connection, with cursors that go to its thread once."""

    def __init__(self, connector: Callable[[], sqlite3.Connection]) -> None:
        super().__init__(connector, iter_chunk_size=64)
        self._thread.daemon = True  # a process that ends does not wait for a database
        self._stopped: Future[None] | None = None

    def stop(self) -> "Future[None] | None":
        """End the connection's thread."""
        self._stopped = super().stop()
        return self._stopped

    async def _connect(self) -> aiosqlite.Connection:
        """Connect; where that fails, not before the thread is gone: it speaks to a loop that may end next."""
        try:
            return await super()._connect()
        except Exception:
            if self._stopped is not None:
                await self._stopped
            raise

    def cursor(self) -> Any:
        """A cursor; made here, not there."""
        return Cursor(self)

    async def visit(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do ``work`` in the connection's thread."""
        done: T = await self._execute(work, self._conn)  # type: ignore[no-untyped-call]
        return done


def connect(path: str, timeout: float) -> Connection:
    """A connection to be awaited; ``timeout`` is how many seconds it waits for a lock."""

    def connector() -> sqlite3.Connection:
        return sqlite3.connect(path, timeout=timeout, isolation_level=None)

    return Connection(connector)
