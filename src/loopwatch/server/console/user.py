"""One user: how they stand, whether it is still going on, what it has cost, and what can be done about it."""

from datetime import timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from loopwatch.errors import InputError
from loopwatch.records.money import nano_usd
from loopwatch.server.console import alerts, spending
from loopwatch.server.console.desk import Desk
from loopwatch.server.console.downloads import Builder, download_of
from loopwatch.server.console.notices import notice
from loopwatch.server.pages.tables import Column, Table
from loopwatch.store.reports import LoggedCall
from loopwatch.store.users import UserState

LISTED = 25
WINDOWS = 6
"""How many windows back the chart goes."""
LEAST_CHART = timedelta(minutes=30)
MOST_CHART = timedelta(hours=12)
"""How far back the store tells how a window went."""
SOURCES = {"provider": "", "estimated": "estimated", "reconciled": "reconciled", "unknown": "no usage"}
DONE = {"block": "blocked", "unblock": "unblocked", "mute": "muted", "unmute": "unmuted"}
_CALLS = (
    Column("at", "When", "time"),
    Column("feature", "Feature"),
    Column("model", "Model", "code"),
    Column("input", "Input", "number", "Tokens, cached ones included."),
    Column("output", "Output", "number", "Tokens, reasoning included."),
    Column("cost", "Cost", "money"),
    Column("cut", "Loops cut", "number"),
    Column("usage", "Usage", "text", "Where the tokens come from, unless the provider counted them."),
)


async def show(request: Request, desk: Desk) -> Response:
    """The page of a user, a part of it, or one of its tables.

    One of whom nothing is known has a page, too: they may be blocked in advance.
    """
    user_id, wanted = request.path_params["user_id"], request.query_params
    if "table" in wanted:
        return await download_of(request, desk, TABLES, wanted["table"])
    context = {"chart": await _chart(desk, user_id), **await _now(desk, user_id)}
    if wanted.get("part") == "now":
        return desk.page("user_now.html", **context)
    context |= {
        "features": await features(request, desk, LISTED),
        "models": await models(request, desk, LISTED),
        "calls": await calls(request, desk, LISTED),
        "alerts": await raised(request, desk, LISTED),
    }
    return desk.page("user.html", notice_text=notice(request), **context)


async def _now(desk: Desk, user_id: str) -> dict[str, Any]:
    store, settings = desk.server.store, desk.current.settings
    state = await store.users.get(desk.project.id, user_id)
    month = await store.users.month(desk.project.id, user_id)
    plan = state.plan if state is not None else None
    cap = settings.caps.get(plan) if plan else None
    tokens = state.window_tokens if state is not None else 0
    return {
        "user_id": user_id,
        "state": state,
        "month": month,
        "cap": cap,
        "cap_nano": None if cap is None else nano_usd(cap.monthly_usd),
        "tokens": tokens,
        "threshold": settings.token_threshold,
        "window": settings.window.total_seconds(),
        "is_over": tokens > settings.token_threshold,
        "pace": _pace(state, settings.window),
        "fullness": min(100, round(tokens * 100 / settings.token_threshold)),
    }


def _pace(state: UserState | None, window: timedelta) -> int | None:
    """Tokens a minute over the window, where anything happened in it."""
    if state is None or not state.window.calls:
        return None
    return round(state.window_tokens / (window.total_seconds() / 60))


async def _chart(desk: Desk, user_id: str) -> dict[str, Any]:
    """The window's tokens as they went, with the threshold."""
    settings = desk.current.settings
    back = min(max(settings.window * WINDOWS, LEAST_CHART), MOST_CHART)
    points = await desk.server.store.series.window(desk.project.id, user_id, desk.now - back)
    return {
        "title": "Tokens in the window",
        "kind": "count",
        "times": [int(one.at.timestamp()) for one in points],
        "series": [["Tokens in the window", [one.tokens for one in points]]],
        "threshold": settings.token_threshold,
    }


async def features(request: Request, desk: Desk, limit: int) -> Table:
    """The user's month by feature."""
    user_id = request.path_params["user_id"]
    found = await desk.server.store.reports.user_features(desk.project.id, user_id)
    return spending.features_table("user-features", found, limit)


async def models(request: Request, desk: Desk, limit: int) -> Table:
    """The user's month by model."""
    user_id = request.path_params["user_id"]
    uses = await desk.server.store.reports.user_models(desk.project.id, user_id)
    return spending.models_table("user-models", spending.by_model(uses), limit)


async def calls(request: Request, desk: Desk, limit: int) -> Table:
    """The user's latest calls."""
    user_id = request.path_params["user_id"]
    found = await desk.server.store.reports.recent(desk.project.id, user_id=user_id, limit=limit)
    empty = "No call is kept: none was made, or all are older than the project keeps them."
    return Table("user-calls", "Recent calls", _CALLS, [_call(one) for one in found], empty)


async def raised(request: Request, desk: Desk, limit: int) -> Table:
    """The alerts about the user."""
    user_id = request.path_params["user_id"]
    found = await desk.server.store.alerts.list(desk.project.id, user_id=user_id, limit=limit)
    columns = tuple(one for one in alerts.COLUMNS if one.key != "user")
    empty = "There has been no alert about this user."
    return Table("user-alerts", "Alerts", columns, [alerts.row(one) for one in found], empty)


def _call(one: LoggedCall) -> dict[str, Any]:
    return {
        "at": one.at,
        "feature": one.feature,
        "model": one.response_model or one.request_model,
        "input": one.input_tokens,
        "output": one.output_tokens,
        "cost": one.cost_nano,
        "cost_none": spending.UNPRICED,
        "cut": one.loop_aborts or None,
        "usage": SOURCES[one.usage_source],
    }


TABLES: dict[str, Builder] = {
    "user-alerts": raised,
    "user-calls": calls,
    "user-features": features,
    "user-models": models,
}


async def act(request: Request, desk: Desk) -> Response:
    """Do what a button of the page says. Raises InputError for what none does."""
    user_id, users = request.path_params["user_id"], desk.server.store.users
    match action := desk.form.text("action"):
        case "block":
            await users.block(desk.project.id, user_id, f"blocked by {desk.actor}")
        case "unblock":
            await users.unblock(desk.project.id, user_id)
        case "mute" | "unmute":
            await users.mute(desk.project.id, user_id, muted=action == "mute")
        case "forget":
            await users.erase(desk.project.id, user_id)
            await desk.note("a user's data deleted")
            return desk.back("", done="forgotten")
        case _:
            raise InputError("a user can be blocked, muted or forgotten: nothing else was done")
    await desk.note(f"user {user_id} {DONE[action]}", user_id=user_id)
    return desk.to(desk.user_url(user_id, done=DONE[action]))
