"""What the model client costs an event, against who does less and who does the same: ratios, printed.

CPU seconds of this process alone; the provider is another one. Several streams at a time, each event
sent by itself at a pace, as a provider sends tokens.
"""

import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import aiohttp
import pytest

from loopwatch.client.model import ModelClient

STREAMS = 12
EVENTS = 400
PACE = 0.004
ROUNDS = 5
ASK = {"model": "m", "messages": [{"role": "user", "content": "Say something."}]}


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    """Where the provider answers."""
    command = [sys.executable, str(Path(__file__).with_name("paced.py")), str(EVENTS), str(PACE)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as provider:
        assert provider.stdout is not None
        assert provider.stdin is not None
        yield f"http://127.0.0.1:{int(provider.stdout.readline())}/v1"
        provider.stdin.close()


async def bare(base_url: str) -> None:
    """Reads the bytes and does nothing with them."""
    async with (
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0, force_close=True)) as session,
    ):

        async def one() -> None:
            async with session.post(f"{base_url}/chat/completions", json=ASK | {"stream": True}) as response:
                async for _ in response.content.iter_any():
                    pass

        await asyncio.gather(*(one() for _ in range(STREAMS)))


def ours(loop_detection: str | None) -> Callable[[str], Awaitable[None]]:
    """Reads deltas and a reply."""

    async def read(base_url: str) -> None:
        async with ModelClient(base_url=base_url, loop_detection=loop_detection, retries=0) as client:

            async def one() -> None:
                async for _ in client.stream(ASK):
                    pass

            await asyncio.gather(*(one() for _ in range(STREAMS)))

    return read


async def openai_sdk(base_url: str) -> None:
    """Reads chunks as OpenAI's own client gives them."""
    import openai

    async with openai.AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0) as client:

        async def one() -> None:
            stream = await client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": "Say something."}], stream=True
            )
            async for _ in stream:
                pass

        await asyncio.gather(*(one() for _ in range(STREAMS)))


READERS: dict[str, Callable[[str], Awaitable[None]]] = {
    "bare aiohttp": bare,
    "ModelClient": ours(None),
    "ModelClient, seed": ours("seed"),
    "ModelClient, balanced": ours("balanced"),
    "openai SDK": openai_sdk,
}


def cpu(read: Callable[[str], Awaitable[None]], base_url: str) -> float:
    """CPU microseconds an event."""

    async def run() -> float:
        began = time.process_time()
        await read(base_url)
        return time.process_time() - began

    return asyncio.run(run()) / (STREAMS * EVENTS) * 1_000_000


def test_the_client_against_bare_aiohttp_and_the_openai_sdk(
    base_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for read in READERS.values():
        cpu(read, base_url)  # imports, and whatever else comes once
    rounds = [{name: cpu(read, base_url) for name, read in READERS.items()} for _ in range(ROUNDS)]
    best = {name: min(times[name] for times in rounds) for name in READERS}
    off, seed = best["ModelClient"], best["ModelClient, seed"]
    balanced = best["ModelClient, balanced"]
    lines = [
        f"ModelClient against bare aiohttp, CPU an event: {off / best['bare aiohttp']:.2f}x (budget 1.5x)",
        f"ModelClient against the openai SDK: {off / best['openai SDK']:.2f} (budget 0.33)",
        f"detector on against off, seed: {100 * (seed / off - 1):+.0f} % (budget 10 %)",
        f"detector on against off, balanced: {100 * (balanced / off - 1):+.0f} % (budget 15 %)",
    ]
    with capsys.disabled():
        print("\n" + "\n".join(lines))  # noqa: T201  what `make bench` is for
        print("µs an event: " + ", ".join(f"{name} {time:.1f}" for name, time in best.items()))  # noqa: T201
