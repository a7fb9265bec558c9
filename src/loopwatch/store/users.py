"""The users of a project: who costs what, who is blocked, and whether the next call may go ahead."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple

import msgspec
from sqlalchemy import (
    ColumnElement,
    Select,
    Subquery,
    and_,
    case,
    delete,
    distinct,
    false,
    func,
    select,
)
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql.expression import FromClause

from loopwatch.config.project import Cap
from loopwatch.errors import InputError
from loopwatch.records.moments import moment, span_micros
from loopwatch.records.money import nano_usd
from loopwatch.store import tombstones
from loopwatch.store.crossings import month_costs
from loopwatch.store.dialect import insert
from loopwatch.store.engines import Database
from loopwatch.store.projects import Projects
from loopwatch.store.statements import Remote
from loopwatch.store.sums import month_of
from loopwatch.store.tables import alerts, audit, calls, outbox, user_months, users, window_buckets
from loopwatch.store.windows import Fill, SqlWindows, Windows
from loopwatch.velocity.tokens import weighed
from loopwatch.velocity.window import span

Order = Literal["margin", "cost", "tokens", "calls", "last"]
Status = Literal["profitable", "watch", "unprofitable", "unknown"]
WATCH_PERCENT = 70
"""Share of the plan's price from which on a user is worth watching (the second seed's system)."""


class UserMonth(msgspec.Struct, frozen=True, kw_only=True):
    """One user in one month. Money in nano-USD; ``unpriced`` calls are not in the cost.

    ``revenue_nano`` is the plan's price, once, None where no call said it. User "" is everybody anonymous.
    """

    user_id: str
    plan: str | None
    calls: int
    tokens: int
    cost_nano: int
    unpriced: int
    revenue_nano: int | None
    last_at: datetime
    blocked: bool
    muted: bool

    @property
    def margin_nano(self) -> int | None:
        """What is left of the plan's price."""
        return None if self.revenue_nano is None else self.revenue_nano - self.cost_nano

    @property
    def status(self) -> Status:
        """How the cost stands to the price."""
        return status(self.cost_nano, self.revenue_nano)


class UserState(msgspec.Struct, frozen=True, kw_only=True):
    """One user now: flags, the window as it stands, the month so far. Money in nano-USD."""

    user_id: str
    plan: str | None
    plan_revenue_nano: int | None
    first_at: datetime | None
    last_at: datetime | None
    blocked: bool
    blocked_reason: str | None
    muted: bool
    hot_until: datetime | None
    """Until when the user's last alert keeps others quiet; None where none does."""
    suppressed: int
    window_tokens: int
    window: Fill
    month_cost_nano: int
    month_unpriced: int


class CapState(NamedTuple):
    """What decides whether a user's next call may go ahead. Money in nano-USD."""

    blocked: bool
    blocked_reason: str | None
    hot: bool
    """Whether the project wants users blocked while an alert is hot, and this one's is."""
    cap: Cap | None
    """The cap of the plan asked for, None where it has none."""
    spent_nano: int
    downgrade_to: str | None
    """The cheaper model that the settings name for the model asked for."""

    @property
    def cap_nano(self) -> int | None:
        """The cap's amount."""
        return None if self.cap is None else nano_usd(self.cap.monthly_usd)

    @property
    def reached(self) -> bool:
        """Whether the month's cost has reached the cap; it has at exactly the amount."""
        return self.cap_nano is not None and self.spent_nano >= self.cap_nano


def status(cost_nano: int, revenue_nano: int | None) -> Status:
    """Unprofitable above the plan's price, to be watched from 70 % of it on; unknown where no price is."""
    if revenue_nano is None:
        return "unknown"
    if cost_nano > revenue_nano:
        return "unprofitable"
    return "watch" if revenue_nano and cost_nano * 100 >= revenue_nano * WATCH_PERCENT else "profitable"


