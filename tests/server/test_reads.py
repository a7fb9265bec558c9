"""The read API: what a project's calls amount to, in the fields that its clients know."""

from typing import Any

import pytest

from loopwatch.clock import ManualClock
from tests.alerts.sinks import http_sink
from tests.server.house import House, until

STATS = {
    *("totalCostUsd", "totalRevenueUsd", "totalMarginUsd", "requestCount", "unprofitableUsers"),
    *("combinedLossUsd", "topCostFeature", "last30Days", "featureBreakdown"),
}
USER = {"userId", "totalCostUsd", "planRevenueUsd", "marginUsd", "requestCount", "status"}
MODEL = {
    *("feature", "currentModel", "recommendedModel", "avgInputTokens", "avgOutputTokens", "monthlyRequests"),
    *("currentMonthlyCost", "projectedMonthlyCost", "estimatedSaving", "complexity", "confidence"),
}
PLAN = {
    *("plan", "currentPrice", "avgCostPerUser", "userCount", "unprofitableUsers", "unprofitablePct"),
    *("totalLossUsd", "recommendedPrice", "potentialMonthlyGain", "recommendedAction"),
}


async def batch(house: House, *rows: dict[str, Any]) -> None:
    reply = await house.ask("POST", "/api/v1/calls", json=list(rows))
    assert reply.json == {"accepted": len(rows), "rejected": []}


def costing(dollars: float, user: str | None = "u1", **more: Any) -> dict[str, Any]:
    """A call of a model at a dollar per million tokens."""
    return {"userId": user, "requestModel": "priced", "inputTokens": round(dollars * 1_000_000), **more}


@pytest.fixture
async def priced(house: House) -> House:
    """A project with a model at a dollar per million tokens, and a plan."""
    await house.set(
        prices={"priced": {"input": 1, "output": 1}},
        plans={"pro": 29, "free": 0},
        velocityAlerts=False,
    )
    return house


async def test_whose_key_it_is(house: House) -> None:
    project = (await house.get("/api/v1/me"))["project"]
    assert set(project) == {"id", "name", "api_key", "created_at"}
    assert (project["id"], project["name"]) == (house.project, "Acme")
    assert house.key not in str(project)


async def test_stats_have_the_fields_and_the_sums(priced: House) -> None:
    await batch(
        priced,
        costing(20.30, "a", plan="pro", feature="chat"),
        costing(29.01, "b", plan="pro", feature="agent"),
        costing(1, None, feature="chat"),
        {"userId": "c", "requestModel": "mystery", "inputTokens": 10},
    )
    stats = await priced.get(f"/api/v1/stats/{priced.project}")
    assert set(stats) >= STATS
    assert (stats["totalCostUsd"], stats["totalRevenueUsd"], stats["requestCount"]) == (50.31, 58.0, 4)
    assert (stats["totalMarginUsd"], stats["unpricedRequests"]) == (7.69, 1)
    assert (stats["unprofitableUsers"], stats["combinedLossUsd"], stats["topCostFeature"]) == (
        1,
        0.01,
        "agent",
    )
    assert [set(day) for day in stats["last30Days"]] == [{"date", "cost", "revenue"}] * 30
    assert (stats["last30Days"][-1]["date"], stats["last30Days"][-1]["cost"]) == ("2026-11-18", 50.31)
    chat = next(one for one in stats["featureBreakdown"] if one["feature"] == "chat")
    assert chat == {
        "feature": "chat",
        "totalCostUsd": 21.3,
        "requestCount": 2,
        "avgCostUsd": 10.65,
        "pctOfTotal": 42.34,
    }


async def test_users_come_worst_margin_first_with_a_status(priced: House) -> None:  # M2
    await batch(
        priced,
        costing(20.30, "watch", plan="pro"),
        costing(20.29, "profitable", plan="pro"),
        costing(29.01, "unprofitable", plan="pro"),
        costing(1, None),
    )
    users = (await priced.get(f"/api/v1/users/{priced.project}"))["users"]
    assert [one["userId"] for one in users] == ["unprofitable", "watch", "profitable", "anonymous"]
    assert [one["status"] for one in users[:3]] == ["unprofitable", "watch", "profitable"]
    assert all(set(one) >= USER for one in users)
    assert (users[0]["marginUsd"], users[3]["marginUsd"]) == (-0.01, None)
    page = (await priced.get(f"/api/v1/users/{priced.project}?limit=1&offset=1"))["users"]
    assert [one["userId"] for one in page] == ["watch"]


@pytest.mark.parametrize("query", ["limit=0", "limit=x", "limit=1001", "offset=-1", "limit=%00"])
async def test_what_is_asked_wrong_is_400(house: House, query: str) -> None:
    reply = await house.ask("GET", f"/api/v1/users/{house.project}?{query}")
    assert (reply.status, "must be a whole number" in reply.error) == (400, True)


