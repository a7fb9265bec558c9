"""The demo: the same pages over made-up data, set up at the first visit, and nothing kept."""

import json
from datetime import UTC, datetime

import pytest

from loopwatch.clock import ManualClock
from loopwatch.server.demo import company, loop, stage
from loopwatch.server.demo.calendar import FULL, late_in_a_month
from tests.server.conftest import NOON
from tests.server.console.guest import Guest
from tests.server.house import House


async def test_the_same_company_whoever_looks() -> None:
    first, second = (list(company.history(NOON)) for _ in range(2))
    assert first == second
    calls = [one for batch in first for one in batch]
    assert 4_000 < len(calls) < 12_000
    assert len({one.event_id for one in calls}) == len(calls)
    assert {one.plan for one in calls} == {"free", "starter", "pro", "business"}
    assert all(one.at <= NOON for one in calls)


async def test_one_agent_loops_right_now_and_everything_else_is_there(
    house: House, stranger: Guest, clock: ManualClock
) -> None:
    text = (await stranger.open("/demo")).text
    assert "Acme AI" in text
    for word in ("unprofitable", "watch", "profitable", "acme-tagger-7b", "Loops cut", "usr_8f21c9 hot"):
        assert word in text
    user = f"/demo/users/{company.LOOPING}"
    assert "Still going on" in (await stranger.open(user)).text
    calls = len(json.loads((await stranger.open(f"{user}?table=user-calls.json")).html))
    for _ in range(3):
        clock.advance(loop.SECONDS)
        await stranger.open(user)
    assert len(json.loads((await stranger.open(f"{user}?table=user-calls.json")).html)) > calls
    assert "delivered" in (await stranger.open("/demo/alerts")).text
    assert "HTTP 550" in (await stranger.open("/demo/settings")).text
    assert await house.server.store.users.list(house.project) == []


async def test_whatever_is_done_is_judged_and_not_kept(stranger: Guest) -> None:
    await stranger.open("/demo/settings")
    section = {"section": "detection", "windowMinutes": "5", "cooldownMinutes": "30", "cachedWeight": "100"}
    refused = await stranger.send("/demo/settings", section | {"tokenThreshold": "many"})
    assert (refused.status, "whole number" in refused.text) == (422, True)
    for path, fields in (
        ("/demo/settings", section | {"tokenThreshold": "77"}),
        ("/demo/settings/channels", {"type": "email", "channel_to": "a@example.com", "channel_id": "x"}),
        ("/demo/settings/channels/slack", {"action": "test"}),
        ("/demo/settings/channels/slack", {"action": "remove"}),
        ("/demo/settings/keys", {"key_name": "x"}),
        ("/demo/settings/keys/anything", {"action": "revoke"}),
        ("/demo/settings/delete", {"name": "Acme AI"}),
        (f"/demo/users/{company.LOOPING}", {"action": "block"}),
    ):
        assert "nothing was kept" in (await stranger.send(path, fields)).text, path
    page = await stranger.open("/demo/settings")
    assert 'value="50,000"' in page.html
    assert "Acme AI" in page.text
    assert "blocked" not in (await stranger.open(f"/demo/users/{company.LOOPING}?part=now")).text


async def test_it_is_taken_down_when_nobody_looks(house: House, stranger: Guest, clock: ManualClock) -> None:
    playing: stage.Stage = house.front.app.state.stage  # type: ignore[attr-defined]

    def is_up() -> bool:
        return playing._playing is not None

    assert not is_up()
    await stranger.open("/demo")
    assert is_up()
    clock.advance(stage.IDLE + 1)
    for _ in range(1_000):
        if not is_up():
            break
        clock.advance(loop.SECONDS)
        await house.get("/healthz")
    assert not is_up()
    assert (await stranger.open("/demo")).status == 200


def test_its_month_is_never_empty() -> None:
    for day in range(1, 31):
        clock = ManualClock(datetime(2026, 11, day, 8, 30, tzinfo=UTC))
        shown = late_in_a_month(clock)
        assert shown.now().day >= FULL
        assert shown.now().time() == clock.now().time()
        clock.advance(60)
        assert (shown.now() - clock.now()).seconds == 0
        assert shown.monotonic() == 60


async def test_where_it_cannot_be_set_up_one_line_says_so(
    house: House, stranger: Guest, monkeypatch: pytest.MonkeyPatch
) -> None:
    del house

    def full(*_: object, **__: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("tempfile.TemporaryDirectory", full)
    seen = await stranger.open("/demo")
    assert (seen.status, "cannot be set up" in seen.text) == (503, True)
