"""What a project spends, on whom and on what, and who is looping. Its parts come anew by themselves."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from loopwatch.server.console import alerts, spending
from loopwatch.server.console.desk import Desk
from loopwatch.server.console.notices import notice
from loopwatch.server.queries import MOST_OFFSET, number
from loopwatch.store.reports import Sums
from loopwatch.store.series import Point

LISTED = 25
LATEST = 6


async def show(request: Request, desk: Desk) -> Response:
    """The dashboard; for a project without a call, what to do first."""
    context = await _now(desk) | await _tables(request, desk)
    context["days"] = await spending.days(request, desk, spending.DAYS)
    context["charts"] = _charts(await spending.last_days(desk))
    return desk.page("dashboard.html", notice_text=notice(request), **context)


async def now(request: Request, desk: Desk) -> Response:
    """The part of the page that tells how it stands, by itself."""
    del request
    return desk.page("dashboard_now.html", **await _now(desk))


async def users(request: Request, desk: Desk) -> Response:
    """The table of users by itself, as it is ordered and searched."""
    return desk.page("dashboard_users.html", **await _users(request, desk))


async def _now(desk: Desk) -> dict[str, Any]:
    """How the month stands, and the latest alerts."""
    store = desk.server.store
    uses = await store.reports.models(desk.project.id, store.reports.month_start())
    money = await store.reports.money(desk.project.id)
    totals = Sums()
    for one in spending.by_model(uses).values():
        totals = spending.added(totals, one)
    prices = desk.server.prices.table(desk.current.settings)
    raised = await store.alerts.list(desk.project.id, limit=LATEST)
    return {
        "totals": totals,
        "money": money,
        "loops": spending.loops_of(uses, prices, desk.now),
        "latest": [alerts.shown(one, desk) for one in raised],
        "is_new": totals.calls == 0
        and not raised
        and not await store.reports.recent(desk.project.id, limit=1),
        "uncut_chars": spending.UNCUT_CHARS,
    }


async def _tables(request: Request, desk: Desk) -> dict[str, Any]:
    return {
        **await _users(request, desk),
        "features": await spending.features(request, desk, LISTED),
        "models": await spending.models(request, desk, LISTED),
        "cut": await spending.loops(request, desk, LATEST),
    }


async def _users(request: Request, desk: Desk) -> dict[str, Any]:
    offset = number(request, "offset", 0, MOST_OFFSET)
    order, search = spending.order_of(request), spending.search_of(request)
    table = await spending.users(request, desk, LISTED + 1)
    has_more = len(table.rows) > LISTED
    return {
        "users": spending.first(table, LISTED),
        "order": order,
        "orders": spending.ORDERS.items(),
        "search": search,
        "offset": offset,
        "earlier": max(0, offset - LISTED) if offset else None,
        "later": offset + LISTED if has_more else None,
    }


def _charts(points: list[Point]) -> list[dict[str, Any]]:
    times = [int(one.at.timestamp()) for one in points]
    figures = {
        ("Spend", "money"): [one.sums.cost_nano / 1e9 for one in points],
        ("Calls", "count"): [one.sums.calls for one in points],
        ("Tokens", "count"): [spending.tokens_of(one.sums) for one in points],
    }
    return [
        {"title": name, "kind": kind, "times": times, "series": [[name, values]]}
        for (name, kind), values in figures.items()
    ]
