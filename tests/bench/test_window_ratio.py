"""What one more call costs as its user's window fills: a ratio within one run, printed. Flat is 1."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from loopwatch.clock import SystemClock
from loopwatch.records.call import Call
from loopwatch.store.opening import Store, open_store
from tests.store.calls import a_call, price_of
from tests.store.servers import postgres, valkey

FILLS = (10, 100, 1_000, 10_000)
EVENTS = 150
ROUNDS = 5


@pytest.fixture(scope="module")
def postgres_url() -> Iterator[str]:
    with postgres(fsync=True) as url:
        yield url


@pytest.fixture(scope="module")
def valkey_url() -> Iterator[str]:
    with valkey() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql", "postgresql+valkey"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str | None]:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/loopwatch.db", None
    windows = request.getfixturevalue("valkey_url") if "valkey" in request.param else None
    return request.getfixturevalue("postgres_url"), windows


async def test_one_call_as_its_window_fills(
    where: tuple[str, str | None], capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    url, windows = where
    clock = SystemClock()
    async with open_store(url, price=price_of, windows=windows, upgrade=True) as store:
        project = (await store.projects.create("Bench", {"tokenThreshold": 10**9, "windowMinutes": 60})).id
        for fill in FILLS:
            # Spread evenly over the window, as a user who never stops fills it.
            calls = [a_call(clock, 10, f"u{fill}", ago=3_590 * n / fill) for n in range(fill)]
            for start in range(0, fill, 500):
                await store.writer.log(project, calls[start : start + 500])
        # The rounds take turns, so that a busy moment of the machine hits every fill alike.
        costs: dict[int, list[float]] = {fill: [] for fill in FILLS}
        for _ in range(ROUNDS):
            for fill in FILLS:
                more = [a_call(clock, 10, f"u{fill}") for _ in range(EVENTS)]
                costs[fill].append(await one_by_one(store, project, more))
    best = {fill: min(costs[fill]) for fill in FILLS}
    figures = ", ".join(f"{fill:,}: {best[fill] / best[FILLS[0]]:.2f}x" for fill in FILLS)
    line = f"{request.node.callspec.id:18} one call, with so many in its window: {figures}"
    with capsys.disabled():
        print(f"\n{line} (budget 1.5x)")  # noqa: T201  what `make bench` is for


async def one_by_one(store: Store, project: str, calls: list[Call]) -> float:
    """Seconds a call, each in a transaction of its own."""
    start = time.perf_counter()
    for call in calls:
        await store.writer.log(project, [call])
    return (time.perf_counter() - start) / len(calls)
