from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from loopwatch.clock import ManualClock
from loopwatch.errors import InputError
from loopwatch.records.money import nano_usd
from loopwatch.store.opening import Store
from loopwatch.store.tables import metadata
from loopwatch.store.tombstones import REASON
from loopwatch.store.users import status
from tests.store.calls import a_call, log

DOLLAR = 1_000_000
"""Tokens that cost one dollar here."""


@pytest.fixture
async def project(store: Store) -> str:
    return (await store.projects.create("Acme")).id


@pytest.mark.parametrize(
    ("cost", "revenue", "expected"),
    [
        (20.30, 29, "watch"),  # M2
        (20.29, 29, "profitable"),
        (29.00, 29, "watch"),
        (29.01, 29, "unprofitable"),
        (0.01, 0, "unprofitable"),
        (0, 0, "profitable"),
        (5, None, "unknown"),
    ],
)
def test_how_a_cost_stands_to_its_price(cost: float, revenue: float | None, expected: str) -> None:
    assert status(nano_usd(cost), None if revenue is None else nano_usd(revenue)) == expected


async def test_users_come_worst_margin_first_each_plan_price_once(
    store: Store, project: str, clock: ManualClock
) -> None:
    await log(
        store,
        project,
        *(a_call(clock, DOLLAR, "good", plan="pro", plan_revenue_usd=29.0) for _ in range(3)),
        a_call(clock, 31 * DOLLAR, "bad", plan="pro", plan_revenue_usd=29.0),
        a_call(clock, 2 * DOLLAR, "worst", plan="free", plan_revenue_usd=0.0),
        a_call(clock, 2 * DOLLAR, "worst", plan="free", plan_revenue_usd=0.0, feature="chat"),
        a_call(clock, 9 * DOLLAR, "who knows"),
        a_call(clock, DOLLAR, None),
    )
    found = await store.users.list(project)
    assert [user.user_id for user in found] == ["worst", "bad", "good", "who knows", ""]
    assert [user.status for user in found] == ["unprofitable"] * 2 + ["profitable", "unknown", "unknown"]
    worst, good = found[0], found[2]
    assert (worst.margin_nano, worst.calls, worst.plan) == (nano_usd(-4.0), 2, "free")
    assert (good.cost_nano, good.revenue_nano, good.margin_nano) == (
        nano_usd(3.0),
        nano_usd(29.0),
        nano_usd(26.0),
    )
    assert [user.user_id for user in await store.users.list(project, limit=2, offset=1)] == ["bad", "good"]
    assert await store.users.list(project, month=202610) == []
    assert await store.users.month(project, "good") == good
    assert await store.users.month(project, "nobody") is None
    money = await store.reports.money(project)
    assert (money.users, money.unprofitable_users) == (5, 2)
    assert (money.cost_nano, money.revenue_nano) == (nano_usd(48.0), nano_usd(58.0))
    assert money.loss_nano == nano_usd(6.0)


async def test_users_in_other_orders_and_by_a_part_of_their_id(
    store: Store, project: str, clock: ManualClock
) -> None:
    await log(store, project, a_call(clock, 5, "Ab%c"), a_call(clock, 9, "abc", output_tokens=1))
    clock.advance(60)
    await log(store, project, *(a_call(clock, 2, "dab") for _ in range(3)), a_call(clock, 1, None))

    async def ids(**chosen: Any) -> list[str]:
        return [user.user_id for user in await store.users.list(project, **chosen)]

    assert await ids(order="tokens") == ["abc", "dab", "Ab%c", ""]
    assert await ids(order="cost") == ["abc", "dab", "Ab%c", ""]
    assert await ids(order="calls") == ["dab", "", "Ab%c", "abc"]
    assert await ids(order="last", limit=2) == ["", "dab"]
    assert await ids(search="AB", order="tokens") == ["abc", "dab", "Ab%c"]
    assert await ids(search="b%") == ["Ab%c"]
    assert await store.users.count(project) == 4
    assert await store.users.count(project, search="ab") == 3
    assert await store.users.count(project, month=202610) == 0


async def test_an_upgrade_counts_once_at_the_higher_price(
    store: Store, project: str, clock: ManualClock
) -> None:
    for price in (0.0, 29.0, 0.0):
        await log(store, project, a_call(clock, 1, plan=f"p{price}", plan_revenue_usd=price))
    (user,) = await store.users.list(project)
    assert (user.revenue_nano, user.plan) == (nano_usd(29.0), "p0.0")


async def test_a_month_is_a_calendar_month_in_utc(store: Store, project: str, clock: ManualClock) -> None:
    await log(store, project, a_call(clock, DOLLAR))
    clock.advance(16 * 86_400)
    await log(store, project, a_call(clock, 2 * DOLLAR))
    assert [user.cost_nano for user in await store.users.list(project)] == [nano_usd(2.0)]
    assert [user.cost_nano for user in await store.users.list(project, month=202611)] == [nano_usd(1.0)]


async def test_how_a_user_stands(store: Store, project: str, clock: ManualClock) -> None:
    assert await store.users.get(project, "u1") is None
    await log(store, project, a_call(clock, 60_000, plan="pro", plan_revenue_usd=29.0))
    state = await store.users.get(project, "u1")
    assert state is not None
    assert (state.plan, state.plan_revenue_nano) == ("pro", nano_usd(29.0))
    assert (state.window_tokens, state.month_cost_nano, state.window.calls) == (60_000, 60_000_000, 1)
    assert state.hot_until == clock.now() + timedelta(minutes=30)
    assert (state.first_at, state.last_at) == (clock.now(), clock.now())
    clock.advance(1_800)
    await log(store, project, a_call(clock, 1))  # says no plan: the last one it said stays
    state = await store.users.get(project, "u1")
    assert state is not None
    assert (state.hot_until, state.window_tokens, state.plan) == (None, 1, "pro")


