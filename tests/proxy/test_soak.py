"""Many streams at once, clients that leave at any moment: nothing stays behind."""

import asyncio
import gc
import random
import tracemalloc
from pathlib import Path

import aiohttp
import pytest

from loopwatch.testing.answers import Answer, answer, looping
from loopwatch.testing.exchange import Request
from loopwatch.testing.provider import scripted_provider
from loopwatch.testing.steps import Cut, Role, Say
from tests.proxy.house import LOOP, Proxy, proxied

ASK = {"model": "m", "messages": [{"role": "user", "content": "Hello?"}]}
GROWTH = 6_000_000
"""Bytes that caches may take: a stream that stays behind holds tens of thousands, and there are hundreds."""


def any_answer(request: Request) -> Answer:
    """A sound reply, a loop, or one that breaks off."""
    kind = request.number % 4
    if kind == 0:
        return looping(LOOP, delay=0.002)
    if kind == 1:
        return Answer([Role(), Say("It scatters, as it ", 0.002), Cut()])
    return answer("All of it scatters in the air, blue more than red. " * 3, delay=0.002)


async def one_client(proxy: Proxy, chance: random.Random) -> None:
    """Asks, reads for a while, and may leave."""
    patience = aiohttp.ClientTimeout(total=chance.choice((0.01, 0.05, 0.2, 5.0)))
    body = ASK | {"stream": chance.random() < 0.8, "user": f"u{chance.randrange(50)}"}
    try:
        async with proxy.session.post(
            f"{proxy.v1}/chat/completions", json=body, timeout=patience
        ) as answered:
            await answered.read()
    except (aiohttp.ClientError, TimeoutError):
        pass  # it left, or the upstream did


async def storm(proxy: Proxy, streams: int, seconds: float, seed: int) -> int:
    """So many clients for so long; how many requests that were."""
    loop = asyncio.get_running_loop()
    until, asked = loop.time() + seconds, 0

    async def client(number: int) -> None:
        nonlocal asked
        chance = random.Random(seed + number)
        while loop.time() < until:
            await one_client(proxy, chance)
            asked += 1

    await asyncio.gather(*(client(number) for number in range(streams)))
    return asked


def sockets() -> int:
    return sum(
        str(one.readlink()).startswith("socket:")
        for one in Path("/proc/self/fd").iterdir()
        if one.is_symlink()
    )


async def soaked(streams: int, seconds: float) -> None:
    async with scripted_provider(any_answer) as provider, proxied(provider.base_url) as proxy:
        proxy.session.connector._limit = 0  # type: ignore[union-attr]  # as many as there are clients
        await storm(proxy, streams, seconds / 4, seed=0)  # imports, caches, pools
        await settled(proxy)
        before = (sockets(), len(asyncio.all_tasks()))
        provider.requests.clear()
        proxy.rows.clear()
        proxy.told.clear()
        gc.collect()
        tracemalloc.start()
        try:
            held = tracemalloc.get_traced_memory()[0]
            asked = await storm(proxy, streams, seconds, seed=1_000)
            await settled(proxy)
            rows = len(proxy.rows)
            provider.requests.clear()
            proxy.rows.clear()
            proxy.told.clear()
            gc.collect()
            grown = tracemalloc.get_traced_memory()[0] - held
        finally:
            tracemalloc.stop()
        await provider.disconnected(within=10)
        assert 0 < rows <= asked
        assert asked > streams
        assert grown < GROWTH
        assert sockets() <= before[0] + 8
        assert len(asyncio.all_tasks()) <= before[1] + 2
        assert proxy.house.tallies.streams == 0


async def settled(proxy: Proxy) -> None:
    async with asyncio.timeout(30):
        while proxy.house.tallies.streams:  # noqa: ASYNC110  it tells nobody
            await asyncio.sleep(0.02)
    assert proxy.session.connector is not None
    await proxy.session.connector.close()
    proxy.session._connector = aiohttp.TCPConnector(limit=0)
    await asyncio.sleep(0.3)


async def test_a_short_storm_leaves_nothing_behind() -> None:
    await soaked(40, 5)


@pytest.mark.slow
async def test_two_hundred_streams_for_a_minute_leave_nothing_behind() -> None:
    await soaked(200, 60)
