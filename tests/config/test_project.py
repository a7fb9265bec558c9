from datetime import timedelta
from typing import Any

import pytest

from loopwatch.config.settings import read_settings
from loopwatch.errors import ConfigError


def reasons(document: dict[str, Any]) -> list[str]:
    with pytest.raises(ConfigError) as refused:
        read_settings(document)
    return [str(defect) for defect in refused.value.defects]


def test_the_defaults_are_the_seed_s() -> None:
    settings = read_settings({})
    assert settings.token_threshold == 50_000
    assert (settings.window, settings.cooldown) == (timedelta(minutes=5), timedelta(minutes=30))
    assert settings.velocity_alerts
    assert (settings.cost_threshold_usd, settings.margin_threshold_usd, settings.unknown_share) == (None,) * 3
    assert settings.document() == {}


def test_what_is_read_is_what_is_kept() -> None:
    document = {
        "tokenThreshold": 10_000,
        "windowMinutes": 1.0,
        "cooldownMinutes": 0.5,
        "caps": {"free": {"monthlyUsd": 2.5, "action": "downgrade"}},
        "plans": {"free": 0.0, "pro": 29.0},
        "downgrades": {"gpt-4o": "gpt-4o-mini"},
        "channels": [{"type": "email", "to": ["ops@example.com"]}],
        "marginThresholdUsd": -5.0,
    }
    settings = read_settings(document)
    assert settings.document() == document
    assert read_settings(settings.document()) == settings


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("tokenThreshold", [0, -1, 1.5, "50000", True, 10**13, None]),
        ("windowMinutes", [0, -1, 0.01, 361, float("nan"), float("inf"), "5", True]),
        ("cooldownMinutes", [0, -1, 44_641, float("nan"), "30"]),
        ("cachedWeight", [-0.1, 1.1, "1"]),
        ("marginThresholdUsd", [0.01, "x", float("nan")]),
        ("costThresholdUsd", [0, -1, float("inf")]),
        ("retentionDays", [0, 1.5, 3_661]),
        ("plans", [[], {"pro": -1}, {"pro": "x"}, {"": 1}]),
        ("caps", [{"pro": {}}, {"pro": {"monthlyUsd": 0}}, {"pro": {"monthlyUsd": 1, "action": "warn"}}]),
    ],
)
def test_what_cannot_be_is_refused_by_its_key(key: str, values: list[Any]) -> None:
    for value in values:
        found = reasons({key: value})
        assert len(found) == 1, value
        assert found[0].startswith(key), (value, found)


def test_every_defect_at_once() -> None:
    found = reasons({"windowMinutes": 0, "tokenThreshold": 0, "cooldwnMinutes": 5})
    assert len(found) == 3
    assert found[2] == "cooldwnMinutes: is no key here: did you mean `cooldownMinutes`?"
