"""What it costs to store a call before answering: ratios within one run, printed.

One event a POST, 64 in flight, against a route that only decodes it; and batches, against plain
inserts of the same rows into the same database.
"""

import asyncio
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from loopwatch.clock import SystemClock
from loopwatch.store.ingest import _COLUMNS, _row
from loopwatch.store.opening import open_store
from loopwatch.store.sums import Entry
from loopwatch.store.tables import calls as calls_table
from tests.records.rows import WECKR
from tests.store.calls import a_call, price_of
from tests.store.servers import postgres

ROOT = Path(__file__).parents[2]
EVENTS, IN_FLIGHT, USERS, ROUNDS = 6_000, 64, 500, 4
ROWS, BATCH = 20_000, 500


@pytest.fixture(scope="module")
def postgres_url() -> Iterator[str]:
    with postgres(fsync=True) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/loopwatch.db"
    address: str = request.getfixturevalue("postgres_url")
    return address


def posts(path: str, key: str) -> list[bytes]:
    """Requests as the other SDK makes them, on connections that stay."""
    requests = []
    for number in range(EVENTS):
        row = {**WECKR, "userId": f"usr_{number % USERS}", "eventId": str(uuid.uuid4()), "timestamp": None}
        body = msgspec.json.encode(row)
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nx-api-key: {key}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        requests.append(head.encode() + body)
    return requests


async def load(port: int, requests: Sequence[bytes]) -> float:
    """Send everything, so many in flight. Returns the seconds that it took."""
    left = iter(requests)

    async def one() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for request in left:
            writer.write(request)
            answer = await reader.readuntil(b"\r\n\r\n")
            assert answer.startswith(b"HTTP/1.1 202"), answer
            length = int(answer.lower().partition(b"content-length: ")[2].partition(b"\r")[0])
            await reader.readexactly(length)
        writer.close()
        await writer.wait_closed()

    start = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(IN_FLIGHT)))
    return time.perf_counter() - start


async def test_one_event_a_post(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    server = subprocess.Popen(  # noqa: ASYNC220  it runs for as long as the test
        [sys.executable, "-m", "tests.bench.ingest_server", url],
        cwd=ROOT,
        env={**os.environ, "PYTHONASYNCIODEBUG": ""},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdin is not None
        assert server.stdout is not None
        port, key = (await asyncio.to_thread(server.stdout.readline)).split()

        def used() -> float:
            assert server.stdin is not None
            assert server.stdout is not None
            server.stdin.write("\n")
            server.stdin.flush()
            return float(server.stdout.readline())

        best: dict[str, tuple[float, float]] = {}
        for _ in range(ROUNDS):
            for path in ("/plain", "/api/v1/log"):
                requests, before = posts(path, key), used()
                took = await load(int(port), requests)
                cpu = used() - before
                known = best.get(path, (took, cpu))
                best[path] = (min(known[0], took), min(known[1], cpu))
        server.communicate()
    finally:
        server.kill()
        server.wait()
    wall, cpu = (best["/api/v1/log"][n] / best["/plain"][n] for n in range(2))
    rate = EVENTS / best["/api/v1/log"][0]
    name = url.partition(":")[0]
    line = (
        f"{name:10} one event a POST: {wall:.1f}x the time, {cpu:.1f}x the CPU of a route that stores nothing"
    )
    with capsys.disabled():
        print(f"\n{line}, {rate:,.0f}/s (budget 4x)")  # noqa: T201  what `make bench` is for


async def test_batches(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    clock = SystemClock()
    async with open_store(url, price=price_of, upgrade=True) as store:
        project = (await store.projects.create("Bench", {"tokenThreshold": 10**9})).id
        other = (await store.projects.create("Plain")).id

        async def plain() -> None:
            for start in range(0, ROWS, BATCH):
                rows = [
                    dict(zip(_COLUMNS, _row(Entry(other, call, 1)), strict=True))
                    for call in calls[start : start + BATCH]
                ]
                async with store.database.writing() as connection:
                    await connection.execute(calls_table.insert(), rows)

        async def logged() -> None:
            for start in range(0, ROWS, BATCH):
                await store.writer.log(project, calls[start : start + BATCH])

        rates: dict[str, float] = {}
        works: dict[str, Callable[[], Awaitable[None]]] = {"plain": plain, "logged": logged}
        for _ in range(3):
            for name, work in works.items():
                calls = [a_call(clock, 10, f"u{n % USERS}") for n in range(ROWS)]
                start = time.perf_counter()
                await work()
                rates[name] = max(rates.get(name, 0), ROWS / (time.perf_counter() - start))
    name, share = url.partition(":")[0], rates["logged"] / rates["plain"]
    line = f"{name:10} batches of {BATCH}: {rates['logged']:,.0f} rows/s, {share:.2f} of plain inserts"
    with capsys.disabled():
        print(f"\n{line} (budget 0.33)")  # noqa: T201  what `make bench` is for