class Users:
    """The users of all projects."""

    def __init__(self, database: Database, projects: Projects, windows: Windows) -> None:
        self._database = database
        self._projects = projects
        self._windows = windows

    async def list(
        self,
        project_id: str,
        *,
        month: int | None = None,
        order: Order = "margin",
        search: str = "",
        limit: int = 100,
        offset: int = 0,
    ) -> "list[UserMonth]":
        """The users of a month (202611; None: this one), worst margin first, or the most of something.

        ``search`` leaves those whose id has it, whatever its case; user "" has no id.
        """
        wanted = _summed(project_id, month or month_of(self._database.clock.now()), search=search)
        page = _flagged(wanted, project_id, order, limit, offset)
        async with self._database.reading() as connection:
            return [*await self._months(connection, project_id, page)]

    async def count(self, project_id: str, *, month: int | None = None, search: str = "") -> int:
        """How many users ``list`` has in all."""
        of = user_months.c
        wanted = select(func.count(distinct(of.user_id))).where(
            of.project_id == project_id,
            of.month == (month or month_of(self._database.clock.now())),
            *_like(search),
        )
        async with self._database.reading() as connection:
            return int((await connection.execute(wanted)).scalar_one())

    async def month(self, project_id: str, user_id: str, month: int | None = None) -> UserMonth | None:
        """One user's month; None where nothing was logged."""
        wanted = month or month_of(self._database.clock.now())
        of_one = _flagged(_summed(project_id, wanted, user_id=user_id), project_id, "margin", 1, 0)
        async with self._database.reading() as connection:
            return next(iter(await self._months(connection, project_id, of_one)), None)

    async def _months(
        self, connection: AsyncConnection, project_id: str, statement: Select[Any]
    ) -> Sequence[UserMonth]:
        rows = (await connection.execute(statement)).all()
        gone = await self._blocked_when_deleted(connection, project_id, *(row.user_id for row in rows))
        return [_user_month(row, blocked=row.blocked or row.user_id in gone) for row in rows]

    async def _blocked_when_deleted(
        self, connection: AsyncConnection, project_id: str, *user_ids: str
    ) -> frozenset[str]:
        current = await self._projects.current(Remote(connection), [project_id])
        if project_id not in current:
            return frozenset()
        return await tombstones.blocked(connection, project_id, user_ids, current[project_id].tombstone)

    async def get(self, project_id: str, user_id: str) -> UserState | None:
        """How a user stands now; None where the project has no such user."""
        user, now = (project_id, user_id), self._database.now()
        async with self._database.reading() as connection:
            found = await connection.execute(select(users).where(*_is(project_id, user_id)))
            row = found.one_or_none()
            if row is None:
                return None
            settings = (await self._projects.current(Remote(connection), [project_id]))[project_id].settings
            length = span_micros(settings.window.total_seconds())
            fills = await SqlWindows().fills(Remote(connection), {user: span(now, length)}, ())
            cost = (await month_costs(Remote(connection), [user], now)).get(user, (0, 0))
            gone = await self._blocked_when_deleted(connection, project_id, user_id)
        fill = fills.get(user, Fill())
        ends = (row.last_alert_us or 0) + span_micros(settings.cooldown.total_seconds())
        return UserState(
            user_id=user_id,
            plan=row.plan,
            plan_revenue_nano=row.plan_revenue_nano,
            first_at=moment(row.first_us),
            last_at=moment(row.last_us),
            blocked=row.blocked or bool(gone),
            blocked_reason=row.blocked_reason or (tombstones.REASON if gone else None),
            muted=row.muted,
            hot_until=moment(ends) if row.last_alert_us is not None and ends > now else None,
            suppressed=row.suppressed,
            window_tokens=weighed(fill.fresh, fill.cached, settings.cached_weight),
            window=fill,
            month_cost_nano=cost[0],
            month_unpriced=cost[1],
        )

    async def cap_state(self, project_id: str, user_id: str, plan: str | None, model: str | None) -> CapState:
        """What decides about a user's next call. Raises InputError where there is no such project."""
        user, now = (project_id, user_id), self._database.now()
        async with self._database.reading() as connection:
            current = await self._projects.current(Remote(connection), [project_id])
            if project_id not in current:
                raise InputError(f"there is no project {project_id!r}")
            settings, gone = current[project_id].settings, current[project_id].tombstone(user_id)
            either = (users.c.project_id == project_id, users.c.user_id.in_((user_id, gone)))
            rows = {row.user_id: row for row in await connection.execute(select(users).where(*either))}
            spent = (await month_costs(Remote(connection), [user], now)).get(user, (0, 0))[0]
        row = rows.get(user_id)
        blocked = next((one for one in (row, rows.get(gone)) if one is not None and one.blocked), None)
        last = row.last_alert_us if row is not None else None
        cooldown = span_micros(settings.cooldown.total_seconds())
        return CapState(
            blocked=blocked is not None,
            blocked_reason=blocked.blocked_reason if blocked is not None else None,
            hot=settings.block_while_hot and last is not None and now < last + cooldown,
            cap=settings.caps.get(plan) if plan else None,
            spent_nano=spent,
            downgrade_to=settings.downgrades.get(model) if model else None,
        )

    async def block(self, project_id: str, user_id: str, reason: str = "blocked by hand") -> None:
        """Refuse the user's next calls, of whom nothing need have been logged yet."""
        await self._flag(project_id, user_id, blocked=True, blocked_reason=reason)

    async def unblock(self, project_id: str, user_id: str) -> None:
        """Let the user's calls through again, also one who was blocked when their data was deleted."""
        await self._flag(project_id, user_id, blocked=False, blocked_reason=None)

    async def mute(self, project_id: str, user_id: str, *, muted: bool = True) -> None:
        """Send nothing about the user, or again; alerts are recorded either way."""
        await self._flag(project_id, user_id, muted=muted)

    async def erase(self, project_id: str, user_id: str) -> int:
        """Delete everything about one user: calls, alerts, messages. Returns the number of calls.

        The project's hourly sums stay: they name nobody. The user's monthly ones go. A user who is blocked
        stays so, under a name that tells nothing (``tombstones``), until they are unblocked.
        """
        of_user = select(alerts.c.id).where(alerts.c.project_id == project_id, alerts.c.user_id == user_id)
        async with self._database.writing() as connection:
            locked = select(users.c.blocked).where(*_is(project_id, user_id)).with_for_update()
            is_blocked = (await connection.execute(locked)).scalar_one_or_none()
            await connection.execute(delete(outbox).where(outbox.c.alert_id.in_(of_user)))
            for table in (alerts, audit, user_months, window_buckets):
                await connection.execute(
                    delete(table).where(table.c.project_id == project_id, table.c.user_id == user_id)
                )
            gone = await connection.execute(
                delete(calls).where(calls.c.project_id == project_id, calls.c.user_id == user_id)
            )
            await connection.execute(delete(users).where(*_is(project_id, user_id)))
            if is_blocked:
                current = await self._projects.current(Remote(connection), [project_id])
                name = current[project_id].tombstone(user_id)
                await tombstones.put(connection, project_id, name, self._database.now())
        await self._windows.forget([(project_id, user_id)])
        return gone.rowcount

    async def _flag(self, project_id: str, user_id: str, **flags: Any) -> None:
        if not user_id:
            raise InputError("anonymous calls have no user to block or mute")
        now = self._database.now()
        new = {"project_id": project_id, "user_id": user_id, "first_us": now, "last_us": now}
        made = insert(self._database.dialect, users).values(**new, **flags)
        async with self._database.writing() as connection:
            current = await self._projects.current(Remote(connection), [project_id])
            if project_id not in current:
                raise InputError(f"there is no project {project_id!r}")
            await connection.execute(
                made.on_conflict_do_update(index_elements=["project_id", "user_id"], set_=flags)
            )
            if flags.get("blocked") is False:
                await tombstones.take_away(connection, project_id, current[project_id].tombstone(user_id))


