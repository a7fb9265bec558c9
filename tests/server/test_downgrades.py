"""Which cheaper model stands in for which: of one maker and family, for one kind of task, one step down."""

import pytest

from loopwatch.pricing.prices import PriceTable
from loopwatch.server.downgrades import MAKERS, MOST_SHARE, _candidates, cheaper

TABLE = PriceTable()


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("gpt-4o", "gpt-4o-mini"),
        ("GPT-4o-2024-08-06", "gpt-4o-mini"),
        ("gpt-4.1", "gpt-4.1-mini"),
        ("claude-opus-4-8", "claude-sonnet-4-6"),
        ("gemini-2.5-pro", "gemini-2.5-flash"),
        ("kimi-k2.6", "kimi-k2.5"),
        ("mystery", None),
        ("gpt-of-our-own", None),
        ("", None),
        ("4", None),
    ],
)
def test_the_nearest_relative_is_proposed(model: str, expected: str | None) -> None:
    assert cheaper(model, TABLE) == expected


@pytest.mark.parametrize("family", MAKERS)
def test_a_stand_in_is_of_the_family_and_always_cheaper(family: str) -> None:
    maker = MAKERS[family]
    for model in _candidates(maker, family):
        other, price = cheaper(model, TABLE), TABLE.price(model, provider=maker)
        if other is None or price is None:
            continue
        its = TABLE.price(other, provider=maker)
        assert its is not None
        assert other.startswith(family)
        assert its.input <= price.input * MOST_SHARE
        assert its.output <= price.output * MOST_SHARE


def test_no_model_for_another_task_stands_in() -> None:
    every = [name for family, maker in MAKERS.items() for name in _candidates(maker, family)]
    assert every
    for task in ("audio", "image", "embedding", "realtime", "tts", "search"):
        assert not any(task in name for name in every)


def test_the_steps_down_come_to_an_end() -> None:
    for model in ("gpt-5.5-pro", "claude-opus-4", "gemini-2.5-pro", "kimi-k3"):
        seen = [model]
        while (step := cheaper(seen[-1], TABLE)) is not None:
            assert step not in seen
            seen.append(step)
        assert len(seen) > 1
