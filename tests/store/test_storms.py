"""Thousands of users over the line at once: quickly, fairly, each recorded, few messages."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Any

import pytest

from loopwatch.clock import ManualClock
from loopwatch.config.project import ProjectSettings
from loopwatch.records.alert import Alert
from loopwatch.records.delivery import Draft, Place
from loopwatch.store.opening import Store, open_store
from loopwatch.store.statements import Statements
from loopwatch.store.sums import Entry
from loopwatch.store.writer import MOST_ROWS
from tests.store.calls import a_call, alerts_of, log, price_of

SLACK = {"channels": [{"type": "slack", "url": "https://hooks.example.com/x"}]}


def alone(alert: Alert, settings: ProjectSettings) -> Sequence[Draft]:
    del settings
    return [Draft(f"{alert.id}.slack", Place(alert.project_id, "slack"), alert.user_id)]


def together(alerts: Sequence[Alert], settings: ProjectSettings) -> Sequence[Draft]:
    del settings
    users = " ".join(alert.user_id for alert in alerts)
    return [Draft(f"storm-{alerts[0].id}.slack", Place(alerts[0].project_id, "slack"), users)]


@pytest.fixture
async def store(url: str, clock: ManualClock) -> AsyncIterator[Store]:
    async with open_store(url, clock, price=price_of, compose=alone) as opened:
        yield opened


@pytest.fixture
async def project(store: Store) -> str:
    return (await store.projects.create("Acme", {**SLACK, "alertBurst": 3})).id


async def bodies(store: Store) -> list[str]:
    """What may be delivered, one after the other."""
    found: list[str] = []
    while taken := await store.outbox.claim(
        store.database.clock.now(), timedelta(minutes=1), limit=9, busy=()
    ):
        for one in taken:
            found.append(one.body)
            await store.outbox.delivered(one, store.database.clock.now())
    return found


async def states(store: Store, project: str) -> dict[str, list[str]]:
    raised = await store.alerts.list(project, limit=1_000)
    return {one.alert.user_id: [sent.state for sent in one.deliveries] for one in raised}


async def test_the_first_go_out_alone_and_the_others_together(
    store: Store, project: str, clock: ManualClock
) -> None:
    await log(store, project, *(a_call(clock, 50_000 + n, f"u{n}") for n in range(1, 7)))
    assert await bodies(store) == ["u6", "u5", "u4"]  # the worst of the batch
    delivered = {user: ["delivered"] for user in ("u6", "u5", "u4")}
    waiting = {user: ["folding"] for user in ("u3", "u2", "u1")}
    assert await states(store, project) == delivered | waiting
    clock.advance(30)
    await log(store, project, a_call(clock, 90_000, "late"))
    clock.advance(29)
    assert await store.storms.summarise(together) == 0
    clock.advance(1)
    assert await store.storms.summarise(together) == 4
    assert await store.storms.summarise(together) == 0
    assert await bodies(store) == ["late u3 u2 u1"]
    assert (await states(store, project))["u1"] == ["folded"]
    assert len(await alerts_of(store, project)) == 7


async def test_after_a_calm_minute_alerts_go_out_alone_again(
    store: Store, project: str, clock: ManualClock
) -> None:
    for second in range(4):
        await log(store, project, a_call(clock, 60_000, f"a{second}"))
        clock.advance(10)
    assert await bodies(store) == ["a0", "a1", "a2"]
    clock.advance(60)
    assert await store.storms.summarise(together) == 1
    await log(store, project, a_call(clock, 60_000, "b"))
    assert sorted(await bodies(store)) == ["a3", "b"]


async def test_a_storm_that_lasts_is_one_message_a_minute(
    store: Store, project: str, clock: ManualClock
) -> None:
    sent = []
    for minute in range(5):
        for ten in range(6):
            await log(store, project, *(a_call(clock, 60_000, f"u{minute}{ten}{n}") for n in range(3)))
            clock.advance(10)
            await store.storms.summarise(together)
        sent.append([body.count("u") for body in await bodies(store)])
    assert [len(one) for one in sent] == [3, 1, 1, 1, 1]
    clock.advance(60)
    await store.storms.summarise(together)
    rest = [body.count("u") for body in await bodies(store)]
    assert sum(sum(one) for one in sent) + sum(rest) == 90


async def test_muted_users_and_other_projects_take_no_room(
    store: Store, project: str, clock: ManualClock
) -> None:
    other = (await store.projects.create("Other", {**SLACK, "alertBurst": 1})).id
    silent = (await store.projects.create("Silent")).id
    for n in range(4):
        await store.users.mute(project, f"m{n}")
    await log(store, project, *(a_call(clock, 90_000, f"m{n}") for n in range(4)))
    await log(store, project, *(a_call(clock, 60_000, f"u{n}") for n in range(3)))
    await log(store, other, a_call(clock, 60_000, "o1"))
    await log(store, silent, *(a_call(clock, 60_000, f"s{n}") for n in range(40)))
    assert sorted(await bodies(store))[:4] == ["o1", "s0", "s1", "s10"]  # without channels: as composed
    clock.advance(60)
    assert await store.storms.summarise(together) == 0


async def test_two_servers_count_together_and_write_one_summary(
    store: Store, project: str, url: str, clock: ManualClock
) -> None:
    async with open_store(url, clock, price=price_of, compose=alone) as other:
        await asyncio.gather(
            *(
                log(one, project, *(a_call(clock, 60_000, f"{name}{n}") for n in range(5)))
                for one, name in ((store, "a"), (other, "b"))
            )
        )
        assert len(await bodies(other)) == 3
        clock.advance(60)
        told = await asyncio.gather(store.storms.summarise(together), other.storms.summarise(together))
        assert sorted(told) == [0, 7]
        assert len(await bodies(store)) == 1


async def test_a_restart_keeps_what_waits(url: str, clock: ManualClock) -> None:
    async with open_store(url, clock, price=price_of, compose=alone) as store:
        project = (await store.projects.create("Acme", {**SLACK, "alertBurst": 1})).id
        await log(store, project, *(a_call(clock, 60_000, f"u{n}") for n in range(3)))
    clock.advance(3_600)
    async with open_store(url, clock, price=price_of, compose=alone) as store:
        assert await store.storms.summarise(together) == 2
        assert await bodies(store) == ["u0", "u1 u2"]


async def test_a_summary_that_cannot_be_composed_waits(
    store: Store, project: str, clock: ManualClock
) -> None:
    await log(store, project, *(a_call(clock, 60_000, f"u{n}") for n in range(5)))
    clock.advance(60)

    def broken(alerts: Sequence[Alert], settings: ProjectSettings) -> Sequence[Draft]:
        raise RuntimeError(len(alerts), settings)

    with pytest.raises(RuntimeError):
        await store.storms.summarise(broken)
    assert await store.storms.summarise(together) == 2


class Counting:
    """Statements that are counted."""

    def __init__(self, on: Statements) -> None:
        self._on = on
        self.dialect = on.dialect
        self.count = 0

    async def rows(self, sql: str, parameters: Sequence[Any]) -> Sequence[Any]:
        self.count += 1
        return await self._on.rows(sql, parameters)

    async def many(self, sql: str, parameters: Sequence[Sequence[Any]]) -> None:
        self.count += 1
        await self._on.many(sql, parameters)


async def test_a_thousand_crossings_are_as_many_statements_as_one(
    store: Store, project: str, clock: ManualClock
) -> None:
    async def statements(users: int) -> int:
        name, spare = f"{users}-", 70_000
        entries = [Entry(project, a_call(clock, spare, f"{name}{n}")) for n in range(users)]
        entries += [Entry(project, a_call(clock, spare, f"hot{n}")) for n in range(users)]

        async def work(on: Statements) -> int:
            counting = Counting(on)
            await store.writer._ingest.write(counting, entries, store.database.now())
            return counting.count

        return await store.database.within(work, waits=False)

    await log(store, project, *(a_call(clock, 60_000, f"hot{n}") for n in range(300)))  # in their cooldown
    await statements(1)  # which may load the settings
    assert await statements(2) == await statements(300)


async def test_whoever_comes_after_a_huge_request_does_not_wait_for_it(
    store: Store, project: str, clock: ManualClock
) -> None:
    other = (await store.projects.create("Other")).id
    ended: list[str] = []

    async def logged(name: str, project_id: str, count: int) -> None:
        outcomes = await log(store, project_id, *(a_call(clock, 1, f"{name}{n}") for n in range(count)))
        assert outcomes == ["stored"] * count
        ended.append(name)

    huge = asyncio.ensure_future(logged("huge", project, 5 * MOST_ROWS))
    await asyncio.sleep(0)  # it is under way
    transactions = store.writer.counts.transactions
    await logged("small", other, 1)
    assert store.writer.counts.transactions - transactions <= 2
    await huge
    assert ended == ["small", "huge"]


async def test_a_huge_request_is_answered_in_its_order(
    store: Store, project: str, clock: ManualClock
) -> None:
    calls = [a_call(clock, 1, f"u{n % 7}") for n in range(3 * MOST_ROWS)]
    await log(store, project, *calls[700:800])
    twice = [*calls, calls[0]]
    expected = ["stored"] * 700 + ["duplicate"] * 100 + ["stored"] * (len(calls) - 800) + ["duplicate"]
    several = await asyncio.gather(
        store.writer.log(project, twice), *(log(store, project, a_call(clock, 1)) for _ in range(20))
    )
    assert several[0] == expected
    assert several[1:] == [["stored"]] * 20
    assert (await store.reports.totals(project, clock.now())).calls == len(calls) + 20
