from datetime import timedelta

import pytest

from loopwatch.alerts.schedule import DELAYS, next_attempt
from tests.alerts.samples import AT


def after(attempt: int, retry_after: float | None = None, late: timedelta = timedelta()) -> float | None:
    at = next_attempt(attempt, AT, AT + late, retry_after)
    return None if at is None else (at - AT - late).total_seconds()


def test_eleven_attempts_within_eight_hours() -> None:
    waits = [after(attempt) for attempt in range(1, 13)]
    assert waits == [10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, None, None]
    assert sum(DELAYS) == 7 * 3600 + 48 * 60 + 40


@pytest.mark.parametrize(
    ("asked", "wait"),
    [(None, 10), (3, 10), (0, 10), (75.0, 75), (80_000, 80_000), (90_000, None), (10**12, None)],
)
def test_a_longer_wait_that_was_asked_for_is_kept_to(asked: float | None, wait: float | None) -> None:
    assert after(1, asked) == wait


def test_no_delivery_is_attempted_after_resend_has_forgotten_it() -> None:
    assert after(2, late=timedelta(hours=22)) == 30
    assert after(2, late=timedelta(hours=23)) is None
    assert after(9, late=timedelta(hours=22)) is None
