"""A project's agent configurations: sound documents by their names, and who changed them when.

Whoever saves says which version they edited: where somebody else was quicker, nothing is written. Only
what was judged sound comes here; the text is kept as it was written.
"""

import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

import msgspec
from sqlalchemy import delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from loopwatch.errors import InputError
from loopwatch.records.moments import moment
from loopwatch.store.engines import Database
from loopwatch.store.tables import configuration_changes, configurations, projects

MOST_NAME = 200
MOST_CONFIGURATIONS = 500
"""Configurations of a project: they are listed on one page."""

Action = Literal["created", "imported", "duplicated", "saved", "deleted"]


class Configuration(msgspec.Struct, frozen=True, kw_only=True):
    """A configuration as it is now; ``document`` is its JSON text."""

    id: str
    name: str
    document: str
    version: int
    created_at: datetime
    updated_at: datetime
    updated_by: str


class ConfigurationChange(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody did to a configuration, which may be gone since."""

    configuration_id: str
    version: int
    name: str
    action: Action
    at: datetime
    actor: str


class Configurations:
    """The configurations of all projects."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(self, project_id: str) -> "list[Configuration]":
        """A project's configurations, by name."""
        of = configurations.c
        wanted = select(configurations).where(of.project_id == project_id)
        async with self._database.reading() as connection:
            rows = await connection.execute(wanted.order_by(func.lower(of.name), of.created_us, of.id))
            return [_configuration(row) for row in rows]

    async def get(self, project_id: str, configuration_id: str) -> Configuration | None:
        """One of a project's configurations; None where it has no such one."""
        async with self._database.reading() as connection:
            row = (
                await connection.execute(select(configurations).where(*_is(project_id, configuration_id)))
            ).first()
        return None if row is None else _configuration(row)

    async def create(
        self, project_id: str, name: str, document: str, actor: str, action: Action = "created"
    ) -> Configuration:
        """Keep another one. Raises InputError for its name, or where the project has too many."""
        now = self._database.now()
        row = {
            "id": f"cfg_{secrets.token_hex(8)}",
            "project_id": project_id,
            "name": checked_name(name),
            "document": document,
            "version": 1,
            "created_us": now,
            "updated_us": now,
            "updated_by": actor,
        }
        counted = select(func.count()).where(configurations.c.project_id == project_id)
        # The project's row is locked, so that two at once cannot both be the last that fits.
        owner = select(projects.c.id).where(projects.c.id == project_id).with_for_update()
        async with self._database.writing() as connection:
            if (await connection.execute(owner)).first() is None:
                raise InputError(f"there is no project {project_id!r}")
            if (await connection.execute(counted)).scalar_one() >= MOST_CONFIGURATIONS:
                raise InputError(
                    f"a project has at most {MOST_CONFIGURATIONS} configurations: delete one of them"
                )
            made = await connection.execute(configurations.insert().values(row).returning(configurations))
            created = _configuration(made.one())
            await self._note(connection, project_id, created, action)
        return created

    async def save(
        self, project_id: str, configuration_id: str, version: int, *, name: str, document: str, actor: str
    ) -> Configuration | None:
        """Replace the name and the document of ``version``. Raises InputError for the name.

        None, and nothing is written, where that version is no longer the newest or was deleted.
        """
        of = configurations.c
        written = (
            update(configurations)
            .where(*_is(project_id, configuration_id), of.version == version)
            .values(
                name=checked_name(name),
                document=document,
                version=of.version + 1,
                updated_us=self._database.now(),
                updated_by=actor,
            )
            .returning(configurations)
        )
        async with self._database.writing() as connection:
            row = (await connection.execute(written)).first()
            if row is None:
                return None
            saved = _configuration(row)
            await self._note(connection, project_id, saved, "saved")
        return saved

    async def delete(self, project_id: str, configuration_id: str, actor: str) -> bool:
        """Forget one; whether there was one. That it was there, and who deleted it, is kept."""
        ended = delete(configurations).where(*_is(project_id, configuration_id)).returning(configurations)
        async with self._database.writing() as connection:
            row = (await connection.execute(ended)).first()
            if row is None:
                return False
            gone = msgspec.structs.replace(
                _configuration(row),
                version=row.version + 1,
                updated_at=moment(self._database.now()),
                updated_by=actor,
            )
            await self._note(connection, project_id, gone, "deleted")
        return True

    async def changes(
        self, project_id: str, configuration_id: str | None = None, limit: int = 100
    ) -> Sequence[ConfigurationChange]:
        """The latest changes of a project's configurations, or of one of them, newest first."""
        of = configuration_changes.c
        latest = select(configuration_changes).where(of.project_id == project_id)
        if configuration_id is not None:
            latest = latest.where(of.configuration_id == configuration_id)
        newest = latest.order_by(of.at_us.desc(), of.configuration_id, of.version.desc()).limit(limit)
        async with self._database.reading() as connection:
            return [_change(row) for row in await connection.execute(newest)]

    async def _note(
        self, connection: AsyncConnection, project_id: str, of: Configuration, action: Action
    ) -> None:
        entry = {
            "project_id": project_id,
            "configuration_id": of.id,
            "version": of.version,
            "name": of.name,
            "action": action,
            "at_us": self._database.now(),
            "actor": of.updated_by,
        }
        await connection.execute(configuration_changes.insert(), entry)


def checked_name(name: str) -> str:
    """The name as it is kept. Raises InputError for what is none."""
    if not name.strip() or len(name.strip()) > MOST_NAME or "\x00" in name:
        raise InputError(f"a configuration needs a name of 1 to {MOST_NAME} characters")
    return name.strip()


def _is(project_id: str, configuration_id: str) -> tuple[Any, Any]:
    return configurations.c.project_id == project_id, configurations.c.id == configuration_id


def _configuration(row: Any) -> Configuration:
    return Configuration(
        id=row.id,
        name=row.name,
        document=row.document,
        version=row.version,
        created_at=moment(row.created_us),
        updated_at=moment(row.updated_us),
        updated_by=row.updated_by,
    )


def _change(row: Any) -> ConfigurationChange:
    return ConfigurationChange(
        configuration_id=row.configuration_id,
        version=row.version,
        name=row.name,
        action=row.action,
        at=moment(row.at_us),
        actor=row.actor,
    )
