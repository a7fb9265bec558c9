"""Whether the next call may go ahead."""

from typing import Any

import pytest

from loopwatch.clock import ManualClock
from tests.server.house import House

CAPS = {
    "free": {"monthlyUsd": 2, "action": "block"},
    "pro": {"monthlyUsd": 2, "action": "downgrade"},
}


async def check(house: House, user: str = "u1", plan: str = "free", model: str = "gpt-4o") -> Any:
    return await house.get(f"/api/v1/check?userId={user}&planName={plan}&model={model}")


@pytest.fixture
async def capped(house: House) -> House:
    await house.set(prices={"priced": {"input": 1, "output": 1}}, caps=CAPS, velocityAlerts=False)
    return house


async def spend(house: House, dollars: float, user: str = "u1") -> None:
    await house.log(userId=user, model="priced", provider="unknown", inputTokens=round(dollars * 1_000_000))


async def test_below_the_cap_it_may_and_at_the_cap_it_may_not(capped: House) -> None:
    assert await check(capped) == {"allowed": True, "currentSpend": 0, "cap": 2, "remainingBudget": 2}
    await spend(capped, 1.99)
    assert (await check(capped))["allowed"]
    await spend(capped, 0.01)
    refused = await check(capped)
    assert refused.items() >= {"allowed": False, "action": "block", "currentSpend": 2, "cap": 2}.items()
    assert refused["remainingBudget"] == 0
    assert (await check(capped, user="u2"))["allowed"]
    assert (await check(capped, plan="none"))["allowed"]


async def test_a_downgrade_is_what_the_settings_say_else_what_prices_propose(capped: House) -> None:
    await spend(capped, 3)
    proposed = await check(capped, plan="pro")
    assert (
        proposed.items()
        >= {"allowed": False, "action": "downgrade", "alternativeModel": "gpt-4o-mini"}.items()
    )
    await capped.set(downgrades={"gpt-4o": "gpt-4.1-nano", "gpt-4.1": "gpt-4.1"})
    assert (await check(capped, plan="pro"))["alternativeModel"] == "gpt-4.1-nano"
    for model in ("gpt-4.1", "mystery"):  # mapped to itself, or nothing cheaper is known: it goes on
        found = await check(capped, plan="pro", model=model)
        assert found.items() >= {"allowed": True, "action": "downgrade", "alternativeModel": None}.items()


async def test_a_month_ends_and_the_cap_is_free_again(capped: House, clock: ManualClock) -> None:
    await spend(capped, 3)
    clock.advance(14 * 86_400)
    assert (await check(capped))["allowed"]


async def test_blocked_by_hand_and_let_through_again(house: House) -> None:
    for user in ("u1", "a/b c?d#e%2f", "ü"):
        from urllib.parse import quote

        path = f"/api/v1/users/{house.project}/{quote(user, safe='')}"
        assert (await house.ask("POST", f"{path}/block", key=house.admin)).json == {
            "userId": user,
            "blocked": True,
        }
        refused = await check(house, user=quote(user, safe=""))
        assert (refused["allowed"], refused["action"]) == (False, "block")
        assert refused["reason"].startswith("blocked by key wk_")
        await house.ask("POST", f"{path}/unblock", key=house.admin)
        assert (await check(house, user=quote(user, safe="")))["allowed"]


async def test_while_an_alert_is_hot_where_the_project_wants_it(house: House, clock: ManualClock) -> None:
    await house.log(userId="u1", inputTokens=60_000)
    assert (await check(house))["allowed"]
    await house.set(blockWhileHot=True)
    assert (await check(house))["reason"] == "an alert about this user is hot"
    clock.advance(30 * 60)
    assert (await check(house))["allowed"]


async def test_without_a_user_everything_may_and_a_personal_id_is_refused(house: House) -> None:
    assert await house.get("/api/v1/check") == {"allowed": True}
    assert await house.get("/api/v1/check?userId=+&planName=free") == {"allowed": True}
    reply = await house.ask("GET", "/api/v1/check?userId=bob%40x.io&planName=free&model=m")
    assert (reply.status, "e-mail" in reply.error) == (400, True)
    assert (await house.ask("GET", f"/api/v1/check?userId={'x' * 300}")).status == 400
    await house.set(pseudonymise=True)
    assert (await check(house, user="bob%40x.io"))["allowed"]


async def test_a_user_who_is_forgotten_is_gone(house: House) -> None:
    await house.log(userId="u1", inputTokens=10)
    reply = await house.ask("DELETE", f"/api/v1/users/{house.project}/u1", key=house.admin)
    assert reply.json == {"userId": "u1", "deletedCalls": 1, "blocked": False}
    assert (await house.get(f"/api/v1/users/{house.project}"))["users"] == []
    for user in ("%00", "%20", "x" * 300):
        reply = await house.ask("POST", f"/api/v1/users/{house.project}/{user}/block", key=house.admin)
        assert reply.status == 400


async def test_a_block_outlives_what_is_deleted(house: House) -> None:
    user = f"/api/v1/users/{house.project}/u1"
    await house.log(userId="u1", inputTokens=10)
    await house.ask("POST", f"{user}/block", key=house.admin)
    reply = await house.ask("DELETE", user, key=house.admin)
    assert reply.json == {"userId": "u1", "deletedCalls": 1, "blocked": True}
    assert (await check(house, user="u1"))["reason"] == "blocked before their data was deleted"
    await house.ask("POST", f"{user}/unblock", key=house.admin)
    assert (await check(house, user="u1"))["allowed"]


async def test_a_personal_id_means_the_same_user_on_every_route(house: House) -> None:
    bob = "bob%2540x.io"  # bob%40x.io, as a client might write it by mistake
    user = f"/api/v1/users/{house.project}/{bob}"
    routes = [
        *(("GET", f"/api/v1/check?userId={bob}"), ("GET", f"/api/v1/alerts/{house.project}?userId={bob}")),
        *(("POST", f"{user}/block"), ("POST", f"{user}/unblock"), ("DELETE", user)),
    ]
    for method, path in routes:
        reply = await house.ask(method, path, key=house.admin)
        assert (reply.status, "e-mail" in reply.error) == (400, True), path
    await house.set(pseudonymise=True)
    await house.log(userId="bob%40x.io", inputTokens=60_000)
    (alert,) = (await house.get(f"/api/v1/alerts/{house.project}?userId={bob}"))["alerts"]
    assert alert["userId"].startswith("anon_")
    blocked = await house.ask("POST", f"{user}/block", key=house.admin)
    assert blocked.json == {"userId": alert["userId"], "blocked": True}
    assert not (await check(house, user=bob))["allowed"]
    assert (await house.ask("POST", f"{user}/unblock", key=house.admin)).json["userId"] == alert["userId"]
    assert (await check(house, user=bob))["allowed"]
    assert (await house.ask("DELETE", user, key=house.admin)).json["deletedCalls"] == 1
