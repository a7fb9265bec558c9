"""Who is over the line after a batch, and whether that is an alert or falls into a cooldown.

All inside the transaction that logged the calls: the alert and what is to be sent about it are there if
and only if the calls are. The rules and the texts are handed in; the one rule that is always here is
the seed's, tokens in the window.
"""

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Insert,
    Integer,
    Select,
    Text,
    UpdateBase,
    and_,
    func,
    or_,
    select,
    update,
)

from loopwatch.config.project import ProjectSettings
from loopwatch.records.alert import Alert, Crossing, Standing
from loopwatch.records.call import Call
from loopwatch.records.delivery import Draft
from loopwatch.records.moments import micros, moment, span_micros
from loopwatch.store.dialect import Rows, Types
from loopwatch.store.statements import Query, Statements, execute_many
from loopwatch.store.storms import Compose, tell
from loopwatch.store.sums import Entry, month_of
from loopwatch.store.tables import alerts, user_months, users
from loopwatch.store.windows import Fill, User
from loopwatch.velocity.cooldown import may_alert
from loopwatch.velocity.tokens import weighed

Rules = Callable[[Standing, ProjectSettings], Crossing | None]
"""Which rule, if any, a user is over. Pure: it may be asked again where a transaction is repeated."""
_INSERT: Insert = alerts.insert()
_COLUMNS = tuple(alerts.columns.keys())


class State(NamedTuple):
    """What a user's row says about alerts."""

    last_alert_us: int | None
    suppressed: int
    muted: bool


class Over(NamedTuple):
    """A user over a line."""

    user: User
    standing: Standing
    crossing: Crossing


class Judge(NamedTuple):
    """What decides, and how it is told."""

    rules: Rules
    compose: Compose


def no_messages(alert: Alert, settings: ProjectSettings) -> Sequence[Draft]:
    """Nothing is sent; the alert is recorded all the same."""
    del alert, settings
    return ()


async def decide(
    on: Statements,
    judge: Judge,
    settings: Mapping[str, ProjectSettings],
    fills: Mapping[User, Fill],
    entries: Sequence[Entry],
    *,
    now: int,
) -> list[Alert]:
    """Judge every user of ``fills`` and record what comes of it. Returns the alerts.

    As many statements for a thousand users over the line as for one.
    """
    latest = _latest(entries)
    by_month = [user for user in fills if settings[user[0]].margin_threshold_usd is not None]
    costs = await month_costs(on, by_month, now)
    found: list[Over] = []
    for user, fill in fills.items():
        standing = _standing(user, fill, settings[user[0]], costs.get(user, (0, 0)), latest[user])
        crossing = judge.rules(standing, settings[user[0]])
        if crossing is not None:
            found.append(Over(user, standing, crossing))
    if not found:
        return []
    return await _raised(on, judge, settings, found, latest, now=now)


async def _raised(
    on: Statements,
    judge: Judge,
    settings: Mapping[str, ProjectSettings],
    found: Sequence[Over],
    latest: Mapping[User, Entry],
    *,
    now: int,
) -> list[Alert]:
    """The alerts about those whose cooldown allows one, written down; the others' are counted."""
    states = await _states(on, [over.user for over in found])
    cooldowns = {one: span_micros(mine.cooldown.total_seconds()) for one, mine in settings.items()}
    free = [
        over for over in found if may_alert(states[over.user].last_alert_us, now, cooldowns[over.user[0]])
    ]
    ours = await _claim(on, [(*over.user, now, cooldowns[over.user[0]]) for over in free])
    spent = await month_costs(on, ours, now)
    raised: list[Alert] = []
    for over in sorted(one for one in free if one.user in ours):
        month, held_back = spent.get(over.user, (0, 0)), states[over.user].suppressed
        mine, call = settings[over.user[0]], latest[over.user].call
        raised.append(_alert(over, mine, call, month, suppressed=held_back, now=now))
    await _record(on, raised)
    heard = (alert for alert in raised if not states[alert.project_id, alert.user_id].muted)
    await tell(on, judge.compose, heard, settings, now)
    await _suppress(on, sorted({over.user for over in found} - {over.user for over in free}))
    return raised


async def month_costs(on: Statements, wanted: Iterable[User], now: int) -> dict[User, tuple[int, int]]:
    """Cost in nano-USD and calls of unknown cost of each user, in the month that ``now`` is in."""
    rows = [(*user, month_of(moment(now))) for user in wanted]
    if not rows:
        return {}
    return {(row[0], row[1]): (int(row[2]), int(row[3])) for row in await _month_costs(on, rows)}


@Query
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


async def _states(on: Statements, wanted: Sequence[User]) -> dict[User, State]:
    return {(row[0], row[1]): State(row[2], row[3], bool(row[4])) for row in await _seen(on, wanted)}


@Query
def _seen(dialect: str) -> tuple[Rows, Select[Any]]:
    asked = Rows(dialect, "s", {"project_id": Text, "user_id": Text})
    columns = (users.c.project_id, users.c.user_id, users.c.last_alert_us, users.c.suppressed, users.c.muted)
    return asked, select(*columns).join_from(asked.table, users, _same(asked))


async def _claim(on: Statements, wanted: Sequence[tuple[str, str, int, int]]) -> set[User]:
    """Take the alerts that cooldowns allow: compare and set, in one statement. Whose ones are ours."""
    return {(row[0], row[1]) for row in await _take(on, wanted)} if wanted else set()


@Query
def _take(dialect: str) -> tuple[Rows, UpdateBase]:
    kinds: Types = {"project_id": Text, "user_id": Text, "now": BigInteger, "cooldown": BigInteger}
    asked = Rows(dialect, "k", kinds)
    last, one = users.c.last_alert_us, asked.c
    free = or_(last.is_(None), last <= one.now - one.cooldown, last >= one.now + one.cooldown)
    return asked, (
        update(users)
        .where(_same(asked), free)
        .values(last_alert_us=one.now, suppressed=0)
        .returning(users.c.project_id, users.c.user_id)
    )


async def _suppress(on: Statements, quiet: Sequence[User]) -> None:
    if quiet:
        await _one_more(on, quiet)


@Query
def _one_more(dialect: str) -> tuple[Rows, UpdateBase]:
    asked = Rows(dialect, "q", {"project_id": Text, "user_id": Text})
    return asked, update(users).where(_same(asked)).values(suppressed=users.c.suppressed + 1)


def _same(asked: Rows) -> ColumnElement[bool]:
    return and_(users.c.project_id == asked.c.project_id, users.c.user_id == asked.c.user_id)


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


async def _record(on: Statements, raised: Sequence[Alert]) -> None:
    if raised:
        await execute_many(on, _INSERT, _COLUMNS, [_row(alert) for alert in raised])


def _row(alert: Alert) -> tuple[Any, ...]:
    """An alert as its row, in the order of ``_COLUMNS``."""
    own = {"window_us": span_micros(alert.window_seconds), "at_us": micros(alert.at)}
    return tuple(own[name] if name in own else getattr(alert, name) for name in _COLUMNS)
