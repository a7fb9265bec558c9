import decimal
from datetime import UTC, datetime, time
from decimal import Decimal

import pytest

from loopwatch.pricing.price import Billed, Price, billed_tokens, in_force
from loopwatch.records.money import nano_usd
from loopwatch.wire.usage import Usage


def price(dollars: str = "1", **when: object) -> Price:
    return Price(input=Decimal(dollars), output=Decimal(dollars), **when)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("usage", "billed"),
    [
        (
            Usage(input_tokens=10, cache_read_input_tokens=99, output_tokens=5, reasoning_output_tokens=7),
            Billed(0, 10, 0, 0, 0, 5),
        ),
        (
            Usage(input_tokens=10, cache_read_input_tokens=4, cache_creation_input_tokens=9, output_tokens=5),
            Billed(0, 4, 6, 0, 5, 0),
        ),
        (
            Usage(
                input_tokens=10,
                cache_creation_input_tokens=6,
                output_tokens=0,
                wire={"cache_creation": {"ephemeral_1h_input_tokens": 99}},
            ),
            Billed(4, 0, 0, 6, 0, 0),
        ),
        (
            Usage(
                input_tokens=10, cache_creation_input_tokens=6, output_tokens=0, wire={"cache_creation": 3}
            ),
            Billed(4, 0, 6, 0, 0, 0),
        ),
        (Usage(input_tokens=-3, output_tokens=-1), Billed(0, 0, 0, 0, 0, 0)),
        (Usage(input_tokens=1), None),
    ],
)
def test_parts_never_overlap_and_are_never_negative(usage: Usage, billed: Billed | None) -> None:
    assert billed_tokens(usage) == billed


def test_cached_input_without_a_price_of_its_own_costs_as_input() -> None:
    usage = Usage(input_tokens=10, cache_read_input_tokens=3, cache_creation_input_tokens=2, output_tokens=0)
    assert price("2").cost(usage) == 20_000


def test_a_cost_is_rounded_once_half_up() -> None:
    tiny = Price(input=Decimal("0.0005"), output=Decimal(0))  # half a nano-dollar a token
    assert [tiny.cost(Usage(input_tokens=n, output_tokens=0)) for n in (0, 1, 2, 3)] == [0, 1, 1, 2]


def test_the_callers_decimal_context_changes_nothing() -> None:
    with decimal.localcontext(prec=2, rounding=decimal.ROUND_UP):
        assert nano_usd(Decimal("1.23456789")) == 1_234_567_890


def test_hours_over_midnight() -> None:
    night = price(hours=(time(22), time(6)))

    def at(hour: int) -> datetime:
        return datetime(2026, 1, 1, hour, tzinfo=UTC)

    assert [night.applies(at(hour), 0) for hour in (21, 22, 5, 6)] == [False, True, True, False]
    assert not night.applies(None, 0)


def test_the_last_that_applies_is_in_force() -> None:
    base, dear = price("1"), price("2", above=100)
    assert in_force((base, dear), None, 100) is base
    assert in_force((base, dear), None, 101) is dear
    assert in_force((dear,), None, 0) is None
