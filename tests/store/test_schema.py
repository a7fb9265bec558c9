import asyncio

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from loopwatch.clock import ManualClock
from loopwatch.errors import StoreError
from loopwatch.store import migrations, schema
from loopwatch.store.engines import Database, open_database
from loopwatch.store.opening import open_store
from loopwatch.store.tables import metadata


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest) -> str:
    url: str = request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "empty_postgres_url")
    return url


async def set_version(database: Database, version: str) -> None:
    async with database.writing() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = :v"), {"v": version})


def differences(connection: Connection) -> list[object]:
    return list(compare_metadata(MigrationContext.configure(connection), metadata))


async def test_the_steps_lead_to_the_tables(empty_url: str, clock: ManualClock) -> None:
    database = open_database(empty_url, clock)
    assert await schema.version(database) is None
    await schema.upgrade(database)
    await schema.upgrade(database)
    assert await schema.version(database) == schema.NEWEST
    async with database.reading() as connection:
        assert await connection.run_sync(differences) == []
    await database.engine.dispose()


def test_the_newest_step_is_the_one_we_know() -> None:
    assert ScriptDirectory(migrations.__path__[0]).get_current_head() == schema.NEWEST


async def test_a_newer_schema_is_refused(empty_url: str, clock: ManualClock) -> None:
    database = open_database(empty_url, clock)
    await schema.upgrade(database)
    await set_version(database, "0999")
    await database.engine.dispose()
    for upgrade in (None, True):
        with pytest.raises(StoreError, match=r"of version 0999 and this loopwatch knows .*: install a newer"):
            async with open_store(empty_url, clock, upgrade=upgrade):
                raise AssertionError


async def test_sqlite_is_made_by_whoever_opens_it(sqlite_url: str, clock: ManualClock) -> None:
    async with open_store(sqlite_url, clock) as store:
        await store.ready()


async def test_postgresql_is_made_by_command(empty_postgres_url: str, clock: ManualClock) -> None:
    with pytest.raises(StoreError, match="the database is empty: run `loopwatch db upgrade`"):
        async with open_store(empty_postgres_url, clock):
            raise AssertionError
    async with open_store(empty_postgres_url, clock, upgrade=True) as store:
        await store.ready()
        await set_version(store.database, "0000")
        with pytest.raises(StoreError, match=r"of version 0000, older than .*: run `loopwatch db upgrade`"):
            await store.ready()


async def test_many_that_upgrade_at_once_do_it_once(empty_postgres_url: str, clock: ManualClock) -> None:
    databases = [open_database(empty_postgres_url, clock) for _ in range(4)]
    await asyncio.gather(*map(schema.upgrade, databases))
    assert await schema.version(databases[0]) == schema.NEWEST
    for database in databases:
        await database.engine.dispose()
