import json
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwatch.wire.usage import (
    TOO_LONG,
    TOO_MANY,
    OutputSplit,
    Usage,
    of_anthropic,
    of_gemini,
    of_generation,
    of_ollama,
    of_openai,
    of_responses,
    split_output,
)

NORMALISERS: list[Callable[[Mapping[str, Any]], Usage]] = [
    of_openai,
    of_responses,
    of_anthropic,
    of_gemini,
    of_generation,
    of_ollama,
]
NAMES = [
    *("prompt_tokens", "completion_tokens", "prompt_tokens_details", "completion_tokens_details", "cost"),
    *("cached_tokens", "cache_write_tokens", "reasoning_tokens", "prompt_cache_hit_tokens", "input_tokens"),
    *("output_tokens", "input_tokens_details", "output_tokens_details", "thinking_tokens", "cache_creation"),
    *("cache_read_input_tokens", "cache_creation_input_tokens", "ephemeral_5m_input_tokens"),
    *("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "cachedContentTokenCount"),
    *("toolUsePromptTokenCount", "prompt_eval_count", "eval_count"),
]
garbage = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=12,
)


def without_wire(usage: Usage) -> dict[str, Any]:
    return {name: value for name, value in msgspec.to_builtins(usage).items() if name != "wire"}


def test_openai_includes_the_cache_and_the_reasoning() -> None:
    figures = {
        "prompt_tokens": 1000,
        "completion_tokens": 300,
        "total_tokens": 1300,
        "prompt_tokens_details": {"cached_tokens": 400, "cache_write_tokens": 50, "audio_tokens": None},
        "completion_tokens_details": {"reasoning_tokens": 120},
        "cost": 0.0123,
        "is_byok": False,
        "service_tier": "default",
    }
    usage = of_openai(figures)
    assert without_wire(usage) == {
        "input_tokens": 1000,
        "cache_read_input_tokens": 400,
        "cache_creation_input_tokens": 50,
        "output_tokens": 300,
        "reasoning_output_tokens": 120,
        "cost": 0.0123,
    }
    assert usage.wire == {
        "prompt_tokens": 1000,
        "completion_tokens": 300,
        "total_tokens": 1300,
        "prompt_tokens_details": {"cached_tokens": 400, "cache_write_tokens": 50},
        "completion_tokens_details": {"reasoning_tokens": 120},
        "cost": 0.0123,
    }
    assert (usage.uncached_input_tokens, usage.answer_tokens) == (550, 180)


@pytest.mark.parametrize(
    "figures",
    [
        {"prompt_tokens": 50, "prompt_cache_hit_tokens": 20, "prompt_cache_miss_tokens": 30},
        {"prompt_tokens": 50, "cached_tokens": 20},
        {"prompt_tokens": 50, "cached_tokens": 7, "prompt_tokens_details": {"cached_tokens": 20}},
    ],
    ids=["DeepSeek", "Moonshot", "OpenAI"],
)
def test_what_was_cached_has_several_names(figures: dict[str, Any]) -> None:
    assert of_openai(figures).cache_read_input_tokens == 20


