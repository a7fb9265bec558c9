"""What is done beside answering: digests once a week, pruning by the hour, delivery at once."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from loopwatch.clock import ManualClock
from loopwatch.server.chores import digests, prune
from tests.alerts.sinks import http_sink
from tests.server.house import House, serving, until

MONDAY = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)
WEEKLY: dict[str, Any] = {"weeklyDigest": True, "retentionDays": 3_000, "velocityAlerts": False}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(MONDAY - timedelta(days=3))  # a Friday


async def an_hour(clock: ManualClock) -> None:
    """An hour goes by, and a moment in which what it brings can happen."""
    clock.advance(3_600)
    await asyncio.sleep(0.05)


async def spend(house: House, user: str, tokens: int) -> None:
    await house.log(userId=user, model="gpt-4o", inputTokens=0, outputTokens=tokens)


async def test_a_digest_is_sent_on_monday_at_nine_and_once(house: House, clock: ManualClock) -> None:
    async with http_sink() as sink:
        await house.set(**WEEKLY, channels=[{"type": "slack", "url": sink.url.get_secret_value()}])
        clock.advance(-7 * 86_400)
        await spend(house, "steady", 100_000)
        clock.advance(7 * 86_400)
        await spend(house, "steady", 100_000)
        await spend(house, "jumped", 400_000)
        clock.advance(3 * 86_400 - 1)
        await asyncio.sleep(0.1)
        assert sink.received == []
        clock.advance(1)
        await until(lambda: sink.received)
        for _ in range(3):
            await digests(house.server)
            clock.advance(3_600)
        await asyncio.sleep(0.1)
    (received,) = sink.received
    text = received.json["text"]
    assert "the week of 09 November to 15 November 2026" in text
    assert "total spend:    $5.00 (+400% on the week before)" in text
    assert text.index("jumped") < text.index("steady")
    assert "after $0.00 the week before" in text
    assert f"{house.url}/dashboard" in text


async def test_several_servers_send_one(tmp_path: Path, clock: ManualClock) -> None:
    database = tmp_path / "a.db"
    async with serving(database, clock) as house, serving(database, clock) as other, http_sink() as sink:
        for one in (house, other):
            await one.set(**WEEKLY, channels=[{"type": "slack", "url": sink.url.get_secret_value()}])
        clock.advance(3 * 86_400)
        await until(lambda: len(sink.received) == 2)  # one for each project
        await asyncio.gather(*(digests(one.server) for one in (house, other, house, other)))
        await asyncio.sleep(0.1)
        assert len(sink.received) == 2


async def test_who_did_not_ask_for_one_gets_none_and_none_comes_days_late(
    house: House, clock: ManualClock
) -> None:
    async with http_sink() as sink:
        await house.set(channels=[{"type": "slack", "url": sink.url.get_secret_value()}])
        clock.advance(3 * 86_400)
        await digests(house.server)
        clock.advance(3 * 86_400)
        await house.set(weeklyDigest=True)
        await digests(house.server)
        await asyncio.sleep(0.1)
        assert sink.received == []


async def test_what_is_older_than_it_is_kept_goes_by_itself(house: House, clock: ManualClock) -> None:
    await house.set(retentionDays=1)
    await house.log(userId="u1", inputTokens=5)
    await prune(house.server)
    assert len(await house.server.store.reports.recent(house.project)) == 1
    clock.advance(2 * 86_400)
    async with asyncio.timeout(10):
        while await house.server.store.reports.recent(house.project):
            await an_hour(clock)
    assert (await house.get(f"/api/v1/stats/{house.project}"))["requestCount"] == 1  # sums stay


async def test_a_chore_that_fails_is_tried_again(
    house: House, clock: ManualClock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[int] = []

    async def failing(_: Any) -> int:
        calls.append(1)
        raise RuntimeError("away")

    monkeypatch.setattr(house.server.store.upkeep.__class__, "prune", failing)
    async with asyncio.timeout(10):
        while len(calls) < 2:
            await an_hour(clock)
    assert "prune failed: it is tried again within the hour" in caplog.text
