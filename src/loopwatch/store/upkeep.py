"""What keeps a database small and safe: pruning by retention, and a copy of SQLite while it is in use."""

import asyncio
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

from sqlalchemy import ColumnElement, Table, delete, select

from loopwatch.config.project import MOST_WINDOW
from loopwatch.errors import InputError, StoreError
from loopwatch.records.moments import span_micros
from loopwatch.store.engines import Database
from loopwatch.store.outbox import DONE
from loopwatch.store.projects import Projects
from loopwatch.store.statements import Remote
from loopwatch.store.tables import (
    alerts,
    audit,
    calls,
    claims,
    configuration_changes,
    configurations,
    deliveries,
    hourly,
    keys,
    outbox,
    projects,
    settings_audit,
    user_months,
    users,
    window_buckets,
)

DAY = 86_400_000_000
AT_ONCE = 5_000
"""Rows deleted in one transaction: between them the writer gets its turn."""
KEPT_DAYS = 400
"""Days that alerts, sent messages and claims are kept: a year to look back on, and a bit."""


class Upkeep:
    """Housekeeping, to be done every hour or so by whoever runs the server."""

    def __init__(self, database: Database, every: Projects) -> None:
        self._database = database
        self._projects = every

    async def prune(self) -> int:
        """Delete what is older than each project keeps it. Returns the number of rows.

        Never a call that a window still holds, whatever the retention says, and never a message that has
        not been sent or given up. Hourly and monthly sums stay.
        """
        now, gone = self._database.now(), 0
        async with self._database.reading() as connection:
            ids = (await connection.execute(select(projects.c.id))).scalars().all()
            current = await self._projects.current(Remote(connection), ids)
        for project_id, one in current.items():
            settings = one.settings
            kept = max(timedelta(days=settings.retention_days), settings.window * 2)
            old = now - span_micros(kept.total_seconds())
            gone += await self._delete(calls, calls.c.project_id == project_id, calls.c.at_us < old)
        # As long as a window can be, whatever it is today: it may be lengthened, and holds at once.
        past = now - 2 * span_micros(MOST_WINDOW * 60)
        gone += await self._delete(window_buckets, window_buckets.c.start_us < past)
        return gone + await self._prune_sent(now - KEPT_DAYS * DAY)

    async def delete(self, project_id: str) -> None:
        """Delete a project with everything in it: its keys first, so that nothing more comes."""
        sent = select(outbox.c.id).where(outbox.c.project_id == project_id)
        async with self._database.writing() as connection:
            await connection.execute(delete(keys).where(keys.c.project_id == project_id))
            await connection.execute(delete(projects).where(projects.c.id == project_id))
            await connection.execute(delete(deliveries).where(deliveries.c.outbox_id.in_(sent)))
        kept = (calls, hourly, user_months, window_buckets, alerts, outbox, users, settings_audit)
        for table in (*kept, configurations, configuration_changes, audit):
            await self._delete(table, table.c.project_id == project_id)

    async def _prune_sent(self, old: int) -> int:
        done = outbox.c.state.in_(DONE)
        gone = await self._delete(outbox, done, outbox.c.created_us < old)
        unsent = select(outbox.c.alert_id).where(outbox.c.alert_id.is_not(None))
        gone += await self._delete(alerts, alerts.c.at_us < old, alerts.c.id.not_in(unsent))
        gone += await self._delete(deliveries, deliveries.c.outbox_id.not_in(select(outbox.c.id)))
        return gone + await self._delete(claims, claims.c.at_us < old)

    async def _delete(self, table: Table, *old: ColumnElement[bool]) -> int:
        """Delete in portions, each a transaction of its own."""
        (key, *more) = table.primary_key.columns
        gone = 0
        while True:
            some = select(*table.primary_key.columns).where(*old).limit(AT_ONCE)
            async with self._database.writing() as connection:
                if more:
                    # A few columns make the key: the condition alone is as exact, and these rows are small.
                    done = await connection.execute(delete(table).where(*old))
                    return done.rowcount
                done = await connection.execute(delete(table).where(key.in_(some)))
            gone += done.rowcount
            if done.rowcount < AT_ONCE:
                return gone

    async def backup(self, target: Path) -> None:
        """Copy a SQLite database, whole and consistent, while it is in use. Raises InputError, StoreError."""
        if not self._database.is_sqlite:
            raise InputError("PostgreSQL is backed up with pg_dump")
        await asyncio.to_thread(_copy, str(self._database.engine.url.database), target)


def _copy(source: str, target: Path) -> None:
    try:
        with target.open("xb"):
            pass
    except FileExistsError:
        raise InputError(f"{target} exists: name a file that does not") from None
    except OSError as error:
        raise InputError(f"{target}: {error.strerror}") from None
    try:
        _copied(source, target)
    except sqlite3.Error as error:
        target.unlink(missing_ok=True)
        raise StoreError(f"{target} could not be written: {error}") from None


def _copied(source: str, target: Path) -> None:
    with closing(sqlite3.connect(source)) as origin, closing(sqlite3.connect(target)) as copy:
        origin.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE")  # one file, complete without a log beside it
