"""Statements for whole batches, compiled once, and the two ways to run them inside a transaction.

``Remote`` asks through SQLAlchemy, a statement at a time. ``Local`` is inside SQLite's own thread, where
a transaction is one visit: there nothing ever waits, so a coroutine over it runs from its beginning to
its end. The coroutines are the same; which one they are given, ``engines`` decides.
"""

import sqlite3
from collections.abc import Callable, Coroutine, Iterable, Sequence
from functools import lru_cache
from typing import Any, Protocol, TypeVar

from sqlalchemy import Dialect, Insert, Select, UpdateBase, select
from sqlalchemy.ext.asyncio import AsyncConnection

from loopwatch.store.dialect import Rows

T = TypeVar("T")
Build = Callable[[str], tuple[Rows, Select[Any] | UpdateBase]]
"""Makes a statement, and the rows that come with it, for a dialect by its name."""


class Statements(Protocol):
    """A transaction, as far as whoever works in it need know."""

    @property
    def dialect(self) -> Dialect:
        """The database's."""

    async def rows(self, sql: str, parameters: Sequence[Any]) -> Sequence[Any]:
        """Run one statement; the rows that it gives, as tuples."""

    async def many(self, sql: str, parameters: Sequence[Sequence[Any]]) -> None:
        """Run one statement for each of the parameters."""


class Remote:
    """A transaction of SQLAlchemy's."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    @property
    def dialect(self) -> Dialect:
        """The database's."""
        return self._connection.dialect

    async def rows(self, sql: str, parameters: Sequence[Any]) -> Sequence[Any]:
        """Run one statement; what it gives, if it gives anything."""
        result = await self._connection.exec_driver_sql(sql, tuple(parameters))
        return result.all() if result.returns_rows else ()

    async def many(self, sql: str, parameters: Sequence[Sequence[Any]]) -> None:
        """Run one statement for each of the parameters."""
        await self._connection.exec_driver_sql(sql, list(parameters))


class Local:
    """A transaction of SQLite, in the thread that its connection lives in."""

    def __init__(self, cursor: sqlite3.Cursor, dialect: Dialect) -> None:
        self._cursor = cursor
        self._dialect = dialect

    @property
    def dialect(self) -> Dialect:
        """The database's."""
        return self._dialect

    async def rows(self, sql: str, parameters: Sequence[Any]) -> Sequence[Any]:
        """Run one statement; what it gives, if it gives anything."""
        return self._cursor.execute(sql, parameters).fetchall()

    async def many(self, sql: str, parameters: Sequence[Sequence[Any]]) -> None:
        """Run one statement for each of the parameters."""
        self._cursor.executemany(sql, parameters)


def run_through(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never waits."""
    try:
        work.send(None)
    except StopIteration as ended:
        result: T = ended.value
        return result
    work.close()
    raise AssertionError("it waited, inside a thread that nobody would wake")


class Query:
    """A statement over rows that are handed in, however many: built and compiled once a dialect."""

    def __init__(self, build: Build) -> None:
        self._build = build
        self._compiled: dict[str, tuple[Rows, str, tuple[str, ...], dict[str, Any]]] = {}

    async def __call__(self, on: Statements, rows: Iterable[Sequence[object]]) -> Sequence[Any]:
        """Run it for these rows, each in the order of their types; what it gives, as tuples."""
        name = on.dialect.name
        if name not in self._compiled:
            self._compiled[name] = self._compile(on.dialect)
        asked, sql, order, fixed = self._compiled[name]
        values = {**fixed, **asked.bind(rows)}
        return await on.rows(sql, [values[key] for key in order])

    def _compile(self, dialect: Dialect) -> tuple[Rows, str, tuple[str, ...], dict[str, Any]]:
        asked, statement = self._build(dialect.name)
        compiled = statement.compile(dialect=dialect)
        return asked, str(compiled), tuple(compiled.positiontup or ()), dict(compiled.params)


async def execute_many(
    on: Statements, statement: Insert, names: tuple[str, ...], rows: Sequence[Sequence[Any]]
) -> None:
    """Run an INSERT for some rows, at least one, whose values come in the order of ``names``.

    Past SQLAlchemy's handling of parameters, which costs more than the database does: our columns are
    text, integers and booleans, which both drivers take as they are. PostgreSQL gets them in one
    statement, a list a column, at a fifth of what a statement a row costs it.
    """
    sql = _inserting(statement, on.dialect, names)
    if on.dialect.name == "sqlite":
        await on.many(sql, rows)
    else:
        await on.rows(sql, tuple(map(list, zip(*rows, strict=True))))


@lru_cache(maxsize=64)
def _inserting(statement: Insert, dialect: Dialect, names: tuple[str, ...]) -> str:
    wanted = names
    if dialect.name != "sqlite":
        table = statement.table
        values = Rows(dialect.name, "v", {name: type(table.columns[name].type) for name in names})
        statement = statement.from_select(list(names), select(*values.c))
        wanted = tuple(f"v_{name}" for name in names)
    compiled = statement.compile(dialect=dialect, column_keys=list(names))
    if tuple(compiled.positiontup or ()) != wanted:
        raise AssertionError(f"the parameters are {compiled.positiontup}, not {wanted}")
    return str(compiled)