def test_no_more_is_cached_than_there_is() -> None:
    figures = {"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 150}}
    assert of_openai(figures).cache_read_input_tokens == 100
    assert of_openai({"prompt_tokens_details": {"cached_tokens": 150}}).cache_read_input_tokens == 150


def test_responses_call_the_same_otherwise() -> None:
    figures = {
        "input_tokens": 75,
        "input_tokens_details": {"cached_tokens": 10},
        "output_tokens": 118,
        "output_tokens_details": {"reasoning_tokens": 64},
        "total_tokens": 193,
        "cost": 0,
    }
    usage = of_responses(figures)
    assert without_wire(usage) == {
        "input_tokens": 75,
        "cache_read_input_tokens": 10,
        "output_tokens": 118,
        "reasoning_output_tokens": 64,
        "cost": 0.0,
    }
    assert usage.wire == figures


def test_anthropics_input_is_what_was_not_cached() -> None:
    figures = {
        "input_tokens": 400,
        "cache_read_input_tokens": 600,
        "cache_creation_input_tokens": 300,
        "output_tokens": 200,
        "output_tokens_details": {"thinking_tokens": 50},
        "service_tier": "standard",
        "server_tool_use": {"web_search_requests": 1},
    }
    usage = of_anthropic(figures)
    assert without_wire(usage) == {
        "input_tokens": 1300,
        "cache_read_input_tokens": 600,
        "cache_creation_input_tokens": 300,
        "output_tokens": 200,
        "reasoning_output_tokens": 50,
    }
    assert usage.uncached_input_tokens == 400
    assert usage.wire["server_tool_use"] == {"web_search_requests": 1}


def test_anthropics_cache_may_be_told_by_its_age_alone() -> None:
    by_age = {"ephemeral_5m_input_tokens": 30, "ephemeral_1h_input_tokens": 10}
    usage = of_anthropic({"input_tokens": 10, "cache_creation": by_age})
    assert (usage.input_tokens, usage.cache_creation_input_tokens) == (50, 40)


def test_anthropics_cache_alone_is_no_input() -> None:
    usage = of_anthropic({"cache_read_input_tokens": 90})
    assert (usage.input_tokens, usage.cache_read_input_tokens) == (None, 90)


def test_geminis_thoughts_and_tools_are_added() -> None:
    figures = {
        "promptTokenCount": 100,
        "toolUsePromptTokenCount": 11,
        "cachedContentTokenCount": 40,
        "candidatesTokenCount": 20,
        "thoughtsTokenCount": 30,
        "totalTokenCount": 161,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 100}],
        "trafficType": "ON_DEMAND",
    }
    usage = of_gemini(figures)
    assert without_wire(usage) == {
        "input_tokens": 111,
        "cache_read_input_tokens": 40,
        "output_tokens": 50,
        "reasoning_output_tokens": 30,
    }
    assert set(usage.wire) == set(figures) - {"promptTokensDetails", "trafficType"}


def test_gemini_leaves_out_what_is_zero() -> None:
    assert of_gemini({"promptTokenCount": 4, "thoughtsTokenCount": 30}).output_tokens == 30
    assert of_gemini({"promptTokenCount": 4}).output_tokens is None
    assert of_gemini({"toolUsePromptTokenCount": 4}).input_tokens is None


def test_ollamas_figures_stand_among_other_things() -> None:
    line = {"model": "m", "done": True, "context": [1, 2], "message": {"a": 1}, "created": 7}
    figures = {"prompt_eval_count": 26, "eval_count": 298, "total_duration": 5_191_566_416}
    usage = of_ollama({**line, **figures})
    assert without_wire(usage) == {"input_tokens": 26, "output_tokens": 298}
    assert usage.wire == figures


def test_the_record_of_a_generation_has_names_of_its_own() -> None:
    record = {
        "id": "gen-1",
        "total_cost": 0.0015,
        "native_tokens_prompt": 1000,
        "native_tokens_cached": 400,
        "native_tokens_completion": 300,
        "native_tokens_reasoning": 120,
    }
    usage = of_generation(record)
    assert without_wire(usage) == {
        "input_tokens": 1000,
        "cache_read_input_tokens": 400,
        "output_tokens": 300,
        "reasoning_output_tokens": 120,
        "cost": 0.0015,
    }
    assert set(usage.wire) == set(record) - {"id"}


