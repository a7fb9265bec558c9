from datetime import timedelta

import pytest
from sqlalchemy import select

from loopwatch.clock import ManualClock
from loopwatch.records.money import nano_usd
from loopwatch.store.opening import Store
from loopwatch.store.reports import Sums
from loopwatch.store.tables import LOOPED, calls
from tests.store.calls import a_call, log


@pytest.fixture
async def project(store: Store, clock: ManualClock) -> str:
    """Three days of calls."""
    project = (await store.projects.create("Acme")).id
    other = (await store.projects.create("Other")).id
    for day in range(3):
        await log(
            store,
            project,
            a_call(clock, 1_000, output_tokens=day, latency_ms=5),
            a_call(
                clock, 3_000, feature="chat", request_model="gpt-4o", loop_aborts=1, loop_abort_chars=24_522
            ),
            a_call(clock, 500, None, feature=None, request_model="mystery", provider="kimi"),
        )
        await log(store, other, a_call(clock, 9_999))
        clock.advance(86_400)
    return project


async def test_totals_of_a_span(store: Store, project: str, clock: ManualClock) -> None:
    every = await store.reports.totals(project, store.reports.month_start())
    assert (every.calls, every.input_tokens, every.output_tokens) == (9, 13_500, 3)
    assert (every.cost_nano, every.unpriced, every.latency_ms) == (12_003_000, 3, 15)
    assert (every.loop_aborts, every.loop_abort_chars) == (3, 3 * 24_522)
    day = await store.reports.totals(project, clock.now() - timedelta(days=1), clock.now())
    assert (day.calls, day.input_tokens) == (3, 4_500)
    assert await store.reports.totals("prj_none", clock.now()) == Sums()


async def test_by_feature_model_and_provider_the_dearest_first(store: Store, project: str) -> None:
    since = store.reports.month_start()
    features = await store.reports.by("feature", project, since)
    assert [(group.key, group.sums.cost_nano) for group in features] == [
        ("chat", 9_000_000),
        ("research-agent", 3_003_000),
        ("", 0),
    ]
    models = await store.reports.by("model", project, since)
    assert [group.key for group in models] == ["gpt-4o", "gpt-4o-mini", "mystery"]
    assert [group.key for group in await store.reports.by("provider", project, since)] == ["openai", "kimi"]
    pairs = await store.reports.features_by_model(project, since)
    assert [(use.feature, use.provider, use.model) for use in pairs] == [
        ("", "kimi", "mystery"),
        ("chat", "openai", "gpt-4o"),
        ("research-agent", "openai", "gpt-4o-mini"),
    ]
    uses = await store.reports.models(project, since)
    assert [(use.provider, use.model, use.sums.unpriced_share) for use in uses] == [
        ("openai", "gpt-4o", 0),
        ("openai", "gpt-4o-mini", 0),
        ("kimi", "mystery", 1),
    ]


async def test_one_user_by_feature(store: Store, project: str) -> None:
    groups = await store.reports.user_features(project, "u1")
    assert [(group.key, group.sums.calls) for group in groups] == [("chat", 3), ("research-agent", 3)]
    assert await store.reports.user_features(project, "u1", 202610) == []
    uses = await store.reports.user_models(project, "u1")
    assert [(use.feature, use.model, use.sums.input_tokens) for use in uses] == [
        ("chat", "gpt-4o", 9_000),
        ("research-agent", "gpt-4o-mini", 3_000),
    ]


async def test_single_calls_newest_first(store: Store, project: str) -> None:
    single = await store.reports.recent(project)
    assert len(single) == 9
    assert single == sorted(single, key=lambda call: call.at, reverse=True)
    assert [call.user_id for call in single[:3]] == [None, "u1", "u1"]
    older = await store.reports.recent(project, user_id="u1", before=single[0].at, limit=3)
    assert [call.at for call in older] == [single[3].at, single[3].at, single[6].at]
    assert older[0].cost_nano == nano_usd(0.003)


async def test_calls_of_one_moment_are_paged_without_a_gap(store: Store, clock: ManualClock) -> None:
    project = (await store.projects.create("Acme")).id
    await log(store, project, *(a_call(clock, 1, loop_aborts=1) for _ in range(7)))
    clock.advance(1)
    await log(store, project, a_call(clock, 1, loop_aborts=1))
    for read in (store.reports.recent, store.reports.loops):
        seen: list[str] = []
        page = await read(project, limit=3)
        while page:
            seen += [call.event_id for call in page]
            page = await read(project, before=page[-1].at, place=page[-1].place, limit=3)
        assert len(seen) == len(set(seen)) == 8


async def test_loops_that_were_cut(store: Store, project: str, clock: ManualClock) -> None:
    loops = await store.reports.loops(project)
    assert [(one.feature, one.loop_abort_chars, one.cost_nano) for one in loops] == [
        ("chat", 24_522, 3_000_000)
    ] * 3
    assert [one.at for one in loops] == sorted((one.at for one in loops), reverse=True)
    assert await store.reports.loops(project, user_id="nobody") == []
    older = await store.reports.loops(project, before=loops[0].at, limit=1)
    assert older == loops[1:2]
    clock.advance(3_600)
    await log(store, project, *(a_call(clock, 1) for _ in range(3)))
    assert await store.reports.loops(project) == loops


async def test_loops_are_found_by_their_own_index(store: Store, project: str) -> None:
    if not store.database.is_sqlite:
        pytest.skip("PostgreSQL plans by the size of a table, and this one is small")
    wanted = select(calls).where(calls.c.project_id == project, LOOPED).order_by(calls.c.at_us.desc())
    async with store.database.reading() as connection:
        compiled = wanted.compile(connection.sync_connection)
        plan = await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {compiled}", (project,))
        assert "ix_calls_loops" in " ".join(str(row[-1]) for row in plan)


async def test_money_of_nothing_is_nothing(store: Store) -> None:
    empty = (await store.projects.create("Empty")).id
    money = await store.reports.money(empty)
    assert (money.cost_nano, money.revenue_nano, money.users, money.loss_nano) == (0, 0, 0, 0)
