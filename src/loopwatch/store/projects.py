"""Projects and their settings. A change holds from the next call on, in every process at once.

Every batch reads the version of its projects' settings inside its own transaction and the document only
where the version is new: no process goes by what another has changed.
"""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Select, Text, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from loopwatch.config.project import ProjectSettings
from loopwatch.config.reach import EVERYWHERE, Reach
from loopwatch.config.settings import read_settings, unmasked
from loopwatch.errors import InputError
from loopwatch.records.identity import Pseudonym, pseudonym
from loopwatch.records.moments import moment
from loopwatch.store.dialect import Rows
from loopwatch.store.engines import Database
from loopwatch.store.statements import Query, Remote, Statements
from loopwatch.store.tables import projects, settings_audit

MOST_NAME = 200


class Project(msgspec.Struct, frozen=True, kw_only=True):
    """A project, as far as it may be shown."""

    id: str
    name: str
    created_at: datetime


class Versioned(msgspec.Struct, frozen=True, kw_only=True):
    """Settings, which version of them, and the ways in which this project hashes names.

    ``pseudonym`` is for those that look personal, None where the project refuses them; ``tombstone`` for
    users who were blocked when they were deleted.
    """

    version: int
    settings: ProjectSettings
    pseudonym: Pseudonym | None
    tombstone: Pseudonym


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One change of settings: who made it, and of which keys. Values are not kept: some are secrets."""

    version: int
    at: datetime
    actor: str
    changed: tuple[str, ...]


class Projects:
    """The projects of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[str, Versioned] = {}

    async def create(
        self,
        name: str,
        settings: Mapping[str, Any] | None = None,
        reach: Reach = Reach(),  # noqa: B008  frozen
    ) -> Project:
        """Make a project. Raises InputError for its name, ConfigError for its settings."""
        name = name.strip()
        if not name or len(name) > MOST_NAME or not name.isprintable():
            raise InputError(f"a project needs a name of 1 to {MOST_NAME} characters that can be printed")
        document = read_settings(settings or {}, reach).document()
        now = self._database.now()
        row: dict[str, Any] = {
            "id": f"prj_{secrets.token_hex(8)}",
            "name": name,
            "created_us": now,
            "settings": _text(document),
            "settings_version": 1,
            "pseudonym_key": secrets.token_hex(32),
        }
        async with self._database.writing() as connection:
            await connection.execute(projects.insert(), row)
        return Project(id=row["id"], name=row["name"], created_at=moment(now))

    async def list(self) -> list[Project]:
        """All projects, oldest first."""
        async with self._database.reading() as connection:
            rows = await connection.execute(select(projects).order_by(projects.c.created_us, projects.c.id))
            return [Project(id=row.id, name=row.name, created_at=moment(row.created_us)) for row in rows]

    async def get(self, project_id: str) -> Project | None:
        """One project; None where there is none."""
        async with self._database.reading() as connection:
            found = await connection.execute(select(projects).where(projects.c.id == project_id))
            row = found.one_or_none()
        return None if row is None else Project(id=row.id, name=row.name, created_at=moment(row.created_us))

    async def settings(self, project_id: str) -> Versioned:
        """The settings as they are now. Raises InputError where there is no such project."""
        async with self._database.reading() as connection:
            return _existing(await self.current(Remote(connection), [project_id]), project_id)

    def known(self, project_id: str) -> Versioned | None:
        """The settings as last seen, without asking: good enough to clamp a clock, not to decide."""
        return self._known.get(project_id)

    async def change(
        self,
        project_id: str,
        changes: Mapping[str, Any],
        actor: str,
        reach: Reach = Reach(),  # noqa: B008  frozen
    ) -> Versioned:
        """Set some keys; null takes one back to its default. Raises ConfigError with every defect.

        ``actor`` is who did it, for the audit: the name of a key or of a user of the console. A mask
        stands for the secret that there is; ``reach`` is where the operator lets webhooks lead.
        """
        async with self._database.writing() as connection:
            locked = select(projects.c.settings).where(projects.c.id == project_id).with_for_update()
            found = (await connection.execute(locked)).scalar_one_or_none()
            before = msgspec.json.decode(found) if found is not None else {}
            merged = {key: value for key, value in {**before, **changes}.items() if value is not None}
            written = await self._write(connection, project_id, merged, actor, reach)
        return self._keep(project_id, written)

    async def replace(
        self,
        project_id: str,
        document: Mapping[str, Any],
        actor: str,
        reach: Reach = Reach(),  # noqa: B008  frozen
    ) -> Versioned:
        """Set all keys: what the document lacks goes back to its default. Raises as ``change``."""
        async with self._database.writing() as connection:
            written = await self._write(connection, project_id, document, actor, reach)
        return self._keep(project_id, written)

    async def audit(self, project_id: str, limit: int = 100) -> Sequence[Change]:
        """The latest changes, newest first."""
        audit = settings_audit.c
        latest = select(settings_audit).where(audit.project_id == project_id)
        async with self._database.reading() as connection:
            rows = await connection.execute(latest.order_by(audit.version.desc()).limit(limit))
            return [
                Change(
                    version=row.version,
                    at=moment(row.at_us),
                    actor=row.actor,
                    changed=tuple(msgspec.json.decode(row.changed)),
                )
                for row in rows
            ]

    async def current(self, on: Statements, ids: Iterable[str]) -> dict[str, Versioned]:
        """The settings of those projects that exist, as this transaction sees them."""
        found = await _versions(on, [(one,) for one in ids])
        new = [(row[0],) for row in found if not self._knows(*row)]
        for row in await _documents(on, new) if new else ():
            self._known[row[0]] = _versioned(*row[1:])
        return {row[0]: self._known[row[0]] for row in found}

    def _keep(self, project_id: str, committed: Versioned) -> Versioned:
        """Have a change at hand: only once it is committed, or another might get its version."""
        self._known[project_id] = committed
        return committed

    def _knows(self, project_id: str, version: int) -> bool:
        known = self._known.get(project_id)
        return known is not None and known.version == version

    async def _write(
        self,
        connection: AsyncConnection,
        project_id: str,
        document: Mapping[str, Any],
        actor: str,
        reach: Reach,
    ) -> Versioned:
        before = _existing(await self.current(Remote(connection), [project_id]), project_id)
        old = before.settings.document()
        known = frozenset(str(channel["url"]) for channel in old.get("channels", ()) if "url" in channel)
        new = read_settings(unmasked(document, old), replace(reach, known=known)).document()
        changed = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
        if not changed:
            return before
        written = (
            update(projects)
            .where(projects.c.id == project_id)
            .values(settings=_text(new), settings_version=projects.c.settings_version + 1)
            .returning(projects.c.settings_version)
        )
        version = (await connection.execute(written)).scalar_one()
        entry = {
            "project_id": project_id,
            "version": version,
            "at_us": self._database.now(),
            "actor": actor,
            "changed": _text(changed),
        }
        await connection.execute(settings_audit.insert(), entry)
        ((_, *stored),) = await _documents(Remote(connection), [(project_id,)])
        return _versioned(*stored)


