"""What a project's calls amount to: totals, days, features, models. From the hourly sums alone.

A page over a million calls reads some thousand rows. Only ``recent`` looks at single calls, by index.
"""

from datetime import UTC, datetime
from typing import Any, Literal

import msgspec
from sqlalchemy import Select, Table, and_, func, literal, or_, select

from loopwatch.records.moments import micros, moment
from loopwatch.store.engines import Database
from loopwatch.store.sums import HOUR, month_of
from loopwatch.store.tables import LOOPED, SUMMED, calls, hourly, user_months

By = Literal["feature", "model", "provider"]
MOST_LISTED = 1_000


class Sums(msgspec.Struct, frozen=True, kw_only=True):
    """What some calls amount to. Money in nano-USD; ``unpriced`` calls are not in the cost."""

    calls: int = 0
    input_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    output_tokens: int = 0
    reasoning_output_tokens: int = 0
    cost_nano: int = 0
    unpriced: int = 0
    latency_ms: int = 0
    loop_aborts: int = 0
    loop_abort_words: int = 0
    loop_abort_chars: int = 0

    @property
    def unpriced_share(self) -> float:
        """The share of the calls whose cost is unknown, from 0 to 1."""
        return self.unpriced / self.calls if self.calls else 0.0


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """The sums of one feature, model or provider; ``key`` "" where a call named none."""

    key: str
    sums: Sums


class Use(msgspec.Struct, frozen=True, kw_only=True):
    """What one model of a provider amounts to for one feature, "" where calls named none."""

    feature: str
    provider: str
    model: str
    sums: Sums


class LoggedCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call as it is stored; ``cost_nano`` None: unknown. ``place`` tells it from others of its moment.

    Where loops were cut, ``loop_abort_chars`` were generated and thrown away. A reply that was cut itself
    (its ``usage_source`` is not "provider") has them in its cost; a call that was answered on a later
    attempt does not.
    """

    place: int
    event_id: str
    at: datetime
    received_at: datetime
    user_id: str | None
    feature: str | None
    plan: str | None
    provider: str
    request_model: str
    response_model: str | None
    input_tokens: int
    cache_read_input_tokens: int
    cache_creation_input_tokens: int
    output_tokens: int
    reasoning_output_tokens: int
    usage_source: str
    latency_ms: int | None
    cost_nano: int | None
    loop_aborts: int
    loop_abort_words: int
    loop_abort_chars: int
    loop_rule: str | None


class Money(msgspec.Struct, frozen=True, kw_only=True):
    """A month's money over all users, in nano-USD. Each plan price counts once a user."""

    cost_nano: int
    revenue_nano: int
    users: int
    unprofitable_users: int
    loss_nano: int
    """What the unprofitable users cost above their plans, summed."""


class Spending(msgspec.Struct, frozen=True, kw_only=True):
    """What one user spent in a span of time; user "" is everybody anonymous. Money in nano-USD."""

    user_id: str
    cost_nano: int
    tokens: int


