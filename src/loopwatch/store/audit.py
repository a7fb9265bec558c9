"""Who changed what and when: settings and configurations, which note themselves, and every other change."""

from datetime import datetime
from typing import TYPE_CHECKING

import msgspec
from sqlalchemy import select

from loopwatch.records.moments import moment
from loopwatch.store.configurations import Configurations
from loopwatch.store.engines import Database
from loopwatch.store.projects import Projects
from loopwatch.store.tables import audit

if TYPE_CHECKING:
    from collections.abc import Sequence

EVERYWHERE = ""
"""The project of what concerns the whole server, such as its members."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One change: who made it, when, and what it was, in words."""

    at: datetime
    actor: str
    what: str


class Audit:
    """The changes of all projects."""

    def __init__(self, database: Database, projects: Projects, configurations: Configurations) -> None:
        self._database = database
        self._projects = projects
        self._configurations = configurations

    async def note(self, project_id: str, actor: str, what: str, *, user_id: str = "") -> None:
        """Note a change that was made. ``user_id`` is whom it is about: it is forgotten with them."""
        entry = {
            "project_id": project_id,
            "at_us": self._database.now(),
            "actor": actor,
            "what": what,
            "user_id": user_id,
        }
        async with self._database.writing() as connection:
            await connection.execute(audit.insert(), entry)

    async def list(self, project_id: str, limit: int = 100) -> "Sequence[Entry]":
        """The latest changes of a project and of the server, newest first."""
        newest = (
            select(audit)
            .where(audit.c.project_id.in_((project_id, EVERYWHERE)))
            .order_by(audit.c.id.desc())
            .limit(limit)
        )
        async with self._database.reading() as connection:
            rows = (await connection.execute(newest)).all()
        entries = [Entry(at=moment(row.at_us), actor=row.actor, what=row.what) for row in rows]
        entries += [
            Entry(at=one.at, actor=one.actor, what=f"settings: {', '.join(one.changed)}")
            for one in await self._projects.audit(project_id, limit)
        ]
        entries += [
            Entry(at=one.at, actor=one.actor, what=f"configuration {one.name}: {one.action}")
            for one in await self._configurations.changes(project_id, limit=limit)
        ]
        return sorted(entries, key=lambda entry: entry.at, reverse=True)[:limit]