@Query
def _versions(dialect: str) -> tuple[Rows, Select[Any]]:
    return _of_those(dialect, projects.c.id, projects.c.settings_version)


@Query
def _documents(dialect: str) -> tuple[Rows, Select[Any]]:
    of = projects.c
    return _of_those(dialect, of.id, of.settings_version, of.settings, of.pseudonym_key)


def _of_those(dialect: str, *columns: ColumnElement[Any]) -> tuple[Rows, Select[Any]]:
    wanted = Rows(dialect, "p", {"id": Text})
    return wanted, select(*columns).join_from(wanted.table, projects, projects.c.id == wanted.c.id)


def _versioned(version: int, document: str, pseudonym_key: str) -> Versioned:
    settings = read_settings(msgspec.json.decode(document), EVERYWHERE)
    key = bytes.fromhex(pseudonym_key)
    return Versioned(
        version=version,
        settings=settings,
        pseudonym=pseudonym(key) if settings.pseudonymise else None,
        tombstone=pseudonym(key, "gone_"),
    )


def _existing(found: Mapping[str, Versioned], project_id: str) -> Versioned:
    if project_id not in found:
        raise InputError(f"there is no project {project_id!r}")
    return found[project_id]


def _text(value: object) -> str:
    return msgspec.json.encode(value).decode()
