"""Several processes over one database, and processes that end in the middle of their work."""

import asyncio
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy import func, select

from loopwatch.clock import ManualClock
from loopwatch.store.opening import Store, open_store
from loopwatch.store.tables import calls, hourly, users, window_buckets
from tests.store.calls import a_call, price_of

ROOT = Path(__file__).parents[2]
PROCESSES, USERS = 4, 200


def start(work: str, url: str, project: str, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.store.logging_process", work, url, project, *options]
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONASYNCIODEBUG": ""},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


async def make_project(url: str) -> str:
    async with open_store(url, price=price_of) as store:
        return (await store.projects.create("Acme")).id


async def totals(store: Store, project: str) -> tuple[int, int, int]:
    """Calls as rows, in the hourly sums, in the window's buckets."""
    async with store.database.reading() as connection:
        rows = await connection.execute(select(func.count()).where(calls.c.project_id == project))
        sums = await connection.execute(
            select(func.sum(hourly.c.calls)).where(hourly.c.project_id == project)
        )
        kept = select(func.sum(window_buckets.c.calls)).where(window_buckets.c.project_id == project)
        buckets = await connection.execute(kept)
        return rows.scalar_one(), int(sums.scalar_one()), int(buckets.scalar_one())


@pytest.mark.parametrize("second_stage", [False, True], ids=["tables", "valkey"])
async def test_four_processes_and_two_hundred_bursts_are_two_hundred_alerts(
    postgres_url: str, valkey_server: str, *, second_stage: bool
) -> None:  # V9
    project = await make_project(postgres_url)
    windows = ["--windows", valkey_server] if second_stage else []
    started = [
        start("burst", postgres_url, project, f"--number={number}", f"--users={USERS}", *windows)
        for number in range(PROCESSES)
    ]
    try:
        for process in started:
            assert process.stdout is not None
            assert await asyncio.to_thread(process.stdout.readline) == "ready\n"
        # 4 processes x 4 calls x 5,000 tokens: no process sees more than 20,000 of its own.
        said = await asyncio.gather(*(asyncio.to_thread(process.communicate, "go\n") for process in started))
        assert [out for out, _ in said] == ["done\n"] * PROCESSES
    finally:
        for process in started:
            process.kill()
            process.wait()
    async with open_store(postgres_url) as store:
        raised = Counter(one.alert.user_id for one in await store.alerts.list(project, limit=1_000))
        assert raised == {f"user-{number}": 1 for number in range(USERS)}
        assert await totals(store, project) == (PROCESSES * USERS * 4,) * 3
        async with store.database.reading() as connection:
            # 16 calls each: ten reach 50,000, the eleventh is over, and so are those after it.
            held = await connection.execute(select(users.c.suppressed))
            assert {row[0] for row in held} <= set(range(6))


def _answered(process: subprocess.Popen[str], lines: int) -> set[str]:
    """The first calls that a process was answered for."""
    assert process.stdout is not None
    return {process.stdout.readline().strip() for _ in range(lines)}


def _rest(process: subprocess.Popen[str]) -> str:
    """What else it said, to its end. (``communicate`` would lose what has been read ahead.)"""
    assert process.stdout is not None
    assert process.stdin is not None
    rest = process.stdout.read()
    process.stdin.close()
    process.stdout.close()
    process.wait()
    return rest


async def test_a_killed_process_loses_nothing_that_was_answered(url: str) -> None:
    project = await make_project(url)
    answered: set[str] = set()
    for number in range(3):
        process = start("endless", url, project, f"--number={number}", "--users=8")
        answered |= await asyncio.to_thread(_answered, process, 300)
        process.send_signal(signal.SIGKILL)
        rest = await asyncio.to_thread(_rest, process)
        answered |= {line for line in rest.splitlines(keepends=False) if line.count("-") == 2}
        if rest and not rest.endswith("\n"):
            answered.discard(rest.splitlines()[-1])  # cut in the middle of a line
    async with open_store(url) as store:
        async with store.database.reading() as connection:
            stored = set((await connection.execute(select(calls.c.event_id))).scalars())
        assert answered <= stored
        rows, hours, buckets = await totals(store, project)
        assert rows == hours == buckets == len(stored)


async def test_sigterm_drains_what_was_taken_in(url: str) -> None:
    project = await make_project(url)
    process = start("endless", url, project)
    answered = await asyncio.to_thread(_answered, process, 100)
    process.send_signal(signal.SIGTERM)
    lines = (await asyncio.to_thread(_rest, process)).splitlines()
    assert process.returncode == 0
    assert lines[-1] == "drained"
    async with open_store(url) as store:
        assert len(answered) + len(lines) - 1 == (await totals(store, project))[0]


async def test_the_same_event_in_two_places_at_once_is_stored_once(
    postgres_url: str, clock: ManualClock
) -> None:
    async with open_store(postgres_url, clock) as one, open_store(postgres_url, clock) as other:
        project = (await one.projects.create("Acme")).id

        async def everywhere(number: int) -> list[str]:
            # Of different users, so that no user's row stands between the two.
            calls = [a_call(clock, 10, user, event_id=f"e{number}") for user in (f"a{number}", f"b{number}")]
            first, second = await asyncio.gather(
                one.writer.log(project, [calls[0]]), other.writer.log(project, [calls[1]])
            )
            return sorted(first + second)

        outcomes = await asyncio.gather(*map(everywhere, range(100)))
        assert outcomes == [["conflict", "stored"]] * 100
        assert await totals(one, project) == (100,) * 3


async def test_a_restart_keeps_the_cooldown_and_the_window(url: str, clock: ManualClock) -> None:
    async with open_store(url, clock, price=price_of) as store:
        project = (await store.projects.create("Acme")).id
        await store.writer.log(project, [a_call(clock, 40_000)])
    async with open_store(url, clock, price=price_of) as store:
        await store.writer.log(project, [a_call(clock, 20_000)])
        assert len(await store.alerts.list(project)) == 1
    clock.advance(60)
    async with open_store(url, clock, price=price_of) as store:
        await store.writer.log(project, [a_call(clock, 20_000)])
        assert len(await store.alerts.list(project)) == 1
