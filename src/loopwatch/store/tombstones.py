"""Users whose data was deleted while they were blocked: the block holds, under a name that tells nothing.

To ask to be forgotten must not be a way around a block. What is kept is a keyed hash of the user's id,
which only who has the database can compare with an id, and no more: no dates of theirs, no reason.
"""

from collections.abc import Iterable

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncConnection

from loopwatch.records.identity import Pseudonym
from loopwatch.store.dialect import insert
from loopwatch.store.tables import users

REASON = "blocked before their data was deleted"


async def put(connection: AsyncConnection, project_id: str, name: str, now: int) -> None:
    """Keep the block of a user who is deleted, under the user's pseudonym; once is enough."""
    row = {"project_id": project_id, "user_id": name, "first_us": now, "last_us": now}
    kept = insert(connection.dialect.name, users).values(**row, blocked=True, blocked_reason=REASON)
    await connection.execute(kept.on_conflict_do_nothing())


async def take_away(connection: AsyncConnection, project_id: str, name: str) -> None:
    """Let the user through again."""
    await connection.execute(delete(users).where(users.c.project_id == project_id, users.c.user_id == name))


async def blocked(
    connection: AsyncConnection, project_id: str, user_ids: Iterable[str], pseudonym: Pseudonym
) -> frozenset[str]:
    """Which of some users were blocked when they were deleted."""
    named = {pseudonym(user_id): user_id for user_id in user_ids}
    if not named:
        return frozenset()
    of_them = select(users.c.user_id).where(users.c.project_id == project_id, users.c.user_id.in_(named))
    return frozenset(named[name] for name in (await connection.execute(of_them)).scalars())
