"""The outbox over a table; what every outbox does is asked of both in ``tests/alerts/test_outbox.py``."""

import asyncio
from datetime import timedelta

import pytest

from loopwatch.clock import ManualClock
from loopwatch.records.delivery import Delivery, Draft, Place
from loopwatch.store.opening import Store, open_store

MINUTE = timedelta(minutes=1)


@pytest.fixture
async def project(store: Store) -> str:
    return (await store.projects.create("Acme")).id


def both(project: str) -> list[Draft]:
    return [Draft(f"m.{key}", Place(project, key), f"to {key}") for key in ("slack", "email")]


async def claim(store: Store, clock: ManualClock, limit: int = 10) -> list[Delivery]:
    return await store.outbox.claim(clock.now(), MINUTE, limit=limit, busy=())


async def states(store: Store, project: str) -> dict[str, tuple[str, int, str]]:
    found = await store.outbox.progress(project)
    return {one.channel: (one.state, one.attempts, one.detail) for one in found}


async def test_every_attempt_is_noted_and_the_last_one_shown(
    store: Store, project: str, clock: ManualClock
) -> None:
    await store.outbox.write(both(project))
    for one in await claim(store, clock):
        if one.place.channel == "slack":
            await store.outbox.delivered(one, clock.now())
        else:
            await store.outbox.retry(one, clock.now() + timedelta(seconds=30), "503 " + "x" * 9_000)
    shown = await states(store, project)
    assert shown["slack"] == ("delivered", 1, "")
    assert shown["email"][:2] == ("pending", 1)
    assert len(shown["email"][2]) == 500
    clock.advance(30)
    (again,) = await claim(store, clock)
    assert (again.place.channel, again.attempt, again.body) == ("email", 2, "to email")
    await store.outbox.dead(again, clock.now(), "403")
    assert (await states(store, project))["email"] == ("dead", 2, "403")


async def test_couriers_at_the_same_time_share_without_a_double(
    url: str, store: Store, project: str, clock: ManualClock
) -> None:
    drafts = [Draft(f"m{n}", Place(project, f"c{n % 20}"), str(n)) for n in range(60)]
    await store.outbox.write(drafts)
    async with open_store(url, clock) as elsewhere:

        async def work(of: Store) -> list[str]:
            taken: list[str] = []
            while claimed := await claim(of, clock, 7):
                assert len({one.place for one in claimed}) == len(claimed)
                for one in claimed:
                    await of.outbox.delivered(one, clock.now())
                taken += [one.body for one in claimed]
            return taken

        taken = await asyncio.gather(*map(work, (store, elsewhere, store, elsewhere)))
        rest = [await work(store) for _ in range(3)]  # what others had under way when everybody looked
    bodies = [body for some in (*taken, *rest) for body in some]
    assert len(bodies) == len(set(bodies)) == 60


async def test_a_place_has_one_delivery_under_way_whoever_makes_it(
    url: str, store: Store, project: str, clock: ManualClock
) -> None:
    await store.outbox.write([Draft(f"m{n}", Place(project, "slack"), str(n)) for n in range(2)])
    async with open_store(url, clock) as elsewhere:
        (first,) = await claim(store, clock)
        assert await claim(elsewhere, clock) == []
        await store.outbox.delivered(first, clock.now())
        (second,) = await claim(elsewhere, clock)
    assert (first.body, second.body) == ("0", "1")


async def test_a_digest_is_written_once(url: str, store: Store, project: str, clock: ManualClock) -> None:
    async with open_store(url, clock) as elsewhere:
        drafts = both(project)
        every = [one.outbox.write_once("digest:2026-W47", drafts) for one in (store, elsewhere, store)]
        assert sorted(await asyncio.gather(*every)) == [False, False, True]
    assert await store.outbox.claimed("digest:2026-W47")
    assert not await store.outbox.claimed("digest:2026-W48")
    assert await store.outbox.write_once("digest:2026-W48", [])
    assert len(await claim(store, clock)) == 2


async def test_nothing_is_written_in_no_time(store: Store, project: str) -> None:
    await store.outbox.write([])
    assert await store.outbox.progress(project, []) == []