@pytest.mark.parametrize(
    ("figure", "count"),
    [
        (0, 0),
        (12.0, 12),
        (TOO_MANY - 1, TOO_MANY - 1),
        (TOO_MANY, None),
        (float(TOO_MANY), None),
        (2**70, None),
        (-1, None),
        (0.5, None),
        (float("nan"), None),
        (float("inf"), None),
        (True, None),
        (False, None),
        ("12", None),
        (None, None),
        ([12], None),
        ({"tokens": 12}, None),
    ],
)
def test_what_is_no_count_was_not_reported(figure: Any, count: int | None) -> None:
    assert of_openai({"prompt_tokens": figure}).input_tokens == count
    assert of_ollama({"eval_count": figure}).output_tokens == count
    assert of_gemini({"thoughtsTokenCount": figure}).output_tokens == count


def test_a_sum_beyond_counting_is_none() -> None:
    usage = of_anthropic({"input_tokens": TOO_MANY - 1, "cache_read_input_tokens": 1})
    assert usage.input_tokens is None


@pytest.mark.parametrize(
    ("cost", "read"),
    [
        (0, 0.0),
        (0.25, 0.25),
        (3, 3.0),
        (-0.1, None),
        ("0.1", None),
        (True, None),
        (float("nan"), None),
        (1e300, None),
    ],
)
def test_a_cost_is_a_number_of_dollars(cost: Any, read: float | None) -> None:
    assert of_openai({"cost": cost}).cost == read
    assert of_responses({"cost": cost}).cost == read


def test_the_wire_keeps_numbers_and_where_they_were() -> None:
    figures = {
        "a": 1,
        "b": -0.5,
        "c": {"d": 2, "e": "x", "f": {"g": 3}, "h": None},
        "i": None,
        "j": True,
        "k": [1],
        "l": float("inf"),
        "m": TOO_LONG,
        "n": float("nan"),
        "o": {},
    }
    assert of_openai(figures).wire == {"a": 1, "b": -0.5, "c": {"d": 2, "f": {"g": 3}}, "o": {}}


def test_figures_nested_without_end_are_cut() -> None:
    figures: dict[str, Any] = {}
    for _ in range(100_000):
        figures = {"a": figures, "b": 1}
    usage = of_openai(figures)
    assert len(json.dumps(usage.wire)) < 200
    assert usage.wire["a"]["a"]["b"] == 1
    while figures:  # piece by piece: taken apart at once, it would be too deep as well
        figures = figures["a"]


@pytest.mark.parametrize("normalise", NORMALISERS)
@given(figures=st.dictionaries(st.sampled_from(NAMES), garbage, max_size=8))
def test_no_figures_are_too_strange(
    normalise: Callable[[Mapping[str, Any]], Usage], figures: dict[str, Any]
) -> None:
    usage = normalise(figures)
    assert msgspec.json.decode(msgspec.json.encode(usage), type=Usage) == usage
    for count in without_wire(usage).values():
        assert 0 <= count < TOO_MANY


def test_nothing_reported_is_nothing_known() -> None:
    assert all(normalise({}) == Usage() for normalise in NORMALISERS)
    assert (Usage().uncached_input_tokens, Usage().answer_tokens) == (None, None)
    assert Usage(input_tokens=5, cache_read_input_tokens=9).uncached_input_tokens == 0
    assert Usage(output_tokens=5, reasoning_output_tokens=9).answer_tokens == 0


@pytest.mark.parametrize(
    ("total", "reasoning", "estimate", "split"),
    [
        (300, 290, 50, OutputSplit(50, 250, reconciled=True)),
        (300, 120, 50, OutputSplit(180, 120, reconciled=False)),
        (40, 10, 50, OutputSplit(40, 0, reconciled=True)),
        (40, 10, 0, OutputSplit(30, 10, reconciled=False)),
        (40, 50, 0, OutputSplit(0, 40, reconciled=False)),
        (40, None, 50, OutputSplit(40, 0, reconciled=False)),
        (None, 10, 50, None),
    ],
)
def test_the_answer_is_at_least_as_long_as_its_text(  # S17
    total: int | None, reasoning: int | None, estimate: int, split: OutputSplit | None
) -> None:
    assert split_output(Usage(output_tokens=total, reasoning_output_tokens=reasoning), estimate) == split
