"""A process that logs calls: started by the tests, with a database's address and what to do.

``burst`` logs one call for each of some users once a line comes in, and ends. ``endless`` logs without
end and prints each event id once the call was answered for; SIGTERM drains it.
"""

import argparse
import asyncio
import signal
import sys
from contextlib import suppress

from loopwatch.clock import SystemClock
from loopwatch.errors import StoreUnavailable
from loopwatch.store.opening import Store, open_store
from tests.store.calls import a_call, price_of


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


async def burst(store: Store, project: str, number: int, users: int) -> None:
    say("ready")
    await asyncio.to_thread(sys.stdin.readline)
    clock = SystemClock()

    async def one(user: int) -> None:
        for step in range(4):
            call = a_call(clock, 5_000, f"user-{user}", event_id=f"{number}-{user}-{step}")
            await store.writer.log(project, [call])

    # Half of the processes come from the other end, so that they meet.
    order = range(users) if number % 2 else range(users - 1, -1, -1)
    await asyncio.gather(*map(one, order))
    say("done")


async def endless(store: Store, project: str, number: int, users: int) -> None:
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, store.writer.close)
    clock = SystemClock()

    async def one(task: int) -> None:
        step = 0
        with suppress(StoreUnavailable):  # it is stopping
            while True:
                step += 1
                event = f"{number}-{task}-{step}"
                await store.writer.log(project, [a_call(clock, 10, f"user-{task % users}", event_id=event)])
                say(event)

    await asyncio.gather(*map(one, range(32)))
    say("drained")


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("work", choices=["burst", "endless"])
    parser.add_argument("url")
    parser.add_argument("project")
    parser.add_argument("--number", type=int, default=0)
    parser.add_argument("--users", type=int, default=200)
    parser.add_argument("--windows")
    options = parser.parse_args()
    work = burst if options.work == "burst" else endless
    async with open_store(options.url, price=price_of, windows=options.windows) as store:
        await work(store, options.project, options.number, options.users)


if __name__ == "__main__":
    asyncio.run(main())
