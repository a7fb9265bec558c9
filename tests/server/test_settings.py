"""Settings by the route: in force at once, masked, and never half of them."""

import asyncio

from loopwatch.clock import ManualClock
from loopwatch.config.destinations import MASK
from tests.alerts.sinks import Reply as SinkReply
from tests.alerts.sinks import http_sink
from tests.server.house import House

SLACK = "https://hooks.slack.com/services/T1/B1/s3cr3t"


async def shown(house: House) -> dict[str, object]:
    found: dict[str, object] = await house.get(f"/api/v1/settings/{house.project}", key=house.admin)
    return found


async def test_the_seeds_figures_are_the_defaults(house: House) -> None:
    found = await shown(house)
    assert (found["tokenThreshold"], found["windowMinutes"], found["cooldownMinutes"]) == (50_000, 5, 30)
    assert found["channels"] == []


async def test_what_is_set_holds_at_once_and_for_this_project_alone(
    house: House, clock: ManualClock
) -> None:  # V10
    other = await house.another()
    reply = await house.set(tokenThreshold=10_000, windowMinutes=1, cooldownMinutes=5)
    assert (reply.status, reply.json["tokenThreshold"], reply.headers["ETag"]) == (200, 10_000, '"2"')
    for one in (house, other):
        await one.log(userId="u1", inputTokens=10_001)
    assert len((await house.get(f"/api/v1/alerts/{house.project}"))["alerts"]) == 1
    assert (await other.get(f"/api/v1/alerts/{other.project}"))["alerts"] == []
    clock.advance(300)
    await house.log(userId="u1", inputTokens=10_001)
    assert len((await house.get(f"/api/v1/alerts/{house.project}"))["alerts"]) == 2


async def test_null_is_the_default_again_and_what_is_not_named_stays(house: House) -> None:
    await house.set(tokenThreshold=10_000, costThresholdUsd=5)
    await house.set(tokenThreshold=None)
    found = await shown(house)
    assert (found["tokenThreshold"], found["costThresholdUsd"]) == (50_000, 5)


async def test_a_secret_is_masked_and_kept_when_the_mask_comes_back(house: House) -> None:
    await house.set(channels=[{"type": "slack", "url": SLACK}])
    found = await shown(house)
    assert "s3cr3t" not in str(found)
    assert MASK in str(found)
    assert (await house.set(**{**found, "windowMinutes": 7})).status == 200
    settings = (await house.server.store.projects.settings(house.project)).settings
    assert SLACK in str(settings.document())
    (first, _) = await house.server.store.projects.audit(house.project)
    assert first.actor.startswith("key wk_")


async def test_every_defect_is_told_and_nothing_changes(house: House) -> None:
    reply = await house.set(
        tokenThreshold=0,
        windowMinutes="5",
        colour="red",
        channels=[{"type": "slack", "url": "ftp://s3cr3t"}],
    )
    assert reply.status == 400
    assert len(reply.json["defects"]) == 4
    assert "s3cr3t" not in reply.text
    assert (await shown(house))["tokenThreshold"] == 50_000
    for body in (b"[]", b"1", b"{"):
        path = f"/api/v1/settings/{house.project}"
        assert (await house.ask("PUT", path, key=house.admin, data=body)).status == 400


async def test_a_project_s_own_prices_are_judged_and_used(house: House) -> None:
    reply = await house.set(prices={"my-model": {"input": 2, "output": -1}})
    assert reply.status == 400
    assert reply.error.startswith("prices.my-model.output")
    assert (await house.set(prices={"my-model": {"input": 2, "output": 10}})).status == 200
    await house.log(userId="u1", model="my-model", inputTokens=1_000, outputTokens=100)
    (user,) = (await house.get(f"/api/v1/users/{house.project}"))["users"]
    assert (user["totalCostUsd"], user["unpricedRequests"]) == (0.003, 0)


async def test_a_test_is_sent_and_its_failure_told(house: House) -> None:
    path = f"/api/v1/settings/{house.project}/channels/slack/test"
    assert (await house.ask("POST", path, key=house.admin)).status == 404
    async with http_sink(SinkReply(200), SinkReply(404, "no_service")) as sink:
        await house.set(channels=[{"type": "slack", "url": sink.url.get_secret_value()}])
        assert (await house.ask("POST", path, key=house.admin)).json == {"delivered": True}
        failed = await house.ask("POST", path, key=house.admin)
    assert failed.status == 200
    assert failed.json["delivered"] is False
    assert failed.json["error"].endswith("answered HTTP 404 no_service")
    assert "secret" not in failed.text
    await asyncio.sleep(0)


async def test_another_host_with_a_mask_behind_it_is_refused(house: House) -> None:
    hook = {"type": "slack", "url": "https://hooks.example.com/services/SECRET"}
    project = f"/api/v1/settings/{house.project}"
    await house.ask("PUT", project, key=house.admin, json={"channels": [hook]})
    shown = (await house.ask("GET", project, key=house.admin)).json["channels"][0]
    moved = shown | {"url": shown["url"].replace("hooks.example.com", "new.example.com")}
    refused = await house.ask("PUT", project, key=house.admin, json={"channels": [moved]})
    assert refused.status == 400
    assert "write the whole URL" in refused.error
