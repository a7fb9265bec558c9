import pytest

from loopwatch.velocity.cooldown import may_alert

MINUTE = 60_000_000
COOLDOWN = 30 * MINUTE


def test_the_first_alert_goes_out() -> None:
    assert may_alert(None, 0, COOLDOWN)


@pytest.mark.parametrize(
    ("after", "goes"), [(0, False), (COOLDOWN - 1, False), (COOLDOWN, True), (COOLDOWN + 1, True)]
)
def test_the_next_one_a_whole_cooldown_later(after: int, *, goes: bool) -> None:
    assert may_alert(MINUTE, MINUTE + after, COOLDOWN) is goes


def test_a_setting_that_changes_holds_at_once() -> None:
    assert not may_alert(0, 6 * MINUTE, COOLDOWN)
    assert may_alert(0, 6 * MINUTE, 5 * MINUTE)


def test_a_clock_that_is_set_back_silences_nobody_for_longer() -> None:
    last = 1_000 * MINUTE
    assert not may_alert(last, last - 10 * MINUTE, COOLDOWN)
    assert may_alert(last, last - 31 * MINUTE, COOLDOWN)
