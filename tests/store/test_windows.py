"""The window and its alerts, the same wherever it is summed."""

import random
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from itertools import pairwise

import pytest

from loopwatch.clock import ManualClock
from loopwatch.config.project import ProjectSettings
from loopwatch.config.rule import velocity
from loopwatch.records.alert import Alert, Crossing, Standing
from loopwatch.records.delivery import Draft, Place
from loopwatch.records.moments import micros
from loopwatch.store.opening import Store, open_store
from tests.store.calls import a_call, alerts_of, log, price_of


def by_margin(standing: Standing, settings: ProjectSettings) -> Crossing | None:
    """Velocity, else what a user's month costs above the plan's price."""
    limit = settings.margin_threshold_usd
    if limit is None or standing.plan_revenue_nano is None:
        return velocity(standing, settings)
    margin = standing.plan_revenue_nano - standing.month_cost_nano
    return Crossing(rule="margin", observed=margin, threshold=0) if margin < limit * 10**9 else None


SLACK = {"channels": [{"type": "slack", "url": "https://hooks.example.com/x"}]}


def to_slack(alert: Alert, settings: ProjectSettings) -> Sequence[Draft]:
    return [
        Draft(f"{alert.id}.{one.key}", Place(alert.project_id, one.key), f"{alert.user_id}: {alert.tokens}")
        for one in settings.channels
    ]


@pytest.fixture(params=["sqlite", "postgresql", "sqlite+valkey", "postgresql+valkey"])
def where(request: pytest.FixtureRequest) -> tuple[str, str | None]:
    """A database, and a Valkey or none."""
    database, _, windows = str(request.param).partition("+")
    url: str = request.getfixturevalue("sqlite_url" if database == "sqlite" else "postgres_url")
    return url, request.getfixturevalue("valkey_server") if windows else None


@pytest.fixture
async def store(where: tuple[str, str | None], clock: ManualClock) -> AsyncIterator[Store]:
    url, windows = where
    async with open_store(
        url, clock, price=price_of, rules=by_margin, compose=to_slack, windows=windows
    ) as opened:
        yield opened


@pytest.fixture
async def project(store: Store) -> str:
    return (await store.projects.create("Acme")).id


class TestTheThreshold:
    async def test_exactly_at_it_is_no_alert(
        self, store: Store, project: str, clock: ManualClock
    ) -> None:  # V1
        for _ in range(5):
            await log(store, project, a_call(clock))
            clock.advance(12)
        assert await alerts_of(store, project) == []
        await log(store, project, a_call(clock, 1))
        assert await alerts_of(store, project) == [("u1", 50_001, 0)]

    async def test_calls_just_within_a_window(
        self, store: Store, project: str, clock: ManualClock
    ) -> None:  # V3
        await log(store, project, a_call(clock, 30_000))
        clock.advance(299.999)
        await log(store, project, a_call(clock, 30_000))
        assert await alerts_of(store, project) == [("u1", 60_000, 0)]

    async def test_a_call_exactly_one_window_old(
        self, store: Store, project: str, clock: ManualClock
    ) -> None:  # V4
        await log(store, project, a_call(clock, 30_000))
        clock.advance(300)
        await log(store, project, a_call(clock, 30_000))
        assert await alerts_of(store, project) == []

    async def test_a_batch_that_crosses_within_is_one_alert_with_the_final_total(
        self, store: Store, project: str, clock: ManualClock
    ) -> None:
        await log(store, project, *(a_call(clock, 1_000) for _ in range(500)))
        assert await alerts_of(store, project) == [("u1", 500_000, 0)]

    async def test_calls_that_come_late_count_when_they_happened(
        self, store: Store, project: str, clock: ManualClock
    ) -> None:
        await log(store, project, a_call(clock, 30_000))
        clock.advance(240)
        await log(store, project, a_call(clock, 30_000, ago=239))
        assert await alerts_of(store, project) == [("u1", 60_000, 0)]
        clock.advance(60)
        state = await store.users.get(project, "u1")
        assert state is not None
        assert state.window_tokens == 30_000
        clock.advance(1)
        state = await store.users.get(project, "u1")
        assert state is not None
        assert state.window_tokens == 0

    async def test_cached_reads_count_by_the_project_s_weight(
        self, store: Store, project: str, clock: ManualClock
    ) -> None:
        await store.projects.change(project, {"cachedWeight": 0.1}, "test")
        call = a_call(clock, 60_000, cache_read_input_tokens=50_000)
        await log(store, project, call)
        assert await alerts_of(store, project) == []
        await store.projects.change(project, {"cachedWeight": 1.0}, "test")
        await log(store, project, a_call(clock, 1))
        assert await alerts_of(store, project) == [("u1", 60_001, 0)]