class TestCaps:
    async def test_a_cap_is_reached_at_its_amount(
        self, store: Store, project: str, clock: ManualClock
    ) -> None:
        caps = {
            "caps": {"pro": {"monthlyUsd": 10, "action": "downgrade"}},
            "downgrades": {"gpt-4o": "gpt-4o-mini"},
        }
        await store.projects.change(project, caps, "ann")
        await log(store, project, a_call(clock, 10 * DOLLAR - 1))
        state = await store.users.cap_state(project, "u1", "pro", "gpt-4o")
        assert (state.reached, state.cap_nano, state.downgrade_to) == (False, nano_usd(10.0), "gpt-4o-mini")
        await log(store, project, a_call(clock, 1))
        state = await store.users.cap_state(project, "u1", "pro", "other")
        assert (state.reached, state.spent_nano, state.downgrade_to) == (True, nano_usd(10.0), None)
        assert not (await store.users.cap_state(project, "u2", "pro", None)).reached

    async def test_no_cap_is_none(self, store: Store, project: str, clock: ManualClock) -> None:
        await log(store, project, a_call(clock, 10 * DOLLAR))
        state = await store.users.cap_state(project, "u1", None, None)
        assert (state.cap, state.cap_nano, state.reached, state.blocked, state.hot) == (
            None,
            None,
            *(False,) * 3,
        )

    async def test_hot_users_are_blocked_where_the_project_says_so(
        self, store: Store, project: str, clock: ManualClock
    ) -> None:
        await log(store, project, a_call(clock, 60_000))
        assert not (await store.users.cap_state(project, "u1", None, None)).hot
        await store.projects.change(project, {"blockWhileHot": True}, "ann")
        assert (await store.users.cap_state(project, "u1", None, None)).hot
        clock.advance(1_800)
        assert not (await store.users.cap_state(project, "u1", None, None)).hot

    async def test_a_block_holds_until_it_is_taken_back(self, store: Store, project: str) -> None:
        await store.users.block(project, "new", "seen by Ann")  # of whom nothing was logged yet
        state = await store.users.cap_state(project, "new", None, None)
        assert (state.blocked, state.blocked_reason) == (True, "seen by Ann")
        await store.users.unblock(project, "new")
        assert not (await store.users.cap_state(project, "new", None, None)).blocked

    async def test_flags_outlive_calls_and_show(self, store: Store, project: str, clock: ManualClock) -> None:
        await store.users.block(project, "u1")
        await store.users.mute(project, "u1")
        await log(store, project, a_call(clock))
        (user,) = await store.users.list(project)
        assert (user.blocked, user.muted) == (True, True)
        await store.users.mute(project, "u1", muted=False)
        (user,) = await store.users.list(project)
        assert (user.blocked, user.muted) == (True, False)

    async def test_nobody_is_nobody(self, store: Store, project: str) -> None:
        with pytest.raises(InputError, match="anonymous"):
            await store.users.block(project, "")
        with pytest.raises(InputError, match="no project"):
            await store.users.block("prj_none", "u1")
        with pytest.raises(InputError, match="no project"):
            await store.users.cap_state("prj_none", "u1", None, None)


async def test_an_erased_user_is_nowhere(store: Store, project: str, clock: ManualClock) -> None:
    other = (await store.projects.create("Other")).id
    for one in (project, other):
        await log(store, one, *(a_call(clock, 60_000, user) for user in ("CANARY", "kept")))
    assert await store.users.erase(project, "CANARY") == 1
    assert await store.users.get(project, "CANARY") is None
    async with store.database.reading() as connection:
        for table in metadata.sorted_tables:
            if "project_id" in table.c:
                rows = await connection.execute(select(table).where(table.c.project_id == project))
                assert "CANARY" not in str(rows.all())
    assert [user.user_id for user in await store.users.list(project)] == ["kept"]
    assert len(await store.users.list(other)) == 2
    assert (await store.reports.totals(project, clock.now())).calls == 2  # names nobody


async def test_to_be_forgotten_is_no_way_around_a_block(
    store: Store, project: str, clock: ManualClock
) -> None:
    async def blocked(of: str = project) -> bool:
        return (await store.users.cap_state(of, "CANARY", None, None)).blocked

    other = (await store.projects.create("Other")).id
    await log(store, project, a_call(clock, 10, "CANARY"))
    await store.users.block(project, "CANARY", "seen by CANARY")
    await store.users.erase(project, "CANARY")
    await store.users.erase(project, "CANARY")
    assert await blocked()
    assert not await blocked(other)
    assert await store.users.get(project, "CANARY") is None
    async with store.database.reading() as connection:
        for table in metadata.sorted_tables:
            assert "CANARY" not in str((await connection.execute(select(table))).all())
    await log(store, project, a_call(clock, 10, "CANARY", event_id="later"))
    state, (listed,) = await store.users.get(project, "CANARY"), await store.users.list(project)
    assert state is not None
    assert (state.blocked, state.blocked_reason, listed.blocked) == (True, REASON, True)
    await store.users.unblock(project, "CANARY")
    assert not await blocked()
    await store.users.erase(project, "CANARY")
    assert not await blocked()
