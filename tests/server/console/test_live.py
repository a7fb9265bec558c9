"""Alerts as they happen: told to open pages, bounded, and over once the server ends."""

import asyncio
import json
from datetime import timedelta

import aiohttp
import pytest

from loopwatch.clock import ManualClock
from loopwatch.server import live
from loopwatch.server.console import events
from loopwatch.store.opening import open_store
from tests.server.console.guest import Guest
from tests.server.house import House, until
from tests.store.calls import a_call


async def event(stream: aiohttp.ClientResponse) -> dict[str, str]:
    """The next alert of a stream."""
    async with asyncio.timeout(10):
        while True:
            line = (await stream.content.readline()).decode()
            assert line, "the stream has ended"
            if line.startswith("data: "):
                found: dict[str, str] = json.loads(line.removeprefix("data: "))
                return found


async def test_an_alert_reaches_a_page_that_is_open(house: House, owner: Guest) -> None:
    async with owner.session.get(f"{house.url}/dashboard/live") as stream:
        assert stream.headers["Content-Type"].startswith("text/event-stream")
        await until(lambda: house.server.live.count)
        await house.log(userId="usr_<b>", inputTokens=61_400)
        found = await event(stream)
        assert found["text"] == "usr_<b>: 61.4 k tokens"
        assert found["href"] == f"/dashboard/users/usr_%3Cb%3E?project={house.project}"
    await until(lambda: house.server.live.count == 0)


async def test_so_does_one_that_another_server_raised(house: House, owner: Guest, clock: ManualClock) -> None:
    async with owner.session.get(f"{house.url}/dashboard/live") as stream:
        await until(lambda: house.server.live.count)
        clock.advance(1)
        url = str(house.server.store.database.engine.url).replace("+aiosqlite", "")
        async with open_store(url, clock) as other:
            await other.writer.log(house.project, [a_call(clock, 60_000, "elsewhere")])
        clock.advance(live.POLL)
        assert (await event(stream))["text"] == "elsewhere: 60 k tokens"


async def test_an_alert_of_another_project_does_not(house: House, owner: Guest) -> None:
    other = await house.server.store.projects.create("Other")
    async with owner.session.get(f"{house.url}/dashboard/live?project={other.id}") as stream:
        await until(lambda: house.server.live.count)
        await house.log(userId="u1", inputTokens=61_400)
        house.server.live.wake()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await event(stream)


async def test_pages_that_listen_are_few(house: House, owner: Guest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MOST", 1)
    async with owner.session.get(f"{house.url}/dashboard/live") as stream:
        await until(lambda: house.server.live.count)
        more = await owner.open("/dashboard/live")
        assert (more.status, more.headers["Retry-After"]) == (503, "30")
        house.server.live.close()
        assert [line async for line in stream.content if line.startswith(b"data")] == []


async def test_a_stream_ends_in_time_so_that_the_visitor_is_asked_for_again(
    house: House, owner: Guest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "LIFETIME", 0.05)
    async with owner.session.get(f"{house.url}/dashboard/live") as stream:
        assert (await stream.read()).startswith(b"retry: ")
    await until(lambda: house.server.live.count == 0)


async def test_a_slow_page_loses_the_oldest(house: House, clock: ManualClock) -> None:
    store, hub = house.server.store, house.server.live
    with hub.listening(house.project) as alerts:
        for number in range(25):
            clock.advance(timedelta(seconds=1).total_seconds())
            await house.log(userId=f"u{number:02}", inputTokens=60_000)
            await until(lambda: store.writer.counts.alerts > number)  # noqa: B023  awaited at once
            await hub._look(house.project)
        hub.close()
        told = [one.alert.user_id async for one in alerts]
    assert told == [f"u{number:02}" for number in range(6, 25)]