class TestWhoIsWho:
    async def test_users_are_counted_apart_and_so_are_projects(
        self, store: Store, project: str, clock: ManualClock
    ) -> None:  # V6
        other = (await store.projects.create("Other")).id
        await log(store, project, a_call(clock, 30_000, "a"), a_call(clock, 30_000, "b"))
        await log(store, other, a_call(clock, 30_000, "a"))
        assert await alerts_of(store, project) == await alerts_of(store, other) == []

    async def test_anonymous_calls_open_no_window(
        self, store: Store, project: str, clock: ManualClock
    ) -> None:
        await log(store, project, a_call(clock, 90_000, None), a_call(clock, 90_000, None))
        assert await alerts_of(store, project) == []
        assert [user.user_id for user in await store.users.list(project)] == [""]

    async def test_a_call_that_comes_twice_counts_once(
        self, store: Store, project: str, clock: ManualClock
    ) -> None:  # V7
        call = a_call(clock, 26_000)
        for _ in range(10):
            await log(store, project, call)
        assert await alerts_of(store, project) == []

    async def test_names_that_try_to_be_something_else_are_inert(
        self, store: Store, project: str, clock: ManualClock
    ) -> None:
        names = [
            "<!channel>",
            "a'; DROP TABLE calls; --",
            "\u202eevil",
            "😀",
            "line\nbreak",
            'q"uo\\te',
            "[0]",
            "%",
        ]
        await log(store, project, *(a_call(clock, 60_000, name) for name in names))
        assert {user for user, _, _ in await alerts_of(store, project)} == set(names)


class TestTheCooldown:
    async def test_a_second_burst_within_it_is_counted_and_told_with_the_next(
        self, store: Store, project: str, clock: ManualClock
    ) -> None:
        await log(store, project, a_call(clock, 60_000))
        clock.advance(600)
        await log(store, project, a_call(clock, 60_000))
        await log(store, project, a_call(clock, 10_000))
        assert await alerts_of(store, project) == [("u1", 60_000, 0)]
        clock.advance(1_199.999)
        await log(store, project, a_call(clock, 60_000))
        assert len(await alerts_of(store, project)) == 1
        clock.advance(0.001)
        await log(store, project, a_call(clock, 1))
        assert await alerts_of(store, project) == [("u1", 60_000, 0), ("u1", 60_001, 3)]

    async def test_continuous_excess_is_one_alert_a_cooldown(
        self, store: Store, project: str, clock: ManualClock
    ) -> None:
        for _ in range(61):
            await log(store, project, a_call(clock, 60_000))
            clock.advance(60)
        raised = [one.alert.at for one in await store.alerts.list(project)]
        assert [later - sooner for later, sooner in pairwise(raised)] == [timedelta(minutes=30)] * 2

    async def test_a_change_of_settings_holds_at_once_and_for_its_project(
        self, store: Store, project: str, clock: ManualClock
    ) -> None:  # V10
        other = (await store.projects.create("Other")).id
        changes = {"tokenThreshold": 10_000, "windowMinutes": 1, "cooldownMinutes": 5}
        await store.projects.change(project, changes, "test")
        for _ in range(2):
            await log(store, project, a_call(clock, 10_001))
            await log(store, other, a_call(clock, 10_001))
            clock.advance(300)
        assert len(await alerts_of(store, project)) == 2
        assert await alerts_of(store, other) == []

    async def test_a_longer_window_sees_what_a_shorter_had_let_go(
        self, store: Store, project: str, clock: ManualClock
    ) -> None:
        await store.projects.change(project, {"windowMinutes": 1}, "test")
        await log(store, project, a_call(clock, 40_000))
        clock.advance(120)
        await log(store, project, a_call(clock, 1))
        await store.projects.change(project, {"windowMinutes": 5}, "test")
        await log(store, project, a_call(clock, 10_000))
        assert await alerts_of(store, project) == [("u1", 50_001, 0)]

    async def test_a_clock_that_is_set_back_neither_doubles_nor_silences(
        self, store: Store, project: str, clock: ManualClock
    ) -> None:
        await log(store, project, a_call(clock, 60_000))
        clock._elapsed -= 1_000
        await log(store, project, a_call(clock, 60_000))
        assert len(await alerts_of(store, project)) == 1
        clock._elapsed -= 1_000
        await log(store, project, a_call(clock, 60_000))
        assert len(await alerts_of(store, project)) == 2


