from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwatch.records.money import nano_usd, shown, usd


@pytest.mark.parametrize(
    ("dollars", "nano"),
    [
        (0.00675, 6_750_000),
        (29.0, 29_000_000_000),
        (0.1 + 0.2, 300_000_000),
        (1e-7, 100),
        (0.0, 0),
        (-5.01, -5_010_000_000),
    ],
)
def test_dollars_as_billionths(dollars: float, nano: int) -> None:
    assert nano_usd(dollars) == nano
    assert nano_usd(Decimal(repr(dollars))) == nano


def test_ten_million_small_prices_sum_exactly() -> None:
    assert nano_usd(1e-7) * 10_000_000 == nano_usd(1.0)


def test_billionths_as_dollars() -> None:
    assert usd(740_000_000) == 0.74


def test_the_second_seed_s_sums() -> None:  # V11, V12
    cent = nano_usd(0.01)
    assert [usd(cent * calls) for calls in (1_000, 10_000, 100_000)] == [10, 100, 1_000]
    assert usd(61_400 * nano_usd(0.60) // 1_000_000) == 0.03684


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        *((0, "$0.00"), (740_000_000, "$0.74"), (1_234_567_890_123, "$1,234.57"), (10_000_000, "$0.01")),
        *((4_200_000, "$0.0042"), (15, "$0.000000015"), (1, "$0.000000001"), (-5_000_000_000, "-$5.00")),
    ],
)
def test_amounts_are_shown_in_cents_or_as_small_as_they_are(amount: int, text: str) -> None:
    assert shown(amount) == text


@given(st.integers(-(10**15), 10**15))
def test_no_amount_changes_by_being_written_as_json(amount: int) -> None:
    assert nano_usd(usd(amount)) == amount
