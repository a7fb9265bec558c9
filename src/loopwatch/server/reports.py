"""What a project's calls amount to, in the words of the read API: this calendar month, in UTC."""

from calendar import monthrange
from datetime import datetime, timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from loopwatch.alerts.alert import entry
from loopwatch.records.money import usd
from loopwatch.server.answers import Json
from loopwatch.server.auth import admitted
from loopwatch.server.queries import MOST_LISTED, MOST_OFFSET, moment, number, user
from loopwatch.server.services import services
from loopwatch.store.alerts import Raised
from loopwatch.store.opening import Store
from loopwatch.store.reports import Group
from loopwatch.store.sums import month_of
from loopwatch.store.users import UserMonth

DAYS = 30
ANONYMOUS = "anonymous"
"""What all calls without a user are listed under; ``anonymous`` tells them from one so named."""


async def me(request: Request) -> Response:
    """Whose key this is."""
    key = await admitted(request)
    project = await services(request).store.projects.get(key.project_id)
    shown = {
        "id": key.project_id,
        "name": project.name if project is not None else "",
        "api_key": f"{key.prefix}…",
        "created_at": project.created_at if project is not None else None,
    }
    return Json({"project": shown})


async def stats(request: Request) -> Response:
    """A project's month, its last thirty days, and what each feature costs."""
    key = await admitted(request)
    store = services(request).store
    since = store.reports.month_start()
    money = await store.reports.money(key.project_id)
    totals = await store.reports.totals(key.project_id, since)
    features = await store.reports.by("feature", key.project_id, since)
    return Json(
        {
            "totalCostUsd": usd(totals.cost_nano),
            "totalRevenueUsd": usd(money.revenue_nano),
            "totalMarginUsd": usd(money.revenue_nano - totals.cost_nano),
            "requestCount": totals.calls,
            "unprofitableUsers": money.unprofitable_users,
            "combinedLossUsd": usd(money.loss_nano),
            "topCostFeature": features[0].key or None if features else None,
            "last30Days": await _last_days(store, key.project_id),
            "featureBreakdown": [_feature(one, totals.cost_nano) for one in features],
            "unpricedRequests": totals.unpriced,
            "totalTokens": totals.input_tokens + totals.output_tokens,
            "loopAborts": totals.loop_aborts,
        }
    )


def _feature(group: Group, total: int) -> dict[str, Any]:
    cost, count = group.sums.cost_nano, group.sums.calls
    return {
        "feature": group.key or None,
        "totalCostUsd": usd(cost),
        "requestCount": count,
        "avgCostUsd": usd(cost // count) if count else 0.0,
        "pctOfTotal": round(100 * cost / total, 2) if total else 0.0,
    }


async def _last_days(store: Store, project_id: str) -> list[dict[str, Any]]:
    """Each of the last thirty days. A plan's monthly price is spread over the days of its month."""
    today = store.database.clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
    every = [today - timedelta(days=ago) for ago in reversed(range(DAYS))]
    days = {day.at: day.sums for day in await store.series.project(project_id, "day", every[0])}
    months = sorted({month_of(day) for day in every})
    revenues = {month: (await store.reports.money(project_id, month)).revenue_nano for month in months}
    return [_day(day, days[day].cost_nano, revenues[month_of(day)]) for day in every]


def _day(date: datetime, cost: int, revenue: int) -> dict[str, Any]:
    return {
        "date": f"{date:%Y-%m-%d}",
        "cost": usd(cost),
        "revenue": usd(revenue // monthrange(date.year, date.month)[1]),
    }


async def users(request: Request) -> Response:
    """The month's users, worst margin first."""
    key = await admitted(request)
    limit = number(request, "limit", MOST_LISTED, MOST_LISTED, least=1)
    offset = number(request, "offset", 0, MOST_OFFSET)
    found = await services(request).store.users.list(key.project_id, limit=limit, offset=offset)
    return Json({"users": [_user(one) for one in found]})


def _user(one: UserMonth) -> dict[str, Any]:
    margin = one.margin_nano
    return {
        "userId": one.user_id or ANONYMOUS,
        "anonymous": not one.user_id,
        "totalCostUsd": usd(one.cost_nano),
        "planRevenueUsd": None if one.revenue_nano is None else usd(one.revenue_nano),
        "marginUsd": None if margin is None else usd(margin),
        "requestCount": one.calls,
        "status": one.status,
        "planName": one.plan,
        "totalTokens": one.tokens,
        "unpricedRequests": one.unpriced,
        "blocked": one.blocked,
    }


async def alerts(request: Request) -> Response:
    """A project's alerts, newest first, with what became of their messages."""
    key = await admitted(request)
    limit = number(request, "limit", 100, MOST_LISTED, least=1)
    server = services(request)
    asked = request.query_params.get("userId")
    found = await server.store.alerts.list(
        key.project_id,
        user_id=None if asked is None else await user(request, key.project_id, asked),
        before=moment(request, "before"),
        limit=limit,
    )
    return Json({"alerts": [_alert(one, server.telling.public_url) for one in found]})


def _alert(raised: Raised, public_url: str) -> dict[str, Any]:
    sent = [
        {
            "channel": one.channel,
            "state": one.state,
            "attempts": one.attempts,
            "at": one.at,
            "detail": one.detail,
        }
        for one in raised.deliveries
    ]
    return {**entry(raised.alert, public_url), "deliveries": sent}