class Reports:
    """Reports about any project. ``since`` is rounded down to the hour; ``until`` itself is left out."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def totals(self, project_id: str, since: datetime, until: datetime | None = None) -> Sums:
        """Everything in a span of time."""
        wanted = select(*summed(hourly)).where(*self._between(project_id, since, until))
        async with self._database.reading() as connection:
            return sums_of((await connection.execute(wanted)).one())

    async def by(
        self, group: By, project_id: str, since: datetime, until: datetime | None = None
    ) -> list[Group]:
        """The same for each feature, model or provider, the dearest first."""
        key = hourly.c[group]
        wanted = (
            select(key.label("key"), *summed(hourly))
            .where(*self._between(project_id, since, until))
            .group_by(key)
            .order_by(func.sum(hourly.c.cost_nano).desc(), key)
        )
        async with self._database.reading() as connection:
            rows = await connection.execute(wanted)
            return [Group(key=row.key, sums=sums_of(row)) for row in rows]

    async def models(self, project_id: str, since: datetime, until: datetime | None = None) -> list[Use]:
        """The same for each model of each provider, whatever the feature; see ``Sums.unpriced_share``."""
        of = (hourly.c.provider, hourly.c.model)
        wanted = (
            select(literal("").label("feature"), *of, *summed(hourly))
            .where(*self._between(project_id, since, until))
            .group_by(*of)
            .order_by(func.sum(hourly.c.cost_nano).desc(), *of)
        )
        return await self._uses(wanted)

    async def features_by_model(
        self, project_id: str, since: datetime, until: datetime | None = None
    ) -> list[Use]:
        """The same for each model of each feature, by name: what a cheaper model would be proposed from."""
        of = (hourly.c.feature, hourly.c.provider, hourly.c.model)
        wanted = select(*of, *summed(hourly)).where(*self._between(project_id, since, until)).group_by(*of)
        return await self._uses(wanted.order_by(*of))

    async def user_models(self, project_id: str, user_id: str, month: int | None = None) -> list[Use]:
        """One user's month (202611; None: this one) by feature and model, the dearest first."""
        of = (user_months.c.feature, user_months.c.provider, user_months.c.model)
        wanted = select(*of, *summed(user_months)).where(*self._month_of(project_id, user_id, month))
        return await self._uses(wanted.group_by(*of).order_by(func.sum(user_months.c.cost_nano).desc(), *of))

    async def user_features(self, project_id: str, user_id: str, month: int | None = None) -> list[Group]:
        """One user's month (202611; None: this one) by feature, the dearest first."""
        of = user_months.c
        wanted = (
            select(of.feature.label("key"), *summed(user_months))
            .where(*self._month_of(project_id, user_id, month))
            .group_by(of.feature)
            .order_by(func.sum(of.cost_nano).desc(), of.feature)
        )
        async with self._database.reading() as connection:
            rows = await connection.execute(wanted)
            return [Group(key=row.key, sums=sums_of(row)) for row in rows]

    async def money(self, project_id: str, month: int | None = None) -> Money:
        """A month's cost against what the plans bring, anonymous calls included in the cost."""
        of = user_months.c
        users = (
            select(
                func.sum(of.cost_nano).label("cost"),
                func.max(of.plan_revenue_nano).label("revenue"),
            )
            .where(of.project_id == project_id)
            .where(of.month == (month or month_of(self._database.clock.now())))
            .group_by(of.user_id)
            .subquery()
        )
        loss = users.c.cost - users.c.revenue
        wanted = select(
            func.sum(users.c.cost),
            func.sum(users.c.revenue),
            func.count(),
            func.count().filter(loss > 0),
            func.sum(loss).filter(loss > 0),
        )
        async with self._database.reading() as connection:
            row = (await connection.execute(wanted)).one()
        cost, revenue, number, unprofitable, lost = (int(value or 0) for value in row)
        return Money(
            cost_nano=cost,
            revenue_nano=revenue,
            users=number,
            unprofitable_users=unprofitable,
            loss_nano=lost,
        )

    async def spenders(self, project_id: str, since: datetime, until: datetime) -> list[Spending]:
        """Each user with calls in a span of time, as far as calls are kept; the dearest first."""
        of = calls.c
        cost = func.coalesce(func.sum(of.cost_nano), 0)
        wanted = (
            select(
                of.user_id, cost.label("cost"), func.sum(of.input_tokens + of.output_tokens).label("tokens")
            )
            .where(of.project_id == project_id, of.at_us >= micros(since), of.at_us < micros(until))
            .group_by(of.user_id)
            .order_by(cost.desc(), of.user_id)
        )
        async with self._database.reading() as connection:
            rows = await connection.execute(wanted)
            return [
                Spending(user_id=row.user_id, cost_nano=int(row.cost), tokens=int(row.tokens)) for row in rows
            ]

    async def recent(
        self,
        project_id: str,
        *,
        user_id: str | None = None,
        before: datetime | None = None,
        place: int | None = None,
        limit: int = 100,
    ) -> "list[LoggedCall]":
        """Single calls, newest first, a project's or one user's.

        To page on, those ``before`` the last one's ``at``, with its ``place``: a batch's calls may all be
        of one moment.
        """
        return await self._logged(_calls_of(project_id, user_id), before, place, limit)

    async def loops(
        self,
        project_id: str,
        *,
        user_id: str | None = None,
        before: datetime | None = None,
        place: int | None = None,
        limit: int = 100,
    ) -> "list[LoggedCall]":
        """Calls on whose way loops were cut, newest first; paged as ``recent``."""
        return await self._logged(_calls_of(project_id, user_id).where(LOOPED), before, place, limit)

    async def _logged(
        self, wanted: Select[Any], before: datetime | None, place: int | None, limit: int
    ) -> "list[LoggedCall]":
        of = calls.c
        if before is not None:
            at = micros(before)
            older = of.at_us < at
            wanted = wanted.where(older if place is None else and_(of.at_us <= at, or_(older, of.id < place)))
        newest = wanted.order_by(of.at_us.desc(), of.id.desc()).limit(min(limit, MOST_LISTED))
        async with self._database.reading() as connection:
            return [_logged(row) for row in await connection.execute(newest)]

    async def _uses(self, wanted: Select[Any]) -> list[Use]:
        async with self._database.reading() as connection:
            rows = await connection.execute(wanted)
            return [
                Use(feature=row.feature, provider=row.provider, model=row.model, sums=sums_of(row))
                for row in rows
            ]

    def month_start(self) -> datetime:
        """When the current calendar month began."""
        now = self._database.clock.now()
        return datetime(now.year, now.month, 1, tzinfo=UTC)

    def _month_of(self, project_id: str, user_id: str, month: int | None) -> list[Any]:
        of, wanted = user_months.c, month or month_of(self._database.clock.now())
        return [of.project_id == project_id, of.user_id == user_id, of.month == wanted]

    @staticmethod
    def _between(project_id: str, since: datetime, until: datetime | None) -> list[Any]:
        begin = micros(since)
        bounds = [hourly.c.project_id == project_id, hourly.c.hour_us >= begin - begin % HOUR]
        return bounds if until is None else [*bounds, hourly.c.hour_us < micros(until)]


def summed(table: Table) -> list[Any]:
    """The sums over rows of a table of sums, each under its own name."""
    return [func.coalesce(func.sum(table.c[name]), 0).label(name) for name in SUMMED]


def sums_of(row: Any) -> Sums:
    """The sums in a row that has them by name."""
    return Sums(**{name: int(getattr(row, name)) for name in SUMMED})


def _calls_of(project_id: str, user_id: str | None) -> Select[Any]:
    wanted = select(calls).where(calls.c.project_id == project_id)
    return wanted if user_id is None else wanted.where(calls.c.user_id == user_id)


def _logged(row: Any) -> LoggedCall:
    same = {name: getattr(row, name) for name in LoggedCall.__struct_fields__ if hasattr(row, name)}
    same["user_id"] = row.user_id or None
    same["feature"] = row.feature or None
    return LoggedCall(**same, place=row.id, at=moment(row.at_us), received_at=moment(row.received_us))
