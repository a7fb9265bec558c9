from datetime import UTC, datetime, timedelta

import pytest

from loopwatch.clock import ManualClock
from loopwatch.records.money import nano_usd
from loopwatch.store.opening import Store
from loopwatch.store.reports import Sums
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
    assert [pair[:3] for pair in pairs] == [
        ("", "kimi", "mystery"),
        ("chat", "openai", "gpt-4o"),
        ("research-agent", "openai", "gpt-4o-mini"),
    ]


async def test_by_day(store: Store, project: str) -> None:
    days = await store.reports.days(project, store.reports.month_start())
    assert [day.date for day in days] == [datetime(2026, 11, day, tzinfo=UTC) for day in (15, 16, 17)]
    assert [day.sums.cost_nano for day in days] == [4_000_000, 4_001_000, 4_002_000]


async def test_one_user_by_feature(store: Store, project: str) -> None:
    groups = await store.reports.user_features(project, "u1")
    assert [(group.key, group.sums.calls) for group in groups] == [("chat", 3), ("research-agent", 3)]
    assert await store.reports.user_features(project, "u1", 202610) == []


async def test_single_calls_newest_first(store: Store, project: str) -> None:
    calls = await store.reports.recent(project)
    assert len(calls) == 9
    assert calls == sorted(calls, key=lambda call: call.at, reverse=True)
    assert [call.user_id for call in calls[:3]] == [None, "u1", "u1"]
    older = await store.reports.recent(project, user_id="u1", before=calls[0].at, limit=3)
    assert [call.at for call in older] == [calls[3].at, calls[3].at, calls[6].at]
    assert older[0].cost_nano == nano_usd(0.003)


async def test_money_of_nothing_is_nothing(store: Store) -> None:
    empty = (await store.projects.create("Empty")).id
    money = await store.reports.money(empty)
    assert (money.cost_nano, money.revenue_nano, money.users, money.loss_nano) == (0, 0, 0, 0)
