from datetime import UTC, datetime, timedelta

import pytest

from loopwatch.clock import ManualClock
from loopwatch.errors import InputError
from loopwatch.store.opening import Store
from loopwatch.store.series import MOST_POINTS, Point
from tests.store.calls import a_call, log

DAY = timedelta(days=1)


@pytest.fixture
async def project(store: Store, clock: ManualClock) -> str:
    """Calls at noon of the 15th and the 17th, at one o'clock of the 17th, and somebody else's."""
    project = (await store.projects.create("Acme")).id
    other = (await store.projects.create("Other")).id
    await log(store, project, a_call(clock, 1_000, latency_ms=5), a_call(clock, 500, "u2"))
    await log(store, other, a_call(clock, 9_999))
    clock.advance(2 * 86_400)
    await log(store, project, a_call(clock, 3_000, loop_aborts=1), a_call(clock, 7, None))
    clock.advance(3_600)
    await log(store, project, a_call(clock, 20, request_model="mystery"))
    return project


def shown(points: list[Point]) -> list[tuple[int, int, int, int, int]]:
    return [
        (point.at.day, point.at.hour, point.sums.calls, point.sums.input_tokens, point.sums.unpriced)
        for point in points
    ]


async def test_a_project_by_day_and_by_hour(store: Store, project: str, clock: ManualClock) -> None:
    since = datetime(2026, 11, 14, 13, tzinfo=UTC)
    days = await store.series.project(project, "day", since)
    assert shown(days) == [
        (14, 0, 0, 0, 0),
        (15, 0, 2, 1_500, 0),
        (16, 0, 0, 0, 0),
        (17, 0, 3, 3_027, 1),
    ]
    assert [day.sums.cost_nano for day in days] == [0, 1_500_000, 0, 3_007_000]
    hours = await store.series.project(project, "hour", clock.now() - timedelta(hours=1.5), clock.now())
    assert shown(hours) == [(17, 11, 0, 0, 0), (17, 12, 2, 3_007, 0)]


async def test_a_user_by_day_and_by_hour(store: Store, project: str, clock: ManualClock) -> None:
    days = await store.series.user(project, "u1", "day", clock.now() - 2 * DAY)
    assert shown(days) == [(15, 0, 1, 1_000, 0), (16, 0, 0, 0, 0), (17, 0, 2, 3_020, 1)]
    assert [(day.sums.cost_nano, day.sums.latency_ms, day.sums.loop_aborts) for day in days] == [
        (1_000_000, 5, 0),
        (0, 0, 0),
        (3_000_000, 0, 1),
    ]
    hours = await store.series.user(project, "", "hour", clock.now() - timedelta(hours=1))
    assert shown(hours) == [(17, 12, 1, 7, 0), (17, 13, 0, 0, 0)]


async def test_a_window_fills_and_empties(store: Store, clock: ManualClock) -> None:
    project = (await store.projects.create("Acme", {"windowMinutes": 1, "cachedWeight": 0.5})).id
    begin = clock.now()
    await log(store, project, a_call(clock, 100, cache_read_input_tokens=40))
    clock.advance(12)
    await log(store, project, a_call(clock, 1_000))
    clock.advance(70)
    points = await store.series.window(project, "u1", begin)
    assert [point.at for point in points] == [begin + timedelta(seconds=5 * n) for n in range(1, 18)]
    assert [point.tokens for point in points] == [80, 80] + [1_080] * 10 + [1_000] * 2 + [0] * 3
    assert [point.added for point in points] == [80, 0, 1_000] + [0] * 14
    assert {point.calls for point in points} == {0, 1, 2}
    # What came before the series began is in the window all the same.
    later = await store.series.window(project, "u1", begin + timedelta(seconds=30))
    assert later == points[6:]


async def test_a_series_has_an_end(store: Store, project: str, clock: ManualClock) -> None:
    with pytest.raises(InputError, match="5,000 points"):
        await store.series.project(project, "hour", clock.now() - timedelta(hours=MOST_POINTS))
    assert await store.series.project(project, "hour", clock.now(), clock.now() - DAY) == []
