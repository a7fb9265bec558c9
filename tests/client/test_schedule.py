import pytest

from loopwatch.client.schedule import delay_after, retry_after, wait_after


def test_the_wait_doubles_up_to_a_minute() -> None:
    delays = [delay_after(attempt) for attempt in range(1, 11)]
    assert delays == [1, 2, 4, 8, 16, 32, 60, 60, 60, 60]
    assert sum(delays) == 303
    assert sum(delay_after(attempt) for attempt in range(1, 31)) == 1_503
    assert delay_after(64) == delay_after(10**9) == 60


def test_the_longest_wait_may_be_another() -> None:
    assert [delay_after(attempt, 5) for attempt in range(1, 6)] == [1, 2, 4, 5, 5]
    assert delay_after(12, 3_600) == 2_048
    assert wait_after(4, 45, 5) == 45


@pytest.mark.parametrize(
    ("status", "header", "seconds"),
    [
        (429, "45", 45),
        (503, " 120 ", 120),
        (429, "0", 0),
        (500, "120", None),
        (502, "120", None),
        (429, "soon", None),
        (429, "Wed, 21 Oct 2026 07:28:00 GMT", None),
        (429, "1.5", None),
        (429, "-1", None),
        (429, "+1", None),
        (429, "²", None),
        (429, "٣", None),
        (429, "9" * 400, None),
        (429, "9999999999", 9_999_999_999),
        (429, "00000000045", 45),
        (429, "", None),
        (429, None, None),
    ],
)
def test_only_whole_seconds_of_a_429_or_a_503_are_waited_for(
    status: int, header: str | None, seconds: int | None
) -> None:
    assert retry_after(status, header) == seconds


def test_the_longer_wait_counts() -> None:
    assert wait_after(1, 45) == 45
    assert wait_after(3, 1) == 4
    assert wait_after(7, 120) == 120
    assert wait_after(7, None) == 60
