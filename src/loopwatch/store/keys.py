"""Project keys: shown once, kept as a hash, replaced with an overlap, revoked.

A key is ``wk_`` and 256 random bits, so a plain SHA-256 keeps it: there is nothing to guess slowly.
"""

import hashlib
import hmac
import secrets
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from loopwatch.errors import InputError
from loopwatch.records.moments import micros, moment
from loopwatch.store.engines import Database
from loopwatch.store.tables import keys, projects

PREFIX = "wk_"
SHOWN = 10
"""Characters of a key by which people tell it from others: the prefix and 42 of its 256 bits."""
CACHE_SECONDS = 5.0
"""How long a key is believed without asking: in other processes a revoked key works for so long at most."""
MOST_CACHED = 4_096
MOST_CHARS = 200
"""Longest text that is looked at as a key at all."""


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """A key, as far as it may be shown. ``admin`` keys may change settings and block users."""

    id: str
    project_id: str
    name: str
    prefix: str
    admin: bool
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    def holds(self, at: datetime) -> bool:
        """Whether it opens anything at that time."""
        return self.revoked_at is None and (self.expires_at is None or at < self.expires_at)


class Issued(NamedTuple):
    """A new key; ``secret`` is shown this once and known nowhere afterwards."""

    key: Key
    secret: str

    def __repr__(self) -> str:
        return f"Issued(key={self.key!r})"


Show = Callable[[Issued], None]


class Keys:
    """The keys of all projects."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._cache: OrderedDict[str, tuple[float, Key]] = OrderedDict()

    async def create(
        self, project_id: str, name: str, *, admin: bool = False, show: Show | None = None
    ) -> Issued:
        """Make a key. Raises InputError where there is no such project.

        ``show`` is how its owner gets to see it: where that fails the key is revoked again.
        """
        async with self._database.writing() as connection:
            issued = await self._create(connection, project_id, name, admin=admin)
        await self._hand_over(issued, show)
        return issued

    async def _hand_over(self, issued: Issued, show: Show | None) -> None:
        if show is None:
            return
        try:
            show(issued)
        except BaseException:
            await self.revoke(issued.key.id)
            raise

    async def list(self, project_id: str | None = None) -> list[Key]:
        """A project's keys, or everybody's, oldest first; revoked ones too."""
        every = select(keys).order_by(keys.c.created_us, keys.c.id)
        if project_id is not None:
            every = every.where(keys.c.project_id == project_id)
        async with self._database.reading() as connection:
            return [_key(row) for row in await connection.execute(every)]

    async def revoke(self, key_id: str, project_id: str | None = None) -> bool:
        """End a key at once, given by its id or the beginning that is shown; whether there was one.

        With a project, only a key of that one. Raises InputError where more than one begins so.
        """
        async with self._database.writing() as connection:
            key = await self._find(connection, key_id, project_id)
            if key is None:
                return False
            ended = update(keys).where(keys.c.id == key.id, keys.c.revoked_us.is_(None))
            await connection.execute(ended.values(revoked_us=self._database.now()))
        self._forget(key.id)
        return True

    async def rotate(
        self, key_id: str, overlap: timedelta, project_id: str | None = None, *, show: Show | None = None
    ) -> Issued:
        """A new key in place of one, which holds for ``overlap`` yet. Raises InputError if there is none.

        ``show`` is as in ``create``: where it fails, the old key goes on as if nothing had been asked.
        """
        now = self._database.clock.now()
        async with self._database.writing() as connection:
            old = await self._find(connection, key_id, project_id)
            if old is None or not old.holds(now):
                raise InputError("there is no such key that still holds: see `loopwatch keys list`")
            issued = await self._create(connection, old.project_id, old.name, admin=old.admin)
        await self._hand_over(issued, show)
        ends = micros(now + max(overlap, timedelta(0)))
        is_later = or_(keys.c.expires_us.is_(None), keys.c.expires_us > ends)
        async with self._database.writing() as connection:
            changed = update(keys).where(keys.c.id == old.id, is_later)
            await connection.execute(changed.values(expires_us=ends))
        self._forget(old.id)
        return issued

    async def authenticate(self, secret: str) -> Key | None:
        """The key that ``secret`` is, while it holds. Comparing takes as long whatever is wrong with it."""
        if len(secret) > MOST_CHARS:
            return None
        digest = _digest(secret)
        cached = self._cache.get(digest)
        if cached is None or self._database.clock.monotonic() - cached[0] >= CACHE_SECONDS:
            cached = await self._look_up(digest)
        if cached is None or not cached[1].holds(self._database.clock.now()):
            return None
        return cached[1]

    async def _look_up(self, digest: str) -> tuple[float, Key] | None:
        async with self._database.reading() as connection:
            row = (await connection.execute(select(keys).where(keys.c.digest == digest))).one_or_none()
        self._cache.pop(digest, None)
        # The index has found the hash of the secret, not the secret: how long that took tells nothing.
        if row is None or not hmac.compare_digest(row.digest, digest):
            return None
        found = (self._database.clock.monotonic(), _key(row))
        self._cache[digest] = found
        if len(self._cache) > MOST_CACHED:
            self._cache.popitem(last=False)
        return found

    async def _create(
        self, connection: AsyncConnection, project_id: str, name: str, *, admin: bool
    ) -> Issued:
        there = await connection.execute(select(projects.c.id).where(projects.c.id == project_id))
        if there.one_or_none() is None:
            raise InputError(f"there is no project {project_id!r}")
        secret = PREFIX + secrets.token_urlsafe(32)
        row = {
            "id": f"key_{secrets.token_hex(6)}",
            "project_id": project_id,
            "name": name,
            "prefix": secret[:SHOWN],
            "digest": _digest(secret),
            "admin": admin,
            "created_us": self._database.now(),
        }
        made = await connection.execute(keys.insert().values(row).returning(keys))
        return Issued(_key(made.one()), secret)

    @staticmethod
    async def _find(connection: AsyncConnection, key_id: str, project_id: str | None) -> Key | None:
        wanted = select(keys).where(or_(keys.c.id == key_id, keys.c.prefix == key_id[:SHOWN]))
        if project_id is not None:
            wanted = wanted.where(keys.c.project_id == project_id)
        found = (await connection.execute(wanted)).all()
        if len(found) > 1:
            raise InputError("more than one key begins like that: give its id")
        return _key(found[0]) if found else None

    def _forget(self, key_id: str) -> None:
        for digest in [digest for digest, (_, key) in self._cache.items() if key.id == key_id]:
            del self._cache[digest]


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _key(row: Any) -> Key:
    return Key(
        id=row.id,
        project_id=row.project_id,
        name=row.name,
        prefix=row.prefix,
        admin=row.admin,
        created_at=moment(row.created_us),
        expires_at=None if row.expires_us is None else moment(row.expires_us),
        revoked_at=None if row.revoked_us is None else moment(row.revoked_us),
    )
