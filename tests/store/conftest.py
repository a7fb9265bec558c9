"""A store of its own for every test, on SQLite and on PostgreSQL alike."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path

import asyncpg  # type: ignore[import-untyped]
import pytest

from loopwatch.clock import ManualClock, SystemClock
from loopwatch.store import schema
from loopwatch.store.engines import open_database
from loopwatch.store.opening import Store, open_store
from tests.store.calls import price_of
from tests.store.servers import postgres, valkey

_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """A PostgreSQL server with the database ``ours``, which has our schema and is copied for each test."""
    with postgres() as url:
        asyncio.run(_sql(url, "CREATE DATABASE ours"))
        asyncio.run(_migrate(at(url, "ours")))
        yield url


@pytest.fixture(scope="session")
def valkey_server() -> Iterator[str]:
    with valkey() as url:
        yield url


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/loopwatch.db"


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """A database with our schema and nothing in it."""
    name = f"test_{next(_NUMBERS)}"
    asyncio.run(_sql(postgres_server, f"CREATE DATABASE {name} TEMPLATE ours"))
    return at(postgres_server, name)


@pytest.fixture
def empty_postgres_url(postgres_server: str) -> str:
    name = f"test_{next(_NUMBERS)}"
    asyncio.run(_sql(postgres_server, f"CREATE DATABASE {name}"))
    return at(postgres_server, name)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    """The address of an empty database."""
    name = "sqlite_url" if request.param == "sqlite" else "postgres_url"
    address: str = request.getfixturevalue(name)
    return address


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime(2026, 11, 15, 12, 0, tzinfo=UTC))


@pytest.fixture
async def store(url: str, clock: ManualClock) -> AsyncIterator[Store]:
    async with open_store(url, clock, price=price_of) as opened:
        yield opened


def at(url: str, name: str) -> str:
    """The address of another database of the same server."""
    return f"{url.rpartition('/')[0]}/{name}"


async def _sql(url: str, statement: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(statement)
    await connection.close()


async def _migrate(url: str) -> None:
    database = open_database(url, SystemClock())
    await schema.upgrade(database)
    await database.engine.dispose()
