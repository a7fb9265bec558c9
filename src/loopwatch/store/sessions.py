"""Who is signed in, and how often somebody who is not has tried. Sessions end here, not in the browser."""

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import msgspec
from sqlalchemy import case, delete, select, update

from loopwatch.records.moments import moment, span_micros
from loopwatch.store.dialect import insert
from loopwatch.store.engines import Database
from loopwatch.store.members import Member, digest, member
from loopwatch.store.tables import attempts, members, sessions

LIFETIME = timedelta(days=30)
IDLE = timedelta(days=7)
"""Days without a visit after which a session has ended."""
_NOTED = 60_000_000
"""Microseconds between two notes that a session is in use: not every page is worth a write."""
MOST_BROWSER = 200


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """One browser that is signed in; ``id`` opens nothing."""

    id: str
    browser: str
    created_at: datetime
    seen_at: datetime


class SignedIn(NamedTuple):
    """Whose session it is, and which."""

    member: Member
    session_id: str


class Sessions:
    """The sessions of all members."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, member_id: str, browser: str) -> str:
        """Sign a member in. The token is for their browser; only its hash is kept."""
        token, now = secrets.token_urlsafe(32), self._database.now()
        row = {
            "digest": digest(token),
            "member_id": member_id,
            "created_us": now,
            "seen_us": now,
            "expires_us": now + span_micros(LIFETIME.total_seconds()),
            "browser": browser[:MOST_BROWSER],
        }
        async with self._database.writing() as connection:
            await connection.execute(delete(sessions).where(sessions.c.expires_us <= now))
            await connection.execute(sessions.insert(), row)
        return token

    async def find(self, token: str) -> SignedIn | None:
        """Whose session a token is, while it holds; that it was used is noted now and then."""
        now, key = self._database.now(), digest(token)
        idle = now - span_micros(IDLE.total_seconds())
        holds = (sessions.c.digest == key, sessions.c.expires_us > now, sessions.c.seen_us > idle)
        wanted = (
            select(members, sessions.c.seen_us)
            .join_from(sessions, members, members.c.id == sessions.c.member_id)
            .where(*holds)
        )
        async with self._database.reading() as connection:
            row = (await connection.execute(wanted)).one_or_none()
        if row is None:
            return None
        if now - row.seen_us > _NOTED:
            async with self._database.writing() as connection:
                await connection.execute(update(sessions).where(*holds).values(seen_us=now))
        return SignedIn(member(row), key)

    async def list(self, member_id: str) -> Sequence[Session]:
        """A member's sessions, the latest used first."""
        now, of = self._database.now(), sessions.c
        idle = now - span_micros(IDLE.total_seconds())
        wanted = select(sessions).where(of.member_id == member_id, of.expires_us > now, of.seen_us > idle)
        async with self._database.reading() as connection:
            rows = await connection.execute(wanted.order_by(of.seen_us.desc(), of.digest))
            return [
                Session(
                    id=row.digest,
                    browser=row.browser,
                    created_at=moment(row.created_us),
                    seen_at=moment(row.seen_us),
                )
                for row in rows
            ]

    async def end(self, session_id: str) -> None:
        """Sign one browser out."""
        async with self._database.writing() as connection:
            await connection.execute(delete(sessions).where(sessions.c.digest == session_id))

    async def end_all(self, member_id: str) -> None:
        """Sign a member out everywhere."""
        async with self._database.writing() as connection:
            await connection.execute(delete(sessions).where(sessions.c.member_id == member_id))

    async def note_attempt(self, name: str, window: timedelta) -> tuple[int, datetime]:
        """Count an attempt under a name: the how-manieth it is of a window, and when that ends."""
        now, length = self._database.now(), span_micros(window.total_seconds())
        statement = insert(self._database.dialect, attempts).values(name=name, count=1, since_us=now)
        fresh = attempts.c.since_us <= now - length
        counted = statement.on_conflict_do_update(
            index_elements=["name"],
            set_={
                "count": case((fresh, 1), else_=attempts.c.count + 1),
                "since_us": case((fresh, now), else_=attempts.c.since_us),
            },
        ).returning(attempts.c.count, attempts.c.since_us)
        async with self._database.writing() as connection:
            await connection.execute(delete(attempts).where(attempts.c.since_us <= now - 4 * length))
            count, since = (await connection.execute(counted)).one()
        return count, moment(since + length)

    async def forget_attempts(self, name: str) -> None:
        """Begin to count anew: it was them."""
        async with self._database.writing() as connection:
            await connection.execute(delete(attempts).where(attempts.c.name == name))
