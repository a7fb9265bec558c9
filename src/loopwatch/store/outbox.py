"""What is to be sent, until it has been: ``alerts.outbox``'s protocol, over a table.

A courier claims deliveries under a lease; one that dies while sending leaves them to come due again.
Claims skip what another process is claiming, and no place has two deliveries under way at once, whoever
makes them. Every attempt is noted beside the delivery.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import Select, Update, and_, exists, func, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from loopwatch.records.delivery import Delivery, Draft, Place
from loopwatch.records.moments import micros, moment
from loopwatch.store.dialect import insert
from loopwatch.store.drafts import pending, write
from loopwatch.store.engines import Database
from loopwatch.store.statements import Remote
from loopwatch.store.tables import claims, deliveries, outbox

MOST_DETAIL = 500
OPEN = ("pending", "leased")
DONE = ("delivered", "dead", "folded")


class Progress(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How one delivery stands: pending, leased, delivered or dead; and the last thing said about it.

    An alert that is told together with others has "folding", then "folded", at the channel "summary".
    """

    alert_id: str | None
    channel: str
    state: str
    attempts: int
    at: datetime
    detail: str


class Outbox:
    """The deliveries of all projects."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def write(self, drafts: Sequence[Draft]) -> None:
        """Add deliveries that no crossing caused; one that is there already stays as it is."""
        async with self._database.writing() as connection:
            await write(Remote(connection), pending(drafts, self._database.now()))

    async def write_once(self, claim: str, drafts: Sequence[Draft]) -> bool:
        """Add deliveries unless somebody has under the same ``claim``; whether it was us. For digests."""
        now = self._database.now()
        claimed = insert(self._database.dialect, claims).values(name=claim, at_us=now)
        async with self._database.writing() as connection:
            ours = await connection.execute(claimed.on_conflict_do_nothing().returning(claims.c.name))
            if ours.first() is None:
                return False
            await write(Remote(connection), pending(drafts, now))
        return True

    async def claimed(self, claim: str) -> bool:
        """Whether somebody has written under that claim."""
        async with self._database.reading() as connection:
            found = await connection.execute(select(claims.c.name).where(claims.c.name == claim))
            return found.first() is not None

    async def claim(
        self, now: datetime, lease: timedelta, *, limit: int, busy: Collection[Place]
    ) -> list[Delivery]:
        """Take deliveries that are due, the oldest of each place that has none under way."""
        at = micros(now)
        async with self._database.writing() as connection:
            ids = (await connection.execute(_oldest(at, limit, busy))).scalars().all()
            if not ids:
                return []
            taken = (
                update(outbox)
                .where(outbox.c.id.in_(ids))
                .values(state="leased", due_us=micros(now + lease), attempts=outbox.c.attempts + 1)
                .returning(outbox)
            )
            rows = (await connection.execute(taken)).all()
        return [
            Delivery(
                row.id, Place(row.project_id, row.channel), row.body, moment(row.created_us), row.attempts
            )
            for row in sorted(rows, key=lambda row: (row.created_us, row.id))
        ]

    async def delivered(self, delivery: Delivery, now: datetime) -> None:
        """It has arrived."""
        await self._note(delivery, now, "", update(outbox).values(state="delivered"))

    async def retry(self, delivery: Delivery, at: datetime, error: str) -> None:
        """It has not, and becomes due again."""
        now = self._database.clock.now()
        await self._note(delivery, now, error, update(outbox).values(state="pending", due_us=micros(at)))

    async def dead(self, delivery: Delivery, now: datetime, error: str) -> None:
        """It never will."""
        await self._note(delivery, now, error, update(outbox).values(state="dead"))

    async def progress(self, project_id: str, alert_ids: Sequence[str] | None = None) -> list[Progress]:
        """How deliveries stand, newest first: those of some alerts, or the project's last hundred."""
        async with self._database.reading() as connection:
            return await progress(connection, project_id, alert_ids)

    async def _note(self, delivery: Delivery, now: datetime, detail: str, change: Update) -> None:
        """Note an attempt. Where its lease ran out and somebody else took over, it changes nothing."""
        ours = (
            outbox.c.id == delivery.id,
            outbox.c.state == "leased",
            outbox.c.attempts == delivery.attempt,
        )
        async with self._database.writing() as connection:
            changed = await connection.execute(change.where(*ours).returning(outbox.c.state))
            state = changed.scalar_one_or_none()
            if state is not None:
                entry = {
                    "outbox_id": delivery.id,
                    "at_us": micros(now),
                    "outcome": state,
                    "detail": detail[:MOST_DETAIL],
                }
                await connection.execute(deliveries.insert(), entry)


def _oldest(now: int, limit: int, busy: Collection[Place]) -> Select[Any]:
    """The ids of what may be claimed, and a lock on each; what others are claiming is skipped."""
    of, other = outbox.c, outbox.alias("under_way")
    same_place = and_(other.c.project_id == of.project_id, other.c.channel == of.channel)
    under_way = exists().where(same_place, other.c.state == "leased", other.c.due_us > now)
    due = and_(of.state.in_(OPEN), of.due_us <= now)
    rank = func.row_number().over(partition_by=(of.project_id, of.channel), order_by=(of.created_us, of.id))
    ranked = select(of.id, of.created_us, rank.label("rank")).where(due, ~under_way)
    if busy:
        ranked = ranked.where(tuple_(of.project_id, of.channel).not_in([tuple(place) for place in busy]))
    first = ranked.subquery()
    oldest = select(first.c.id).where(first.c.rank == 1).order_by(first.c.created_us, first.c.id).limit(limit)
    # SQLite has one writer anyway, and leaves the lock out.
    return select(of.id).where(of.id.in_(oldest), due).with_for_update(skip_locked=True)


async def progress(
    connection: AsyncConnection, project_id: str, alert_ids: Sequence[str] | None
) -> list[Progress]:
    """How deliveries stand, each with the last that was said about it; see ``Outbox.progress``."""
    if alert_ids is not None and not alert_ids:
        return []
    wanted = select(outbox).where(outbox.c.project_id == project_id).order_by(outbox.c.created_us.desc())
    wanted = wanted.limit(100) if alert_ids is None else wanted.where(outbox.c.alert_id.in_(alert_ids))
    rows = (await connection.execute(wanted)).all()
    said: dict[str, Any] = {}
    noted = select(deliveries).where(deliveries.c.outbox_id.in_([row.id for row in rows]))
    for note in await connection.execute(noted.order_by(deliveries.c.id)):
        said[note.outbox_id] = note  # the last one stays
    return [
        Progress(
            alert_id=row.alert_id,
            channel=row.channel,
            state=row.state,
            attempts=row.attempts,
            at=moment(said[row.id].at_us if row.id in said else row.created_us),
            detail=said[row.id].detail if row.id in said else "",
        )
        for row in rows
    ]
