"""The rules, each at its threshold, one above and one below."""

from typing import Any

import pytest

from loopwatch.alerts import rules
from loopwatch.config.project import ProjectSettings
from loopwatch.config.settings import read_settings
from loopwatch.records.alert import Crossing, Standing

DOLLAR = 1_000_000_000
ON: dict[str, dict[str, Any]] = {
    "velocity": {},
    "cost": {"costThresholdUsd": 1},
    "margin": {"marginThresholdUsd": -5},
    "unknown": {"unknownShare": 0.1},
}


def only(*names: str) -> ProjectSettings:
    """Settings in which these rules are on, and no other."""
    document: dict[str, Any] = {"velocityAlerts": "velocity" in names}
    for name in names:
        document |= ON[name]
    return read_settings(document)


def standing(**figures: Any) -> Standing:
    nothing = {"tokens": 0, "cost_nano": 0, "calls": 0, "unpriced": 0}
    return Standing(**{"project_id": "acme", "user_id": "u1", **nothing, **figures})


EVERYTHING = standing(
    tokens=10**6, calls=100, unpriced=100, cost_nano=10**15, month_cost_nano=10**15, plan_revenue_nano=0
)


@pytest.mark.parametrize(("tokens", "crossed"), [(49_999, False), (50_000, False), (50_001, True)])
def test_velocity_is_strictly_above_the_seeds_threshold(tokens: int, crossed: bool) -> None:  # noqa: FBT001
    found = rules.crossing(standing(tokens=tokens), read_settings({}))
    assert found == (Crossing(rule="velocity", observed=tokens, threshold=50_000) if crossed else None)


def test_only_velocity_is_on_by_default() -> None:
    found = rules.crossing(EVERYTHING, read_settings({}))
    assert found is not None
    assert found.rule == "velocity"
    assert rules.crossing(EVERYTHING, only()) is None


@pytest.mark.parametrize(("cost", "crossed"), [(0, False), (DOLLAR, False), (DOLLAR + 1, True)])
def test_cost_in_the_window(cost: int, crossed: bool) -> None:  # noqa: FBT001
    found = rules.crossing(standing(cost_nano=cost), only("cost"))
    assert found == (Crossing(rule="cost", observed=DOLLAR + 1, threshold=DOLLAR) if crossed else None)


@pytest.mark.parametrize(
    ("month_cost", "plan_price", "crossed"),
    [
        *((54 * DOLLAR, 49 * DOLLAR, False), (54 * DOLLAR + 1, 49 * DOLLAR, True)),  # M3
        *((5 * DOLLAR + 1, 0, True), (10**15, None, False)),
    ],
)
def test_margin_is_the_months_cost_above_the_plans_price(
    month_cost: int,
    plan_price: int | None,
    crossed: bool,  # noqa: FBT001
) -> None:
    facts = standing(month_cost_nano=month_cost, plan_revenue_nano=plan_price)
    found = rules.crossing(facts, only("margin"))
    expected = Crossing(rule="margin", observed=5 * DOLLAR + 1, threshold=5 * DOLLAR)
    assert found == (expected if crossed else None)


@pytest.mark.parametrize(
    ("calls", "unpriced", "value"),
    [
        *((100, 10, None), (100, 11, 110_000), (19, 19, None), (20, 20, 1_000_000), (0, 0, None)),
        (3_000_000, 300_001, 100_001),  # rounded up: never equal to the threshold that it is above
    ],
)
def test_the_share_of_calls_without_a_price(calls: int, unpriced: int, value: int | None) -> None:
    found = rules.crossing(standing(calls=calls, unpriced=unpriced), only("unknown"))
    expected = None if value is None else Crossing(rule="unknown", observed=value, threshold=100_000)
    assert found == expected


def test_one_alert_names_one_rule_the_most_urgent() -> None:
    on = list(ON)
    for rule in ON:
        found = rules.crossing(EVERYTHING, only(*on))
        assert found is not None
        assert found.rule == rule
        on.remove(rule)
