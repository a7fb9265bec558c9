"""Whoever signs in to the console: their names and roles, and the links by which they come to be members.

Members are the server's, not a project's: an owner may change everything, a viewer may look. Passwords
come here hashed, tokens of links are kept as hashes.
"""

import hashlib
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

import msgspec
from sqlalchemy import delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from loopwatch.errors import InputError
from loopwatch.records.moments import moment, span_micros
from loopwatch.store.engines import Database
from loopwatch.store.tables import invitations, members, sessions

Role = Literal["owner", "viewer"]
ROLES: tuple[Role, ...] = ("owner", "viewer")
MOST_NAME = 100
LIFETIME = timedelta(days=3)
"""How long an invitation holds: over a weekend."""
FIRST_LIFETIME = timedelta(days=1)
"""How long the link of the first start holds; another start prints another."""
NOBODY = ""
"""Who invited the first owner."""
LAST_OWNER = "there must be an owner: make another one first"


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """A member, as far as they may be shown."""

    id: str
    name: str
    role: Role
    created_at: datetime

    @property
    def is_owner(self) -> bool:
        """Whether they may change anything."""
        return self.role == "owner"


class Invitation(msgspec.Struct, frozen=True, kw_only=True):
    """A link that makes a member, once; ``id`` tells it from others and opens nothing."""

    id: str
    role: Role
    invited_by: str
    created_at: datetime
    expires_at: datetime


def digest(token: str) -> str:
    """How a random token is kept: it has 256 bits, so that there is nothing to guess slowly."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


class Members:
    """The members of the console, and who is invited to be one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(self) -> "list[Member]":
        """All members, oldest first."""
        async with self._database.reading() as connection:
            rows = await connection.execute(select(members).order_by(members.c.created_us, members.c.id))
            return [member(row) for row in rows]

    async def count(self) -> int:
        """How many members there are."""
        async with self._database.reading() as connection:
            return (await connection.execute(select(func.count()).select_from(members))).scalar_one()

    async def find(self, name: str) -> tuple[Member, str] | None:
        """The member of that name, whatever its case, and the hash of their password."""
        async with self._database.reading() as connection:
            row = (
                await connection.execute(select(members).where(members.c.name == folded(name)))
            ).one_or_none()
        return None if row is None else (member(row), row.password)

    async def set_password(self, member_id: str, hashed: str, keep: str = "") -> None:
        """Give a member another password, and end their sessions but for that with the digest ``keep``."""
        async with self._database.writing() as connection:
            of_member = update(members).where(members.c.id == member_id)
            await connection.execute(of_member.values(password=hashed))
            await connection.execute(
                delete(sessions).where(sessions.c.member_id == member_id, sessions.c.digest != keep)
            )

    async def set_role(self, member_id: str, role: Role) -> None:
        """Make a member an owner or a viewer. Raises InputError for the last owner."""
        async with self._database.writing() as connection:
            await self._lock(connection)
            await connection.execute(update(members).where(members.c.id == member_id).values(role=role))
            await self._keep_an_owner(connection)

    async def remove(self, member_id: str) -> None:
        """Remove a member, and end their sessions. Raises InputError for the last owner."""
        async with self._database.writing() as connection:
            await self._lock(connection)
            await connection.execute(delete(members).where(members.c.id == member_id))
            await connection.execute(delete(sessions).where(sessions.c.member_id == member_id))
            await self._keep_an_owner(connection)

    async def invite(self, role: Role, invited_by: str, lifetime: timedelta = LIFETIME) -> str:
        """Make an invitation; its token is shown this once and known nowhere afterwards."""
        token, now = secrets.token_urlsafe(32), self._database.now()
        row = {
            "digest": digest(token),
            "role": role,
            "invited_by": invited_by,
            "created_us": now,
            "expires_us": now + span_micros(lifetime.total_seconds()),
        }
        async with self._database.writing() as connection:
            await connection.execute(delete(invitations).where(invitations.c.expires_us <= now))
            await connection.execute(invitations.insert(), row)
        return token

    async def invitations(self) -> Sequence[Invitation]:
        """Those that hold yet, oldest first; links of a first start are left out."""
        of = invitations.c
        wanted = select(invitations).where(of.expires_us > self._database.now(), of.invited_by != NOBODY)
        async with self._database.reading() as connection:
            rows = await connection.execute(wanted.order_by(of.created_us, of.digest))
            return [_invitation(row) for row in rows]

    async def invitation(self, token: str) -> Invitation | None:
        """What a link invites to; None for one that is unknown, used or too old."""
        async with self._database.reading() as connection:
            return await self._valid(connection, token)

    async def withdraw(self, invitation_id: str) -> None:
        """Make a link invite nobody."""
        async with self._database.writing() as connection:
            await connection.execute(
                delete(invitations).where(invitations.c.digest.startswith(invitation_id, autoescape=True))
            )

    async def join(self, token: str, name: str, hashed: str) -> Member:
        """Use an invitation. Raises InputError for one that does not hold, and for a name that is taken."""
        row = {
            "id": f"mem_{secrets.token_hex(6)}",
            "name": folded(name),
            "password": hashed,
            "created_us": self._database.now(),
        }
        async with self._database.writing() as connection:
            await self._lock(connection)
            found = await self._valid(connection, token)
            used = delete(invitations).where(invitations.c.digest == digest(token))
            if found is None or (await connection.execute(used)).rowcount != 1:
                raise InputError("this link has been used, or is too old: ask for another")
            taken = select(members.c.id).where(members.c.name == row["name"])
            if (await connection.execute(taken)).first() is not None:
                raise InputError("somebody else has this name: choose another")
            await connection.execute(delete(invitations).where(invitations.c.invited_by == NOBODY))
            made = await connection.execute(
                members.insert().values(**row, role=found.role).returning(members)
            )
            return member(made.one())

    async def _valid(self, connection: AsyncConnection, token: str) -> Invitation | None:
        of = invitations.c
        wanted = select(invitations).where(of.digest == digest(token), of.expires_us > self._database.now())
        row = (await connection.execute(wanted)).one_or_none()
        if row is None:
            return None
        return _invitation(row)

    async def _lock(self, connection: AsyncConnection) -> None:
        """One change of members at a time: SQLite has one writer anyway."""
        await connection.execute(select(members.c.id).order_by(members.c.id).with_for_update())

    @staticmethod
    async def _keep_an_owner(connection: AsyncConnection) -> None:
        owners = select(func.count()).select_from(members).where(members.c.role == "owner")
        if (await connection.execute(owners)).scalar_one() == 0:
            raise InputError(LAST_OWNER)


def folded(name: str) -> str:
    """A member's name as it is kept: people do not mind its case."""
    return name.strip().casefold()


def member(row: Any) -> Member:
    """A member from their row."""
    return Member(id=row.id, name=row.name, role=row.role, created_at=moment(row.created_us))


def _invitation(row: Any) -> Invitation:
    return Invitation(
        id=row.digest[:16],
        role=row.role,
        invited_by=row.invited_by,
        created_at=moment(row.created_us),
        expires_at=moment(row.expires_us),
    )
