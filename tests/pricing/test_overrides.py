from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from loopwatch.errors import ConfigError
from loopwatch.pricing.overrides import read_overrides
from loopwatch.pricing.price import Price
from loopwatch.pricing.prices import PriceTable
from loopwatch.wire.usage import Usage


def test_a_price_is_read_as_written() -> None:
    written = {"input": 0.1, "output": 10, "cacheRead": 0.01, "cacheWrite": 0.2, "cacheWrite1h": 0.4}
    (price,) = read_overrides({" OpenAI/GPT-4o ": written})["openai/gpt-4o"]
    assert price == Price(
        input=Decimal("0.1"),
        output=Decimal(10),
        cache_read=Decimal("0.01"),
        cache_write=Decimal("0.2"),
        cache_write_1h=Decimal("0.4"),
    )


def test_a_price_object_is_taken_as_it_is() -> None:
    price = Price(input=Decimal(1), output=Decimal(2))
    assert read_overrides({"m": price}) == {"m": (price,)}
    assert read_overrides({"m": [price]}) == {"m": (price,)}


def test_prices_by_date_and_size_in_any_order() -> None:
    table = PriceTable(
        {
            "m": [
                {"input": 6, "output": 8, "since": "2026-07-01", "above": 200_000},
                {"input": 3, "output": 4, "since": date(2026, 7, 1)},
                {"input": 1, "output": 2},
            ]
        }
    )

    def dollars(tokens: int, *day: int) -> float:
        at = datetime(*day, tzinfo=UTC)  # type: ignore[misc, arg-type]
        return (table.cost(Usage(input_tokens=tokens, output_tokens=0), model="m", at=at) or 0) / 10**9

    assert dollars(1_000_000, 2026, 6, 30) == 1
    assert dollars(200_000, 2026, 7, 1) == 0.6
    assert dollars(1_000_000, 2026, 7, 1) == 6


USD = "must be a number of US dollars per million tokens, from 0 to 1000000"


@pytest.mark.parametrize(
    ("overrides", "line"),
    [
        ({"gpt-4o": {"input": -1, "output": 1}}, f"gpt-4o.input = -1: {USD}"),
        ({"gpt-4o": {"input": float("nan"), "output": 1}}, f"gpt-4o.input = NaN: {USD}"),
        ({"gpt-4o": {"input": float("inf"), "output": 1}}, f"gpt-4o.input = Infinity: {USD}"),
        ({"gpt-4o": {"input": Decimal("NaN"), "output": 1}}, f"gpt-4o.input = NaN: {USD}"),
        ({"gpt-4o": {"input": "2.5", "output": 1}}, f'gpt-4o.input = "2.5": {USD}'),
        ({"gpt-4o": {"input": True, "output": 1}}, f"gpt-4o.input = true: {USD}"),
        ({"gpt-4o": {"input": 1, "output": None}}, f"gpt-4o.output = null: {USD}"),
        ({"gpt-4o": {"input": 1_000_001, "output": 1}}, f"gpt-4o.input = 1000001: {USD}"),
        ({"gpt-4o": {"input": 1, "output": 1, "request": -1}}, "a request, from 0 to 1000000"),
        ({"gpt-4o": {"input": 1}}, "gpt-4o.output: is missing: it has no default"),
        (
            {"openai/gpt-4o": {"input": 1, "output": 1, "cache_read": 1}},
            '["openai/gpt-4o"].cache_read: is no key here: did you mean `cacheRead`?',
        ),
        ({"m": {"input": 1, "output": 1, 5: 1}}, 'm["5"]: is no key here'),
        (
            {"m": {"input": 1, "output": 1, "above": 0.5}},
            "m.above = 0.5: must be a whole number of input tokens above 0",
        ),
        (
            {"m": {"input": 1, "output": 1, "since": "July"}},
            'm.since = "July": must be a day such as 2026-07-01',
        ),
        (
            {"m": {"input": 1, "output": 1, "since": datetime(2026, 7, 1, tzinfo=UTC)}},
            "must be a day such as 2026-07-01",
        ),
        (
            {"m": {"input": 1, "output": 1, "since": "2026-07-01", "until": "2026-07-01"}},
            "m.until: must be after since",
        ),
        ({"m": [{"input": 1, "output": 1}, 5]}, "m[1] = 5: must be an object"),
        ({"m": []}, "m: must have at least one price"),
        ({"m": "free"}, 'm = "free": must be an object such as {"input": 2.5, "output": 10}'),
        ({"": {}}, "must be the id of a model"),
        ({5: {}}, "must be the id of a model"),
        ({"a": {"input": 1, "output": 1}, "A": {"input": 2, "output": 2}}, "A: comes twice: keep one"),
        ({"m": {"input": 10**5000, "output": 1}}, USD),
    ],
)
def test_a_bad_override_is_one_line_with_model_and_key(overrides: dict[Any, Any], line: str) -> None:
    with pytest.raises(ConfigError) as refused:
        PriceTable(overrides)
    assert line in str(refused.value)
    assert len(refused.value.defects) == 1
    assert "\n" not in str(refused.value)


def test_a_vendor_without_a_name_is_taken_as_written() -> None:
    table = PriceTable({"unknown/m": {"input": 1, "output": 1}})
    assert table.cost(Usage(input_tokens=1_000, output_tokens=0), model="unknown/m") == 1_000_000


def test_every_defect_at_once() -> None:
    with pytest.raises(ConfigError, match="2 defects") as refused:
        PriceTable({"a": {"input": -1, "output": 1}, "b": {"input": 1, "output": 1, "price": 3}})
    assert [defect.locus for defect in refused.value.defects] == ["a.input", "b.price"]