def _is(project_id: str, user_id: str) -> tuple[Any, Any]:
    return users.c.project_id == project_id, users.c.user_id == user_id


def _like(search: str) -> list[ColumnElement[bool]]:
    return [user_months.c.user_id.icontains(search, autoescape=True)] if search else []


def _summed(project_id: str, month: int, *, user_id: str | None = None, search: str = "") -> Subquery:
    """The sums of a month, a user a row."""
    of = user_months.c
    wanted = (
        select(
            of.user_id,
            func.sum(of.calls).label("calls"),
            func.sum(of.input_tokens + of.output_tokens).label("tokens"),
            func.sum(of.cost_nano).label("cost_nano"),
            func.sum(of.unpriced).label("unpriced"),
            func.max(of.plan_revenue_nano).label("revenue_nano"),
            func.max(of.last_us).label("last_us"),
        )
        .where(of.project_id == project_id, of.month == month, *_like(search))
        .group_by(of.user_id)
    )
    return (wanted if user_id is None else wanted.where(of.user_id == user_id)).subquery()


def _ordered(sums: FromClause, order: Order) -> list[ColumnElement[Any]]:
    """Worst margin first, those without a price after them by cost; or the most of something first."""
    of = sums.c
    if order == "margin":
        unknown = case((of.revenue_nano.is_(None), 1), else_=0)
        return [unknown, func.coalesce(of.revenue_nano, 0) - of.cost_nano, of.user_id]
    column = {"cost": of.cost_nano, "tokens": of.tokens, "calls": of.calls, "last": of.last_us}[order]
    return [column.desc(), of.user_id]


def _flagged(sums: Subquery, project_id: str, order: Order, limit: int, offset: int) -> Select[Any]:
    """One page of the sums, each with its user's flags: only those on the page are looked up."""
    page = select(sums).order_by(*_ordered(sums, order)).limit(limit).offset(offset).subquery("page")
    same = and_(users.c.project_id == project_id, users.c.user_id == page.c.user_id)
    flags = (func.coalesce(users.c.blocked, false()), func.coalesce(users.c.muted, false()))
    return (
        select(page, users.c.plan, flags[0].label("blocked"), flags[1].label("muted"))
        .select_from(page.outerjoin(users, same))
        .order_by(*_ordered(page, order))
    )


def _user_month(row: Any, *, blocked: bool) -> UserMonth:
    return UserMonth(
        user_id=row.user_id,
        plan=row.plan,
        calls=int(row.calls),
        tokens=int(row.tokens),
        cost_nano=int(row.cost_nano),
        unpriced=int(row.unpriced),
        revenue_nano=row.revenue_nano,
        last_at=moment(row.last_us),
        blocked=blocked,
        muted=bool(row.muted),
    )
