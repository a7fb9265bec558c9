"""Who is over the line after a batch, and whether that is an alert or falls into a cooldown.

All inside the transaction that logged the calls: the alert and what is to be sent about it are there if
and only if the calls are. The rules and the texts are handed in; the one rule that is always here is
the seed's, tokens in the window.
"""

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Integer, Select, Text, and_, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from loopwatch.config.project import ProjectSettings
from loopwatch.records.alert import Alert, Crossing, Standing
from loopwatch.records.call import Call
from loopwatch.records.delivery import Draft
from loopwatch.records.moments import moment, span_micros
from loopwatch.store.dialect import Rows, insert
from loopwatch.store.sums import Entry, month_of
from loopwatch.store.tables import alerts, outbox, user_months, users
from loopwatch.store.windows import Fill, User
from loopwatch.velocity.cooldown import may_alert
from loopwatch.velocity.tokens import weighed
from loopwatch.velocity.window import above

Rules = Callable[[Standing, ProjectSettings], Crossing | None]
"""Which rule, if any, a user is over. Pure: it may be asked again where a transaction is repeated."""
Compose = Callable[[Alert, ProjectSettings], Sequence[Draft]]
"""What is to be sent about an alert, to every channel that the settings name. Pure."""
UserState = Any


class Over(NamedTuple):
    """A user over a line."""

    user: User
    standing: Standing
    crossing: Crossing


class Judge(NamedTuple):
    """What decides, and how it is told."""

    rules: Rules
    compose: Compose


def velocity_rule(standing: Standing, settings: ProjectSettings) -> Crossing | None:
    """The seed's rule: strictly more tokens in the window than the threshold."""
    if settings.velocity_alerts and above(standing.tokens, settings.token_threshold):
        return Crossing(rule="velocity", observed=standing.tokens, threshold=settings.token_threshold)
    return None


def no_messages(alert: Alert, settings: ProjectSettings) -> Sequence[Draft]:
    """Nothing is sent; the alert is recorded all the same."""
    del alert, settings
    return ()


async def decide(
    connection: AsyncConnection,
    judge: Judge,
    settings: Mapping[str, ProjectSettings],
    fills: Mapping[User, Fill],
    entries: Sequence[Entry],
    *,
    now: int,
) -> list[Alert]:
    """Judge every user of ``fills`` and record what comes of it. Returns the alerts."""
    latest = _latest(entries)
    by_month = [user for user in fills if settings[user[0]].margin_threshold_usd is not None]
    costs = await month_costs(connection, by_month, now)
    found: list[Over] = []
    for user, fill in fills.items():
        standing = _standing(user, fill, settings[user[0]], costs.get(user, (0, 0)), latest[user])
        crossing = judge.rules(standing, settings[user[0]])
        if crossing is not None:
            found.append(Over(user, standing, crossing))
    if not found:
        return []
    states = await _states(connection, [over.user for over in found])
    quiet: list[User] = []
    sent: list[Alert] = []
    for over in sorted(found):
        mine, state = settings[over.user[0]], states[over.user]
        if not may_alert(state.last_alert_us, now, span_micros(mine.cooldown.total_seconds())):
            quiet.append(over.user)
        elif await _claim(connection, over.user, now, mine):
            cost = (await month_costs(connection, [over.user], now)).get(over.user, (0, 0))
            alert = _alert(over, mine, latest[over.user].call, cost, suppressed=state.suppressed, now=now)
            await _record(connection, alert, () if state.muted else judge.compose(alert, mine), now)
            sent.append(alert)
    await _count_suppressed(connection, quiet)
    return sent


async def month_costs(
    connection: AsyncConnection, wanted: Iterable[User], now: int
) -> dict[User, tuple[int, int]]:
    """Cost in nano-USD and calls of unknown cost of each user, in the month that ``now`` is in."""
    rows = [(*user, month_of(moment(now))) for user in wanted]
    if not rows:
        return {}
    asked, statement = _month_costs(connection.dialect.name)
    found = await connection.execute(statement, asked.bind(rows))
    return {(row[0], row[1]): (int(row[2]), int(row[3])) for row in found}


@cache
def _month_costs(dialect: str) -> tuple[Rows, Select[Any]]:
    asked = Rows(dialect, "m", {"project_id": Text, "user_id": Text, "month": Integer})
    month, one = user_months.c, asked.c
    return asked, (
        select(one.project_id, one.user_id, func.sum(month.cost_nano), func.sum(month.unpriced))
        .join_from(
            asked.table,
            user_months,
            and_(month.project_id == one.project_id, month.month == one.month, month.user_id == one.user_id),
        )
        .group_by(one.project_id, one.user_id)
    )


