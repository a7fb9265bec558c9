import asyncio
import time

import pytest

from loopwatch.client.watchdog import Expired, Watchdog
from loopwatch.clock import ManualClock, SystemClock


async def never() -> None:
    await asyncio.get_running_loop().create_future()


async def expires(clock: ManualClock, watchdog: Watchdog) -> tuple[str, float]:
    with pytest.raises(Expired) as expired:
        await clock.run(watchdog.wait(never()))
    return expired.value.which, clock.monotonic()


async def test_silence_ends_it() -> None:
    clock = ManualClock()
    assert await expires(clock, Watchdog(clock, idle=5, ceiling=60)) == ("idle", 5)


async def test_the_whole_may_not_take_longer_than_the_ceiling() -> None:
    clock = ManualClock()
    assert await expires(clock, Watchdog(clock, idle=74, ceiling=37)) == ("ceiling", 37)


async def test_where_both_run_out_together_it_is_the_ceiling() -> None:
    clock = ManualClock()
    assert await expires(clock, Watchdog(clock, idle=30, ceiling=30)) == ("ceiling", 30)


async def test_progress_begins_the_idle_clock_anew_but_not_the_ceiling() -> None:
    clock = ManualClock()
    watchdog = Watchdog(clock, idle=5, ceiling=16)

    async def work() -> None:
        for _ in range(10):
            await watchdog.wait(clock.sleep(4))
            watchdog.progressed()

    with pytest.raises(Expired) as expired:
        await clock.run(work())
    assert (expired.value.which, clock.monotonic()) == ("ceiling", 16)


async def test_what_comes_without_progress_does_not_count() -> None:
    clock = ManualClock()
    watchdog = Watchdog(clock, idle=5, ceiling=60)

    async def work() -> None:
        for _ in range(10):
            await watchdog.wait(clock.sleep(2))

    with pytest.raises(Expired) as expired:
        await clock.run(work())
    assert (expired.value.which, clock.monotonic()) == ("idle", 5)


async def test_a_reader_that_is_slow_is_no_silence_of_the_provider() -> None:
    clock = ManualClock()
    watchdog = Watchdog(clock, idle=5, ceiling=1_000)

    async def work() -> None:
        for _ in range(3):
            await clock.sleep(60)  # the reader at work
            await watchdog.wait(clock.sleep(3))
            watchdog.progressed()

    await clock.run(work())
    assert clock.monotonic() == 189


async def test_nor_is_a_reader_that_lets_nothing_else_run() -> None:
    clock = ManualClock()
    watchdog = Watchdog(clock, idle=5, ceiling=1_000)

    async def work() -> None:
        for _ in range(3):
            clock.advance(60)  # and no timer could ring meanwhile, on the machine's clock
            await watchdog.wait(clock.sleep(3))
            watchdog.progressed()

    await clock.run(work())


async def test_what_has_arrived_while_the_process_was_stopped_is_read_first() -> None:
    watchdog = Watchdog(SystemClock(), idle=0.05, ceiling=60)
    loop = asyncio.get_running_loop()
    arriving: asyncio.Future[str] = loop.create_future()
    loop.call_later(0.01, time.sleep, 0.2)  # all stands still until long after the idle time is over
    loop.call_later(0.02, arriving.set_result, "here")
    assert await watchdog.wait(arriving) == "here"


async def test_a_slow_reader_past_the_ceiling_still_gets_what_has_arrived_but_waits_no_more() -> None:
    clock = ManualClock()
    watchdog = Watchdog(clock, idle=5, ceiling=10)

    async def here() -> str:
        return "here"

    async def work() -> None:
        await clock.sleep(60)
        assert await watchdog.wait(here()) == "here"
        await watchdog.wait(never())

    with pytest.raises(Expired) as expired:
        await clock.run(work())
    assert (expired.value.which, clock.monotonic()) == ("ceiling", 60)


async def test_whoever_cancels_from_outside_is_obeyed() -> None:
    clock = ManualClock()
    watchdog = Watchdog(clock, idle=5, ceiling=60)
    task = asyncio.ensure_future(watchdog.wait(never()))
    await asyncio.sleep(0)
    clock.advance(5)  # it rings, and
    task.cancel()  # somebody else cancels before it is heard
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_once_stopped_it_rings_no_more() -> None:
    clock = ManualClock()
    watchdog = Watchdog(clock, idle=5, ceiling=60)
    watchdog.stop()
    watchdog.stop()
    clock.advance(100)
    with pytest.raises(RuntimeError, match="not on this clock"):
        await clock.run(never())


async def test_on_the_machines_clock_it_rings_too() -> None:
    with pytest.raises(Expired):
        await Watchdog(SystemClock(), idle=0.02, ceiling=5).wait(never())
