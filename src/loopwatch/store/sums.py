"""What the calls of one batch add to the sums: hourly by feature and model, monthly by user, per bucket.

Added up in memory first, so that a batch writes each row once, and in the order of its key, so that two
processes never wait for each other in a circle.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cache
from operator import add
from typing import Any, NamedTuple

from sqlalchemy import Table, case, func

from loopwatch.records.call import Call
from loopwatch.records.moments import micros
from loopwatch.store.dialect import Upsert, insert
from loopwatch.store.statements import Statements, execute_many
from loopwatch.store.tables import hourly, user_months, users, window_buckets
from loopwatch.velocity.window import bucket_of

HOUR = 3_600_000_000
Key = tuple[Any, ...]
_TOUCHED = ("project_id", "user_id", "plan", "plan_revenue_nano", "first_us", "last_us", "revision")


class Entry(NamedTuple):
    """A call on its way into the database.

    With what the server makes it cost (None: unknown), and its plan's monthly price: what the call said,
    else what the project's settings say.
    """

    project_id: str
    call: Call
    cost_nano: int | None = None
    plan_revenue_nano: int | None = None

    @property
    def user(self) -> str:
        """The user, "" where anonymous."""
        return self.call.user_id or ""


def month_of(date: datetime) -> int:
    """The calendar month, in UTC: 202611."""
    return date.year * 100 + date.month


async def add_sums(on: Statements, entries: Sequence[Entry], sign: int = 1) -> None:
    """Add calls that are new to the sums over hours and months, or take them out by the ``sign`` -1."""
    by_hour: dict[Key, tuple[int, ...]] = {}
    by_month: dict[Key, tuple[int, ...]] = {}
    extras: dict[Key, tuple[int | None, int]] = {}
    for entry in entries:
        call, values = entry.call, _values(entry, sign)
        at = micros(call.at)
        of = (call.feature or "", call.provider, call.model)
        _add(by_hour, (entry.project_id, at - at % HOUR, *of), values)
        month = (entry.project_id, month_of(call.at), entry.user, *of)
        _add(by_month, month, values)
        price, last = extras.get(month, (None, 0))
        mine = entry.plan_revenue_nano
        extras[month] = (price if mine is None or (price or 0) > mine else mine, max(last, at))
    await _upsert(on, hourly, [(*key, *by_hour[key]) for key in sorted(by_hour)])
    await _upsert(on, user_months, [(*key, *by_month[key], *extras[key]) for key in sorted(by_month)])


async def add_buckets(on: Statements, entries: Iterable[Entry], sign: int = 1) -> None:
    """Add calls that are new to their users' windows, or take them out; anonymous ones have none."""
    buckets: dict[Key, tuple[int, ...]] = {}
    for entry in entries:
        if entry.user:
            call = entry.call
            values = (1, call.fresh_tokens, call.cache_read_input_tokens, *_cost(entry))
            key = (entry.project_id, entry.user, bucket_of(micros(call.at)))
            _add(buckets, key, _signed(values, sign))
    await _upsert(on, window_buckets, [(*key, *buckets[key]) for key in sorted(buckets)])


async def touch_users(on: Statements, entries: Iterable[Entry]) -> None:
    """Note who called and on which plan. On PostgreSQL this holds each user's row until the commit.

    So it comes first: whatever is read about a user afterwards, no other process is adding to.
    """
    seen: dict[Key, tuple[str | None, int | None, int, int]] = {}
    for entry in entries:
        if not entry.user:
            continue
        at, key = micros(entry.call.at), (entry.project_id, entry.user)
        plan, price, first, last = seen.get(key, (None, None, at, at))
        if entry.call.plan is not None:
            plan, price = entry.call.plan, entry.plan_revenue_nano
        seen[key] = (plan, price, min(first, at), max(last, at))
    if seen:
        rows = [(*key, *seen[key], 1) for key in sorted(seen)]
        await execute_many(on, _touch(on.dialect.name), _TOUCHED, rows)


@cache
def _touch(dialect: str) -> Upsert:
    statement = insert(dialect, users)
    new = statement.excluded
    return statement.on_conflict_do_update(
        index_elements=["project_id", "user_id"],
        set_={
            "plan": func.coalesce(new.plan, users.c.plan),
            "plan_revenue_nano": case(
                (new.plan.is_not(None), new.plan_revenue_nano), else_=users.c.plan_revenue_nano
            ),
            "last_us": case((new.last_us > users.c.last_us, new.last_us), else_=users.c.last_us),
            "revision": users.c.revision + new.revision,
        },
    )


async def _upsert(on: Statements, table: Table, rows: Sequence[Sequence[Any]]) -> None:
    """Insert rows, or add them to those that are there."""
    if rows:
        await execute_many(on, _addition(on.dialect.name, table), tuple(table.columns.keys()), rows)


@cache
def _addition(dialect: str, table: Table) -> Upsert:
    """What adds a row to the one that is there. A price and a last time are not added."""
    statement = insert(dialect, table)
    new = statement.excluded
    changes = {
        column.name: column + new[column.name]
        for column in table.columns
        if not column.primary_key and column.name not in ("plan_revenue_nano", "last_us")
    }
    if "last_us" in table.columns:
        mine, other = table.c.last_us, new.last_us
        changes["last_us"] = case((other > mine, other), else_=mine)
        price, other = table.c.plan_revenue_nano, new.plan_revenue_nano
        changes["plan_revenue_nano"] = case(
            (price.is_(None), other), (other > price, other), else_=price
        )  # the highest price that the month saw: an upgrade counts once
    return statement.on_conflict_do_update(index_elements=list(table.primary_key), set_=changes)


def _add(sums: dict[Key, tuple[int, ...]], key: Key, values: tuple[int, ...]) -> None:
    before = sums.get(key)
    sums[key] = values if before is None else tuple(map(add, before, values))


def _cost(entry: Entry) -> tuple[int, int]:
    return (0, 1) if entry.cost_nano is None else (entry.cost_nano, 0)


def _values(entry: Entry, sign: int) -> tuple[int, ...]:
    """What one call adds or takes out, in the order of ``SUMMED``."""
    call = entry.call
    values = (
        1,
        call.input_tokens,
        call.cache_read_input_tokens,
        call.cache_creation_input_tokens,
        call.output_tokens,
        call.reasoning_output_tokens,
        *_cost(entry),
        call.latency_ms or 0,
        call.loop_aborts,
        call.loop_abort_words,
        call.loop_abort_chars,
    )
    return _signed(values, sign)


def _signed(values: tuple[int, ...], sign: int) -> tuple[int, ...]:
    return values if sign == 1 else tuple(-value for value in values)