class TestTheAlert:
    async def test_it_says_who_how_much_and_where(
        self, store: Store, project: str, clock: ManualClock
    ) -> None:
        await log(store, project, a_call(clock, 700_000, ago=299, user="usr_8f21c9", feature="chat"))
        clock.advance(1_800)
        await log(
            store,
            project,
            a_call(clock, 61_400, "usr_8f21c9"),
            a_call(clock, 9, "usr_8f21c9", request_model="mystery"),
        )
        alert = (await store.alerts.list(project))[0].alert
        assert (alert.user_id, alert.rule, alert.tokens, alert.threshold) == (
            "usr_8f21c9",
            "velocity",
            61_409,
            50_000,
        )
        assert (alert.feature, alert.provider, alert.model) == ("research-agent", "openai", "mystery")
        assert (alert.window_cost_nano, alert.window_calls, alert.window_unpriced) == (61_400_000, 2, 1)
        assert (alert.month_cost_nano, alert.month_unpriced) == (761_400_000, 1)
        assert (alert.window_seconds, alert.at) == (300.0, clock.now())

    async def test_it_is_recorded_where_no_channel_is_configured_and_sent_where_one_is(
        self, store: Store, project: str, clock: ManualClock
    ) -> None:  # V13
        await log(store, project, a_call(clock, 60_000, "a"))
        await store.projects.change(project, SLACK, "test")
        await log(store, project, a_call(clock, 60_000, "b"))
        sent = {
            one.alert.user_id: [d.channel for d in one.deliveries] for one in await store.alerts.list(project)
        }
        assert sent == {"a": [], "b": ["slack"]}
        (parcel,) = await store.outbox.claim(clock.now(), timedelta(minutes=1), limit=10, busy=())
        assert (parcel.body, parcel.attempt) == ("b: 60000", 1)

    async def test_a_muted_user_s_alerts_are_recorded_and_not_sent(
        self, store: Store, project: str, clock: ManualClock
    ) -> None:
        await store.projects.change(project, SLACK, "test")
        await store.users.mute(project, "u1")
        await log(store, project, a_call(clock, 60_000))
        (raised,) = await store.alerts.list(project)
        assert raised.deliveries == []

    async def test_the_month_s_margin_is_a_rule_that_can_be_asked_for(
        self, store: Store, project: str, clock: ManualClock
    ) -> None:  # M3
        await store.projects.change(project, {"marginThresholdUsd": -5, "plans": {"pro": 1.0}}, "test")
        await log(store, project, a_call(clock, 6_000_000, plan="pro"))
        assert await alerts_of(store, project) == []
        await log(store, project, a_call(clock, 10_000, plan="pro"))
        (raised,) = await store.alerts.list(project)
        assert (raised.alert.rule, raised.alert.observed) == ("margin", -5_010_000_000)


class TestExactness:
    async def test_counters_are_the_sum_of_the_rows_after_any_interleaving(
        self, store: Store, project: str, clock: ManualClock
    ) -> None:
        await store.projects.change(project, {"tokenThreshold": 10**12}, "test")
        draw = random.Random(7)
        rows: dict[str, list[tuple[int, int]]] = {"a": [], "b": [], "c": []}
        for _ in range(60):
            batch = []
            for _ in range(draw.randint(1, 5)):
                user, tokens, ago = (
                    draw.choice("abc"),
                    draw.randint(0, 999),
                    draw.choice([0, -5, draw.uniform(0, 300)]),
                )
                batch.append(a_call(clock, tokens, user, ago=ago))
                rows[user].append((micros(batch[-1].at), tokens))
            await log(store, project, *batch, batch[0])
            now = micros(clock.now())
            for name in {str(call.user_id) for call in batch}:
                state = await store.users.get(project, name)
                assert state is not None
                assert state.window_tokens == sum(t for at, t in rows[name] if now - at < 300_000_000)
            clock.advance(draw.choice([0, 0.5, 4.999_999, 5, 47.3, 120]))


async def test_alerts_can_be_paged_and_asked_for_by_user(
    store: Store, project: str, clock: ManualClock
) -> None:
    for user in ("a", "b", "a"):
        await log(store, project, a_call(clock, 60_000, user))
        clock.advance(1_800)
    first, second, third = await store.alerts.list(project)
    assert [one.alert.user_id for one in (first, second, third)] == ["a", "b", "a"]
    assert await store.alerts.list(project, before=first.alert.at, limit=1) == [second]
    assert await store.alerts.list(project, user_id="a") == [first, third]
