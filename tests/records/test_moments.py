from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwatch.records.moments import clamped, micros, moment, read_moment, span_micros

AT = datetime(2026, 11, 30, 12, 34, 56, tzinfo=UTC)
SECONDS = 1_796_042_096


@pytest.mark.parametrize(
    "written",
    [
        "2026-11-30T12:34:56Z",
        "2026-11-30T12:34:56.000000+00:00",
        "2026-11-30T13:34:56+01:00",
        " 2026-11-30T12:34:56 ",  # no zone: UTC
        SECONDS,
        float(SECONDS),
        SECONDS * 1_000,
        SECONDS * 1_000_000,
        SECONDS * 1_000_000_000,
    ],
)
def test_a_date_in_every_way_that_clients_write_it(written: object) -> None:
    assert read_moment(written) == AT


@pytest.mark.parametrize(
    "written", [None, "", "soon", True, float("nan"), float("inf"), 1e300, [], {}, "9" * 99]
)
def test_what_is_no_date(written: object) -> None:
    assert read_moment(written) is None


def test_a_date_is_bounded_on_both_sides() -> None:
    window = timedelta(minutes=5)
    assert clamped(None, AT, window) == AT
    assert clamped(AT + timedelta(hours=2), AT, window) == AT + timedelta(seconds=5)
    assert clamped(AT - timedelta(hours=2), AT, window) == AT  # a slow clock must not hide a burst
    assert clamped(AT - window, AT, window) == AT
    just_within = AT - window + timedelta(microseconds=1)
    assert clamped(just_within, AT, window) == just_within
    assert clamped(AT + timedelta(seconds=5), AT, window) == AT + timedelta(seconds=5)
    assert clamped(AT - timedelta(seconds=7), AT, window) == AT - timedelta(seconds=7)


@given(st.datetimes(timezones=st.just(UTC)))
def test_microseconds_and_back(date: datetime) -> None:
    assert moment(micros(date)) == date


def test_a_span_in_microseconds() -> None:
    assert (span_micros(300), span_micros(0.1)) == (300_000_000, 100_000)
