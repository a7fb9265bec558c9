"""A project's month as tables: who costs what, on which feature and model, and what loops came to."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from starlette.requests import Request

from loopwatch.pricing.prices import PriceTable
from loopwatch.server.console.desk import Desk
from loopwatch.server.pages.tables import Column, Table
from loopwatch.server.queries import MOST_OFFSET, number
from loopwatch.store.reports import Group, LoggedCall, Sums, Use
from loopwatch.store.series import Point
from loopwatch.store.users import Order, UserMonth
from loopwatch.wire.usage import Usage

ORDERS: dict[Order, str] = {
    "margin": "Worst margin",
    "cost": "Most spent",
    "tokens": "Most tokens",
    "calls": "Most calls",
    "last": "Latest call",
}
DAYS = 30
NO_FEATURE = "no feature"
UNPRICED = "unknown"
CHARS_A_TOKEN = 4
"""Of English text, as OpenAI puts it (help centre, "What are tokens and how to count them")."""
UNCUT_CHARS = 250_000
"""What a loop that nobody cuts is taken to come to: the first seed's length backstop. Providers' own caps
on output are of this size (64,000 tokens)."""
_MILLION = 1_000_000

_USERS = (
    Column("user", "User", "user"),
    Column("plan", "Plan"),
    Column(
        "status", "Status", "badge", "Unprofitable above the plan's price, to be watched from 70 % of it on."
    ),
    Column("cost", "Cost", "money"),
    Column("revenue", "Plan price", "money"),
    Column("margin", "Margin", "money"),
    Column("calls", "Calls", "number"),
    Column("tokens", "Tokens", "short"),
    Column("last", "Last call", "time"),
    Column("blocked", "", "flag"),
)
_SUMS = (
    Column("cost", "Cost", "money"),
    Column("share", "Share", "share", "Of the month's known cost."),
    Column("calls", "Calls", "number"),
    Column("tokens", "Tokens", "short"),
)
_LOOPS = (
    Column("at", "When", "time"),
    Column("user", "User", "user"),
    Column("feature", "Feature"),
    Column("model", "Model", "code"),
    Column("rule", "Rule"),
    Column("cut", "Replies cut", "number"),
    Column("chars", "Characters thrown away", "number"),
)


class Loops(NamedTuple):
    """What loops came to: replies cut, characters thrown away, and money (nano-USD), where a price is known.

    ``thrown_nano`` is what was thrown away, ``uncut_nano`` what the same replies would have cost had each
    run on to ``UNCUT_CHARS``.
    """

    cut: int
    chars: int
    thrown_nano: int
    uncut_nano: int

    @property
    def saved_nano(self) -> int:
        """What cutting was good for."""
        return max(0, self.uncut_nano - self.thrown_nano)


def loops_of(uses: list[Use], prices: PriceTable, at: datetime) -> Loops:
    """What the loops of a month came to, at the price of each model's output."""
    cut = chars = thrown = uncut = 0
    for use in uses:
        aborts, gone = use.sums.loop_aborts, use.sums.loop_abort_chars
        if not aborts:
            continue
        cut, chars = cut + aborts, chars + gone
        price = prices.cost(
            Usage(input_tokens=0, output_tokens=_MILLION), model=use.model, provider=_provider(use), at=at
        )
        if price is not None:
            thrown += price * (gone // CHARS_A_TOKEN) // _MILLION
            uncut += price * (max(aborts * UNCUT_CHARS, gone) // CHARS_A_TOKEN) // _MILLION
    return Loops(cut, chars, thrown, uncut)


async def users(request: Request, desk: Desk, limit: int) -> Table:
    """Users of the month, worst margin first, or as the request orders and searches them."""
    found = await desk.server.store.users.list(
        desk.project.id,
        order=order_of(request),
        search=search_of(request),
        limit=limit,
        offset=number(request, "offset", 0, MOST_OFFSET),
    )
    empty = "No user called this month. Log a call with a userId, and it is listed here at once."
    if search_of(request):
        empty = "No user of this month has that in their id."
    return Table("users", "Users", _USERS, [_user(one) for one in found], empty)


def order_of(request: Request) -> Order:
    """How users are ordered."""
    return next((one for one in ORDERS if one == request.query_params.get("order")), "margin")


def search_of(request: Request) -> str:
    """What users' ids are to have in them."""
    return request.query_params.get("search", "").replace("\x00", "").strip()[:200]


async def features(request: Request, desk: Desk, limit: int) -> Table:
    """Features of the month, the dearest first."""
    del request
    found = await desk.server.store.reports.by("feature", desk.project.id, _month(desk))
    return features_table("features", found, limit)


def features_table(name: str, found: list[Group], limit: int) -> Table:
    """Features with what they cost."""
    whole = sum(one.sums.cost_nano for one in found)
    rows = [{"feature": one.key or NO_FEATURE, **_sums(one.sums, whole)} for one in found[:limit]]
    empty = "Nothing yet. Name the feature of each call, and you see what each costs."
    return Table(name, "Features", (Column("feature", "Feature"), *_SUMS), rows, empty)


async def models(request: Request, desk: Desk, limit: int) -> Table:
    """Models of the month, the dearest first."""
    del request
    merged = by_model(await desk.server.store.reports.models(desk.project.id, _month(desk)))
    return models_table("models", merged, limit)


def models_table(name: str, merged: Mapping[tuple[str, str], Sums], limit: int) -> Table:
    """Models with what they cost, and which calls have no known price."""
    whole = sum(one.cost_nano for one in merged.values())
    rows = [
        {
            "model": model,
            "provider": provider,
            **_sums(one, whole),
            "unpriced": one.unpriced,
        }
        for (provider, model), one in list(merged.items())[:limit]
    ]
    hint = "Calls of a model whose price nobody knows: they are not in the cost. Settings, Prices."
    columns = (
        Column("model", "Model", "code"),
        Column("provider", "Provider"),
        *_SUMS,
        Column("unpriced", "Unpriced", "number", hint),
    )
    return Table(name, "Models", columns, rows, "Nothing yet. Each call names its model.")


def by_model(uses: list[Use]) -> dict[tuple[str, str], Sums]:
    """The sums of each provider's models, whatever the feature; the dearest first."""
    merged: dict[tuple[str, str], Sums] = {}
    for use in uses:
        key = (use.provider, use.model)
        merged[key] = added(merged[key], use.sums) if key in merged else use.sums
    return dict(sorted(merged.items(), key=lambda item: (-item[1].cost_nano, item[0])))


async def loops(request: Request, desk: Desk, limit: int) -> Table:
    """Calls on the way to which replies looped and were cut, newest first."""
    del request
    found = await desk.server.store.reports.loops(desk.project.id, limit=limit)
    empty = "No loop has been cut yet. Clients that guard their streams report the loops that they cut."
    return Table("loops", "Loops cut", _LOOPS, [_loop(one) for one in found], empty)


async def days(request: Request, desk: Desk, limit: int) -> Table:
    """The last thirty days."""
    del request, limit
    rows = [
        {
            "date": f"{one.at:%Y-%m-%d}",
            "cost": one.sums.cost_nano,
            "calls": one.sums.calls,
            "tokens": tokens_of(one.sums),
            "unpriced": one.sums.unpriced,
            "cut": one.sums.loop_aborts,
        }
        for one in reversed(await last_days(desk))
    ]
    columns = (
        Column("date", "Day (UTC)"),
        Column("cost", "Cost", "money"),
        Column("calls", "Calls", "number"),
        Column("tokens", "Tokens", "short"),
        Column("unpriced", "Unpriced", "number"),
        Column("cut", "Loops cut", "number"),
    )
    return Table("days", "Day by day", columns, rows)


async def last_days(desk: Desk) -> list[Point]:
    """Thirty days, today the last."""
    today = desk.now.replace(hour=0, minute=0, second=0, microsecond=0)
    since = today - timedelta(days=DAYS - 1)
    return await desk.server.store.series.project(desk.project.id, "day", since)


def tokens_of(sums: Sums) -> int:
    """Input and output."""
    return sums.input_tokens + sums.output_tokens


def first(table: Table, count: int) -> Table:
    """The table with so many of its rows."""
    return replace(table, rows=table.rows[:count])


def _month(desk: Desk) -> datetime:
    return desk.server.store.reports.month_start()


def _user(one: UserMonth) -> dict[str, Any]:
    return {
        "user": one.user_id,
        "plan": one.plan,
        "status": one.status,
        "cost": None if one.unpriced and one.unpriced == one.calls else one.cost_nano,
        "cost_none": UNPRICED,
        "revenue": one.revenue_nano,
        "margin": one.margin_nano,
        "calls": one.calls,
        "tokens": one.tokens,
        "last": one.last_at,
        "blocked": one.blocked,
    }


def _sums(one: Sums, whole: int) -> dict[str, Any]:
    return {
        "cost": None if one.calls and one.unpriced == one.calls else one.cost_nano,
        "cost_none": UNPRICED,
        "share": one.cost_nano / whole if whole and one.cost_nano else None,
        "calls": one.calls,
        "tokens": tokens_of(one),
    }


def _loop(one: LoggedCall) -> dict[str, Any]:
    return {
        "at": one.at,
        "user": one.user_id,
        "feature": one.feature,
        "model": one.response_model or one.request_model,
        "rule": one.loop_rule,
        "cut": one.loop_aborts,
        "chars": one.loop_abort_chars,
    }


def added(one: Sums, other: Sums) -> Sums:
    """Both together."""
    names = Sums.__struct_fields__
    return Sums(**{name: getattr(one, name) + getattr(other, name) for name in names})


def _provider(use: Use) -> str | None:
    return None if use.provider == "unknown" else use.provider
