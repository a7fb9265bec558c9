"""The way in: ``open_store`` gives a ``Store`` for as long as its block lasts."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from sqlalchemy import text

from loopwatch.clock import Clock, SystemClock
from loopwatch.config.project import ProjectSettings
from loopwatch.config.rule import velocity
from loopwatch.records.call import Call
from loopwatch.store import schema
from loopwatch.store.alerts import Alerts
from loopwatch.store.audit import Audit
from loopwatch.store.configurations import Configurations
from loopwatch.store.crossings import Judge, Rules, no_messages
from loopwatch.store.engines import Database, open_database
from loopwatch.store.ingest import Ingest, Price
from loopwatch.store.keys import Keys
from loopwatch.store.members import Members
from loopwatch.store.outbox import Outbox
from loopwatch.store.projects import Projects
from loopwatch.store.reports import Reports
from loopwatch.store.secrets import Secrets
from loopwatch.store.series import Series
from loopwatch.store.sessions import Sessions
from loopwatch.store.storms import Compose, Storms
from loopwatch.store.upkeep import Upkeep
from loopwatch.store.users import Users
from loopwatch.store.valkey import ValkeyWindows
from loopwatch.store.windows import SqlWindows
from loopwatch.store.writer import Writer


@dataclass(frozen=True, slots=True)
class Store:
    """One database, with a face for each use."""

    database: Database
    writer: Writer
    projects: Projects
    keys: Keys
    users: Users
    reports: Reports
    series: Series
    alerts: Alerts
    outbox: Outbox
    storms: Storms
    upkeep: Upkeep
    members: Members
    sessions: Sessions
    secrets: Secrets
    configurations: Configurations
    audit: Audit

    async def ready(self) -> None:
        """Raise StoreUnavailable unless the database answers, StoreError unless its schema is ours."""
        async with self.database.reading() as connection:
            await connection.execute(text("SELECT 1"))
        self.database.refuse_gone()
        await schema.check(self.database)


def unpriced(call: Call, settings: ProjectSettings) -> int | None:
    """No price is known."""
    del call, settings
    return None


@asynccontextmanager
async def _writing(writer: Writer) -> AsyncIterator[None]:
    """Have the writer at work for the block; after it, until all that was taken in is stored.

    Not a TaskGroup: it would wrap whatever the block raises, and the writer itself raises nothing.
    """
    running = asyncio.ensure_future(writer.run())
    try:
        yield
    finally:
        writer.close()
        await running


@asynccontextmanager
async def open_store(
    url: str,
    clock: Clock | None = None,
    *,
    price: Price = unpriced,
    rules: Rules = velocity,
    compose: Compose = no_messages,
    windows: str | None = None,
    upgrade: bool | None = None,
) -> AsyncIterator[Store]:
    """Open the database at ``url`` (``sqlite:///PATH``, ``postgresql://…``) for the block.

    ``windows`` is the address of a Valkey or Redis that sums the windows. ``upgrade`` brings the schema
    up to date; None does so for SQLite, which has nobody else to do it. Leaving the block stores what
    has been taken in, and turns away what comes after. Raises InputError, StoreError, StoreUnavailable.
    """
    database = open_database(url, clock or SystemClock())
    try:
        if upgrade or (upgrade is None and database.is_sqlite):
            await schema.upgrade(database)
        await schema.check(database)
        database.is_open = True
        sql = SqlWindows()
        summed = sql if windows is None else ValkeyWindows(windows, sql, database.clock)
        projects, configurations = Projects(database), Configurations(database)
        writer = Writer(database, Ingest(projects, summed, Judge(rules, compose), price))
        try:
            async with _writing(writer):
                yield Store(
                    database,
                    writer,
                    projects,
                    Keys(database),
                    Users(database, projects, summed),
                    Reports(database),
                    Series(database, projects),
                    Alerts(database),
                    Outbox(database),
                    Storms(database, projects),
                    Upkeep(database, projects),
                    Members(database),
                    Sessions(database),
                    Secrets(database),
                    configurations,
                    Audit(database, projects, configurations),
                )
        finally:
            await summed.close()
    finally:
        await database.engine.dispose()
