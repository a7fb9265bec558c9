import asyncio
from datetime import UTC, datetime, timedelta, timezone

import pytest

from loopwatch.clock import ManualClock, SystemClock


async def test_the_machines_clock_tells_time_in_utc_and_waits() -> None:
    clock = SystemClock()
    assert abs(clock.now() - datetime.now(UTC)) < timedelta(minutes=1)
    began = clock.monotonic()
    await clock.sleep(0.01)
    assert clock.monotonic() > began


async def test_the_machines_clock_calls_later_unless_cancelled() -> None:
    called: list[str] = []
    never = SystemClock().call_later(0, lambda: called.append("never"))
    SystemClock().call_later(0, lambda: called.append("once"))
    never.cancel()
    await asyncio.sleep(0.01)
    assert called == ["once"]


def test_a_manual_clock_stands_still_until_it_is_moved() -> None:
    clock = ManualClock(datetime(2026, 11, 30, 13, tzinfo=timezone(timedelta(hours=1))))
    assert clock.now() == datetime(2026, 11, 30, 12, tzinfo=UTC)
    assert clock.now().tzinfo is UTC
    assert clock.monotonic() == 0
    clock.advance(90)
    assert clock.now() == datetime(2026, 11, 30, 12, 1, 30, tzinfo=UTC)
    assert clock.monotonic() == 90


def test_a_start_without_a_time_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        ManualClock(datetime(2026, 1, 1))  # noqa: DTZ001  the point


def test_what_comes_due_is_called_in_its_order_at_its_time() -> None:
    clock = ManualClock()
    called: list[tuple[str, float]] = []

    def note(name: str) -> None:
        called.append((name, clock.monotonic()))

    def begin() -> None:
        note("begin")
        clock.call_later(1, lambda: note("again"))

    clock.call_later(3, lambda: note("third"))
    clock.call_later(2, begin)
    clock.call_later(3, lambda: note("also third"))
    clock.call_later(2.5, lambda: note("cancelled")).cancel()
    clock.advance(1)
    assert called == []
    clock.advance(2)
    assert called == [("begin", 2), ("third", 3), ("also third", 3), ("again", 3)]


async def test_a_sleeper_wakes_when_the_clock_has_been_moved_far_enough() -> None:
    clock = ManualClock()
    woken = asyncio.ensure_future(clock.sleep(10))
    await asyncio.sleep(0)
    clock.advance(9.9)
    await asyncio.sleep(0)
    assert not woken.done()
    clock.advance(0.1)
    await woken


async def test_a_sleeper_that_was_cancelled_leaves_nothing_behind() -> None:
    clock = ManualClock()
    sleeper = asyncio.ensure_future(clock.sleep(10))
    await asyncio.sleep(0)
    sleeper.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sleeper
    clock.advance(20)


async def test_run_moves_the_clock_from_wait_to_wait() -> None:
    clock = ManualClock()
    order: list[tuple[str, float]] = []

    async def worker(name: str, seconds: float) -> None:
        for _ in range(3):
            await clock.sleep(seconds)
            order.append((name, clock.monotonic()))

    async def work() -> str:
        await asyncio.gather(worker("a", 100), worker("b", 150))
        await clock.sleep(0)
        return "done"

    assert await clock.run(work()) == "done"
    assert order == [("a", 100), ("b", 150), ("a", 200), ("b", 300), ("a", 300), ("b", 450)]
    assert clock.monotonic() == 450


async def test_run_says_so_where_no_clock_brings_what_is_waited_for() -> None:
    async def work() -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(RuntimeError, match="not on this clock"):
        await ManualClock().run(work())
