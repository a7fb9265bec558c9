"""What the proxy costs an event, against a relay that does nothing else: ratios, printed.

CPU seconds of the relaying process alone, which the kernel counts; provider and reader are others. Several
streams at a time, each event sent by itself at a pace, as a provider sends tokens.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp
import pytest

STREAMS = 12
EVENTS = 400
PACE = 0.004
ROUNDS = 3
FIRST_BYTES = 60
BUDGET = 1.3
ASK = {"model": "m", "messages": [{"role": "user", "content": "Say something."}], "stream": True}
HERE = Path(__file__).parent


@contextmanager
def running(*command: str) -> Iterator[tuple[int, str]]:
    """A process that prints its port, or an object with its address."""
    with subprocess.Popen(
        [sys.executable, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONASYNCIODEBUG": ""},
    ) as process:
        assert process.stdout is not None
        said = json.loads(process.stdout.readline())
        try:
            yield process.pid, said["url"] if isinstance(said, dict) else f"http://127.0.0.1:{said}"
        finally:
            process.terminate()


def cpu(pid: int) -> float:
    """Seconds that a process has run, over all of its threads."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text(encoding="ascii").split()[0]) for task in tasks) / 1e9


async def stream(session: aiohttp.ClientSession, url: str) -> None:
    async with session.post(f"{url}/v1/chat/completions", json=ASK) as response:
        assert response.status == 200
        async for _ in response.content.iter_any():
            pass


async def streams(url: str) -> None:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        await asyncio.gather(*(stream(session, url) for _ in range(STREAMS)))


async def first_byte(url: str) -> float:
    """Seconds to the first byte, the median of many."""
    times = []
    for _ in range(FIRST_BYTES):
        async with aiohttp.ClientSession() as session:
            began = time.perf_counter()
            async with session.post(f"{url}/v1/chat/completions", json=ASK) as response:
                assert response.status == 200
                await response.content.readany()
                times.append(time.perf_counter() - began)
    return statistics.median(times)


def test_the_proxy_against_a_bare_relay(capsys: pytest.CaptureFixture[str]) -> None:
    command = ("-m", "loopwatch", "proxy", "--port", "0", "--json", "--no-log", "--upstream")
    with (
        running(str(HERE / "paced.py"), str(EVENTS), str(PACE)) as (_, provider),
        running(str(HERE / "bare_relay.py"), provider) as (bare_pid, bare),
        running(*command, f"{provider}/v1") as (proxy_pid, proxy),
        running(*command, f"{provider}/v1", "--preset", "seed") as (seed_pid, seed),
    ):
        relays = {"bare": (bare_pid, bare), "balanced": (proxy_pid, proxy), "seed": (seed_pid, seed)}
        best = dict.fromkeys(relays, float("inf"))
        for number in range(ROUNDS + 1):  # the first one warms up
            for name, (pid, url) in relays.items():
                before = cpu(pid)
                asyncio.run(streams(url))
                spent = (cpu(pid) - before) / (STREAMS * EVENTS) * 1e6
                best[name] = min(best[name], spent) if number else best[name]
        first = {name: asyncio.run(first_byte(url)) for name, (_, url) in relays.items()}
        direct = asyncio.run(first_byte(provider))
    lines = [
        f"proxy against a bare relay, CPU an event: {best['balanced'] / best['bare']:.2f}x (budget {BUDGET}x)",
        f"the same with the preset seed: {best['seed'] / best['bare']:.2f}x",
        f"time to first byte against a bare relay: {first['balanced'] / first['bare']:.2f}x",
        f"time to first byte against none: {first['balanced'] / direct:.2f}x",
    ]
    with capsys.disabled():
        print("\n" + "\n".join(lines))  # noqa: T201  what `make bench` is for
        print("µs an event: " + ", ".join(f"{name} {spent:.1f}" for name, spent in best.items()))  # noqa: T201
        print(f"added to the first byte: {1e3 * (first['balanced'] - direct):.2f} ms")  # noqa: T201
