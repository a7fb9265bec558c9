"""The schema's version: brought up to ours, or the start refused.

Alembic is slow to import and needed only where there is something to do.
"""

from importlib.resources import files

from sqlalchemy import Connection, inspect, text

from loopwatch.errors import StoreError
from loopwatch.store.engines import Database

NEWEST = "0005"
"""The last step of ``migrations``."""
_LOCK = 7_146_303
"""PostgreSQL's advisory lock under which one process migrates; the number is ours and means nothing."""


async def version(database: Database) -> str | None:
    """The schema's version; None where there is no schema yet."""
    async with database.reading() as connection:
        return await connection.run_sync(_version)


async def check(database: Database) -> None:
    """Raise StoreError unless the schema is ours, saying which side to upgrade."""
    _judge(await version(database))


async def upgrade(database: Database) -> None:
    """Bring the schema up to ours; one process does it, others wait. Raises StoreError for a newer one."""
    found = await version(database)
    if found == NEWEST:
        return
    if found is not None and found > NEWEST:
        _judge(found)
    async with database.writing() as connection:
        if not database.is_sqlite:
            await connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        await connection.run_sync(_migrate)


def _judge(found: str | None) -> None:
    if found is None or found < NEWEST:
        state = "empty" if found is None else f"of version {found}, older than {NEWEST}"
        raise StoreError(f"the database is {state}: run `loopwatch db upgrade`")
    if found > NEWEST:
        raise StoreError(
            f"the database is of version {found} and this loopwatch knows {NEWEST}: install a newer loopwatch"
        )


def _version(connection: Connection) -> str | None:
    tables = set(inspect(connection).get_table_names())
    if not {"alembic_version", "projects", "calls"} <= tables:
        _refuse_foreign(connection, tables)
        return None
    row = connection.execute(text("SELECT version_num FROM alembic_version")).first()
    return None if row is None else str(row[0])


def _refuse_foreign(connection: Connection, tables: set[str]) -> None:
    """Raise StoreError for another program's database. PostgreSQL's may be shared, but not two histories."""
    is_sqlite = connection.dialect.name == "sqlite"
    if "alembic_version" in tables or (is_sqlite and tables):
        raise StoreError("the database is of another program: it has tables, but not ours; name another one")


def _migrate(connection: Connection) -> None:
    from alembic.command import upgrade as run  # noqa: PLC0415  half a second, and seldom needed
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(files("loopwatch.store") / "migrations"))
    config.attributes["connection"] = connection
    run(config, "head")
