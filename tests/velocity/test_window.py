import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwatch.velocity.window import BUCKET, RollingWindow, above, bucket_of, span

SECOND = 1_000_000
WINDOW = 300 * SECOND
START = 1_767_225_600 * SECOND


@pytest.mark.parametrize(("tokens", "is_above"), [(49_999, False), (50_000, False), (50_001, True)])
def test_strictly_more_than_the_threshold(tokens: int, *, is_above: bool) -> None:  # V1
    assert above(tokens, 50_000) is is_above


@pytest.mark.parametrize(
    ("later", "total"),
    [(0, 60_000), (299_999_000, 60_000), (299_999_999, 60_000), (300_000_000, 30_000), (300_000_001, 30_000)],
)
def test_a_call_exactly_one_window_old_no_longer_counts(later: int, total: int) -> None:  # V3, V4
    window = RollingWindow(WINDOW)
    window.add(START + 1, 30_000)
    window.add(START + 1 + later, 30_000)
    assert window.total(START + 1 + later) == total


def test_a_burst_across_the_border_of_two_buckets_is_one_burst() -> None:
    border = bucket_of(START) + BUCKET
    apart, within = RollingWindow(WINDOW), RollingWindow(WINDOW)
    for number in range(6):
        apart.add(border - 3 + number, 10_000)
        within.add(border + number, 10_000)
    assert apart.total(border + 10) == within.total(border + 10) == 60_000


def test_a_call_that_comes_late_counts_when_it_happened() -> None:
    window = RollingWindow(WINDOW)
    window.add(START + 240 * SECOND, 10)
    window.add(START, 1)
    assert window.total(START + 240 * SECOND) == 11
    assert window.total(START + 300 * SECOND) == 10


def test_what_is_over_is_forgotten() -> None:
    window = RollingWindow(WINDOW)
    for second in range(10_000):
        window.add(START + second * SECOND, 1)
        window.total(START + second * SECOND)
    assert len(window._buckets) <= WINDOW // BUCKET + 1


moments = st.integers(0, 3 * WINDOW)


@given(
    st.lists(st.tuples(moments, st.integers(0, 100_000)), max_size=60), moments, st.integers(1, 2 * WINDOW)
)
def test_buckets_and_edge_are_the_sum_of_the_rows(
    calls: list[tuple[int, int]], now: int, length: int
) -> None:
    window = RollingWindow(length)
    for at, tokens in calls:
        window.add(START + at, tokens)
    assert window.total(START + now) == sum(tokens for at, tokens in calls if now - at < length)


@given(st.integers(0, 2**50), st.integers(1, 2**40))
def test_the_bounds_hold_every_moment_once(now: int, length: int) -> None:
    bounds = span(now, length)
    assert bounds.edge <= bounds.after < bounds.edge_end
    assert bounds.edge % BUCKET == 0