def _latest(entries: Sequence[Entry]) -> dict[User, Entry]:
    """The last call of each user: the one that is told with an alert."""
    latest: dict[User, Entry] = {}
    for entry in entries:
        key = (entry.project_id, entry.user)
        if key not in latest or entry.call.at >= latest[key].call.at:
            latest[key] = entry
    return latest


def _standing(
    user: User, fill: Fill, settings: ProjectSettings, month: tuple[int, int], last: Entry
) -> Standing:
    return Standing(
        project_id=user[0],
        user_id=user[1],
        tokens=weighed(fill.fresh, fill.cached, settings.cached_weight),
        cost_nano=fill.cost_nano,
        calls=fill.calls,
        unpriced=fill.unpriced,
        month_cost_nano=month[0],
        month_unpriced=month[1],
        plan=last.call.plan,
        plan_revenue_nano=last.plan_revenue_nano,
    )


async def _states(connection: AsyncConnection, wanted: Sequence[User]) -> dict[User, UserState]:
    asked = Rows(connection.dialect.name, "s", {"project_id": Text, "user_id": Text})
    columns = (users.c.project_id, users.c.user_id, users.c.last_alert_us, users.c.suppressed, users.c.muted)
    same = and_(users.c.project_id == asked.c.project_id, users.c.user_id == asked.c.user_id)
    found = await connection.execute(select(*columns).join_from(asked.table, users, same), asked.bind(wanted))
    return {(row.project_id, row.user_id): row for row in found}


async def _claim(connection: AsyncConnection, user: User, now: int, settings: ProjectSettings) -> bool:
    """Take the one alert that the cooldown allows: compare and set, in one statement."""
    cooldown = span_micros(settings.cooldown.total_seconds())
    last = users.c.last_alert_us
    free = or_(last.is_(None), last <= now - cooldown, last >= now + cooldown)
    claimed = await connection.execute(
        update(users).where(*_is(user), free).values(last_alert_us=now, suppressed=0)
    )
    return claimed.rowcount == 1


async def _count_suppressed(connection: AsyncConnection, quiet: Sequence[User]) -> None:
    for user in quiet:
        await connection.execute(update(users).where(*_is(user)).values(suppressed=users.c.suppressed + 1))


def _is(user: User) -> tuple[Any, Any]:
    return users.c.project_id == user[0], users.c.user_id == user[1]


def _alert(
    over: Over,
    settings: ProjectSettings,
    call: Call,
    month: tuple[int, int],
    *,
    suppressed: int,
    now: int,
) -> Alert:
    standing, crossing = over.standing, over.crossing
    return Alert(
        id=f"alt_{uuid.uuid4().hex}",
        project_id=standing.project_id,
        user_id=standing.user_id,
        rule=crossing.rule,
        observed=crossing.observed,
        threshold=crossing.threshold,
        tokens=standing.tokens,
        window_seconds=settings.window.total_seconds(),
        window_cost_nano=standing.cost_nano,
        window_calls=standing.calls,
        window_unpriced=standing.unpriced,
        month_cost_nano=month[0],
        month_unpriced=month[1],
        feature=call.feature,
        provider=call.provider,
        model=call.model,
        plan=standing.plan,
        at=moment(now),
        suppressed=suppressed,
    )


async def _record(connection: AsyncConnection, alert: Alert, drafts: Sequence[Draft], now: int) -> None:
    row = msgspec.structs.asdict(alert)
    window = span_micros(row.pop("window_seconds"))
    del row["at"]
    await connection.execute(alerts.insert(), row | {"window_us": window, "at_us": now})
    await write_drafts(connection, drafts, now, alert.id)


async def write_drafts(
    connection: AsyncConnection, drafts: Sequence[Draft], now: int, alert_id: str | None = None
) -> None:
    """Keep drafts in the outbox; one that is there already stays as it is."""
    rows = [_outbox_row(draft, now, alert_id) for draft in drafts]
    if rows:
        written = insert(connection.dialect.name, outbox).on_conflict_do_nothing()
        await connection.execute(written, rows)


def _outbox_row(draft: Draft, now: int, alert_id: str | None) -> dict[str, object]:
    return {
        "id": draft.id,
        "project_id": draft.place.project,
        "alert_id": alert_id,
        "channel": draft.place.channel,
        "body": draft.body,
        "state": "pending",
        "created_us": now,
        "due_us": now,
        "attempts": 0,
    }