async def test_an_alert_is_listed_with_its_deliveries(house: House, clock: ManualClock) -> None:
    async with http_sink() as sink:
        await house.set(channels=[{"type": "slack", "url": sink.url.get_secret_value()}])
        await house.log(userId="usr_8f21c9", feature="research-agent", outputTokens=61_400, inputTokens=0)
        await house.log(userId="usr_8f21c9", outputTokens=1)
        await until(lambda: sink.received)
        found = (await house.get(f"/api/v1/alerts/{house.project}"))["alerts"]
    assert len(sink.received) == 1
    (alert,) = found
    assert (
        alert.items()
        >= {
            "userId": "usr_8f21c9",
            "rule": "velocity",
            "tokens": 61_400,
            "threshold": 50_000,
            "costSoFar": 0.03684,
            "feature": "research-agent",
            "model": "gpt-4o-mini",
            "suppressed": 0,
            "url": f"{house.url}/dashboard/users/usr_8f21c9",
        }.items()
    )
    (delivery,) = alert["deliveries"]
    assert (delivery["channel"], delivery["attempts"]) == ("slack", 1)
    assert (await house.get(f"/api/v1/alerts/{house.project}?userId=other"))["alerts"] == []
    assert (await house.get(f"/api/v1/alerts/{house.project}?before=2020-01-01"))["alerts"] == []
    assert (await house.ask("GET", f"/api/v1/alerts/{house.project}?before=x")).status == 400
    assert clock.now().isoformat()[:10] in alert["at"]


async def test_a_cheaper_model_is_proposed_for_short_answers(house: House) -> None:  # M5
    rows = [
        {
            "feature": "tags",
            "provider": "openai",
            "requestModel": "gpt-4o",
            "inputTokens": 800,
            "outputTokens": 120,
        }
        for _ in range(5_000)
    ]
    long = [{**row, "feature": "essays", "outputTokens": 150} for row in rows[:1_000]]
    await batch(house, *rows)
    await batch(house, *long)
    (found,) = (await house.get(f"/api/v1/recommendations/models/{house.project}"))["recommendations"]
    assert set(found) == MODEL
    assert (found["feature"], found["recommendedModel"]) == ("tags", "gpt-4o-mini")
    assert (found["currentMonthlyCost"], found["projectedMonthlyCost"]) == (16.0, 0.96)
    assert (found["estimatedSaving"], found["complexity"], found["confidence"]) == (15.04, "simple", "high")
    proposed = await house.get(f"/api/v1/recommendations/downgrades/{house.project}")
    assert proposed == {"downgrades": {"gpt-4o": "gpt-4o-mini"}}


async def test_a_saving_below_a_dollar_is_not_proposed(house: House) -> None:
    row = {"feature": "tags", "requestModel": "gpt-4o", "inputTokens": 800, "outputTokens": 120}
    await batch(house, *[row] * 300)
    assert (await house.get(f"/api/v1/recommendations/models/{house.project}"))["recommendations"] == []


async def test_a_plan_s_price_is_proposed_once_there_is_enough_to_go_by(priced: House) -> None:  # M6
    path = f"/api/v1/recommendations/pricing/{priced.project}"
    await batch(priced, *(costing(1, f"u{n % 4}", plan="pro") for n in range(40)))
    assert await priced.get(path) == {"insufficientData": True, "recommendations": []}
    await batch(priced, *(costing(40, f"u{n}", plan="pro") for n in range(5)))
    found = await priced.get(path)
    assert found["insufficientData"] is False
    (plan,) = found["recommendations"]
    assert set(plan) == PLAN
    assert (plan["plan"], plan["currentPrice"], plan["userCount"], plan["unprofitableUsers"]) == (
        "pro",
        29,
        5,
        5,
    )
    assert (plan["avgCostPerUser"], plan["totalLossUsd"], plan["unprofitablePct"]) == (48, 95, 100)
    assert (plan["recommendedAction"], plan["recommendedPrice"], plan["potentialMonthlyGain"]) == (
        *("raise_price", 69.0),
        200.0,
    )


async def test_nobody_and_somebody_called_anonymous_are_told_apart(house: House) -> None:
    for user, tokens in ((None, 30), ("anonymous", 20), ("u1", 10)):
        await house.log(userId=user, inputTokens=tokens)
    listed = (await house.get(f"/api/v1/users/{house.project}"))["users"]
    found = {(one["userId"], one["anonymous"]): one["totalTokens"] for one in listed}
    assert found == {("anonymous", True): 30, ("anonymous", False): 20, ("u1", False): 10}
