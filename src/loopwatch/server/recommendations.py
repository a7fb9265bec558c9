"""What could be cheaper, or should cost more: computed from the month so far, and only proposed.

The rules are the second seed's system's, as far as they are known; how a price is proposed is ours: the
whole dollar at which the plan's average user leaves ``MARGIN`` of it.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from loopwatch.pricing.prices import PriceTable
from loopwatch.records.money import NANO, usd
from loopwatch.server.answers import Json
from loopwatch.server.auth import admitted
from loopwatch.server.downgrades import cheaper
from loopwatch.server.queries import MOST_LISTED
from loopwatch.server.services import services
from loopwatch.store.opening import Store
from loopwatch.store.reports import Sums, Use
from loopwatch.store.users import UserMonth
from loopwatch.wire.usage import Usage

SHORT_ANSWER = 150
"""Output tokens on average below which a feature's task counts as a simple one."""
LEAST_SAVING = NANO
"""A dollar a month, in nano-USD: less is not worth a change."""
MANY_REQUESTS = 1_000
"""Requests from which on an average says much."""
LEAST_USERS, LEAST_REQUESTS = 5, 30
"""What a month must have for prices of plans to be judged."""
MARGIN = 0.3
"""Share of a plan's price that should be left of it."""
MANY_UNPROFITABLE = 20.0
"""Percent of a plan's users who cost more than it from which on the price, not the users, is the matter."""


async def models(request: Request) -> Response:
    """Features that a cheaper model of the same family would do for."""
    key = await admitted(request)
    server = services(request)
    table = server.prices.table((await server.store.projects.settings(key.project_id)).settings)
    reports = server.store.reports
    found = await reports.features_by_model(key.project_id, reports.month_start())
    every = (_model(one, table) for one in found)
    best = sorted((one for one in every if one is not None), key=lambda one: -one["estimatedSaving"])
    return Json({"recommendations": best})


def _model(use: Use, table: PriceTable) -> dict[str, Any] | None:
    feature, model, sums = use.feature, use.model, use.sums
    count = sums.calls
    if not count or sums.unpriced == count or sums.output_tokens >= SHORT_ANSWER * count:
        return None
    other = cheaper(model, table)
    price = table.price(other, input_tokens=sums.input_tokens // count) if other is not None else None
    projected = price.cost(_usage(sums)) if price is not None else None
    if projected is None or sums.cost_nano - projected < LEAST_SAVING:
        return None
    return {
        "feature": feature or None,
        "currentModel": model,
        "recommendedModel": other,
        "avgInputTokens": sums.input_tokens // count,
        "avgOutputTokens": sums.output_tokens // count,
        "monthlyRequests": count,
        "currentMonthlyCost": usd(sums.cost_nano),
        "projectedMonthlyCost": usd(projected),
        "estimatedSaving": usd(sums.cost_nano - projected),
        "complexity": "simple",
        "confidence": "high" if count >= MANY_REQUESTS else "medium",
    }


def _usage(sums: Sums) -> Usage:
    return Usage(
        input_tokens=sums.input_tokens,
        cache_read_input_tokens=sums.cache_read_input_tokens,
        cache_creation_input_tokens=sums.cache_creation_input_tokens,
        output_tokens=sums.output_tokens,
        reasoning_output_tokens=sums.reasoning_output_tokens,
    )


async def downgrades(request: Request) -> Response:
    """A cheaper stand-in for each model of the month: what a downgrading cap uses where nothing is set."""
    key = await admitted(request)
    server = services(request)
    table = server.prices.table((await server.store.projects.settings(key.project_id)).settings)
    reports = server.store.reports
    used = await reports.by("model", key.project_id, reports.month_start())
    found = {one.key: cheaper(one.key, table) for one in used}
    return Json({"downgrades": {model: other for model, other in found.items() if other is not None}})


async def pricing(request: Request) -> Response:
    """Plans whose price does not cover what their users cost."""
    key = await admitted(request)
    users = await _everybody(services(request).store, key.project_id)
    if len(users) < LEAST_USERS or sum(one.calls for one in users) < LEAST_REQUESTS:
        return Json({"insufficientData": True, "recommendations": []})
    return Json({"insufficientData": False, "recommendations": plans(users)})


async def _everybody(store: Store, project_id: str) -> list[UserMonth]:
    """The month's users who have a name."""
    every: list[UserMonth] = []
    while True:
        page = await store.users.list(project_id, limit=MOST_LISTED, offset=len(every))
        every += page
        if len(page) < MOST_LISTED:
            return [one for one in every if one.user_id]


def plans(users: Iterable[UserMonth]) -> list[dict[str, Any]]:
    """A proposal for each plan that has a price, the greatest loss first."""
    by_plan: dict[str, list[UserMonth]] = defaultdict(list)
    for one in users:
        if one.plan is not None and one.revenue_nano is not None:
            by_plan[one.plan].append(one)
    found = [_plan(plan, of_it) for plan, of_it in by_plan.items()]
    return sorted(found, key=lambda one: (-one["totalLossUsd"], one["plan"]))


def _plan(plan: str, users: Sequence[UserMonth]) -> dict[str, Any]:
    price = max(one.revenue_nano or 0 for one in users)
    average = sum(one.cost_nano for one in users) // len(users)
    losing = [one for one in users if one.status == "unprofitable"]
    loss = sum(one.cost_nano - (one.revenue_nano or 0) for one in losing)
    share = 100 * len(losing) / len(users)
    proposed = max(price, math.ceil(average / (1 - MARGIN) / NANO) * NANO)
    if not losing:
        proposed, action, gain = price, "keep_price", 0
    elif share >= MANY_UNPROFITABLE and proposed > price:
        action, gain = "raise_price", (proposed - price) * len(users)
    else:
        proposed, action, gain = price, "cap_heavy_users", loss
    return {
        "plan": plan,
        "currentPrice": usd(price),
        "avgCostPerUser": usd(average),
        "userCount": len(users),
        "unprofitableUsers": len(losing),
        "unprofitablePct": round(share, 2),
        "totalLossUsd": usd(loss),
        "recommendedPrice": usd(proposed),
        "potentialMonthlyGain": usd(gain),
        "recommendedAction": action,
    }
