"""What a reply was billed for: every provider's figures under OpenTelemetry's names.

``input_tokens`` includes what was read from a cache and what was written to one, ``output_tokens``
includes reasoning. The providers differ:

==============  =======================  ========================  ==========================
                cached input             reasoning                 in a stream
==============  =======================  ========================  ==========================
OpenAI          part of the input        part of the output        once, last
Anthropic       beside the input         part of the output        in parts, the last one sums
Gemini          part of the input        beside the output         the last one sums
Ollama          not reported             part of the output        once, last
==============  =======================  ========================  ==========================
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

TOO_MANY = 2**53
"""A count of tokens from here on is none: it is beyond what JSON can say exactly."""

TOO_LONG = 2**63
"""A figure from here on is not kept: few can read it."""

DEEP = 8
"""Levels of the provider's figures that are kept."""

OLLAMA = (
    *("prompt_eval_count", "eval_count"),
    *("total_duration", "load_duration", "prompt_eval_duration", "eval_duration"),
)
"""Ollama's figures, which stand among the other fields of its last line."""


class Usage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tokens of one reply, and its cost in US dollars where the provider says it. None: not reported.

    ``wire`` has the provider's own figures as they came, numbers only.
    """

    input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_output_tokens: int | None = None
    cost: float | None = None
    wire: dict[str, Any] = {}

    @property
    def uncached_input_tokens(self) -> int | None:
        """The input that was neither read from a cache nor written to one."""
        if self.input_tokens is None:
            return None
        cached = (self.cache_read_input_tokens or 0) + (self.cache_creation_input_tokens or 0)
        return max(0, self.input_tokens - cached)

    @property
    def answer_tokens(self) -> int | None:
        """The output without its reasoning."""
        if self.output_tokens is None:
            return None
        return max(0, self.output_tokens - (self.reasoning_output_tokens or 0))


class OutputSplit(NamedTuple):
    """Output in its two parts; ``reconciled`` where they are not as reported."""

    answer: int
    reasoning: int
    reconciled: bool


def split_output(usage: Usage, estimate: int) -> OutputSplit | None:
    """The answer and the reasoning of a reply whose text is about ``estimate`` tokens long.

    Some providers report more reasoning than the text leaves room for: then the estimate decides. As
    reported where there is no text. None without a total.
    """
    if usage.output_tokens is None:
        return None
    total, reasoning = usage.output_tokens, usage.reasoning_output_tokens or 0
    answer = min(estimate, total)
    if estimate <= 0 or reasoning <= total - answer:
        return OutputSplit(max(0, total - reasoning), min(total, reasoning), reconciled=False)
    return OutputSplit(answer, total - answer, reconciled=True)


def of_openai(figures: Mapping[str, Any]) -> Usage:
    """The usage of chat and text completions; ``cost`` is OpenRouter's."""
    inputs = _inner(figures, "prompt_tokens_details")
    total = _count(figures.get("prompt_tokens"))
    # OpenAI's own name, DeepSeek's, Moonshot's.
    cached = (
        inputs.get("cached_tokens"),
        figures.get("prompt_cache_hit_tokens"),
        figures.get("cached_tokens"),
    )
    return Usage(
        input_tokens=total,
        cache_read_input_tokens=_part(total, *cached),
        cache_creation_input_tokens=_part(total, inputs.get("cache_write_tokens")),
        output_tokens=_count(figures.get("completion_tokens")),
        reasoning_output_tokens=_count(_inner(figures, "completion_tokens_details").get("reasoning_tokens")),
        cost=_cost(figures.get("cost")),
        wire=_numbers(figures),
    )


def of_responses(figures: Mapping[str, Any]) -> Usage:
    """The usage of the Responses API; ``cost`` is OpenRouter's."""
    inputs = _inner(figures, "input_tokens_details")
    total = _count(figures.get("input_tokens"))
    return Usage(
        input_tokens=total,
        cache_read_input_tokens=_part(total, inputs.get("cached_tokens")),
        cache_creation_input_tokens=_part(total, inputs.get("cache_write_tokens")),
        output_tokens=_count(figures.get("output_tokens")),
        reasoning_output_tokens=_count(_inner(figures, "output_tokens_details").get("reasoning_tokens")),
        cost=_cost(figures.get("cost")),
        wire=_numbers(figures),
    )


def of_anthropic(figures: Mapping[str, Any]) -> Usage:
    """The usage of a message, the events of its stream merged."""
    read = _count(figures.get("cache_read_input_tokens"))
    written = _count(figures.get("cache_creation_input_tokens"))
    if written is None:
        by_age = _inner(figures, "cache_creation")
        written = _sum(by_age.get("ephemeral_5m_input_tokens"), by_age.get("ephemeral_1h_input_tokens"))
    uncached = _count(figures.get("input_tokens"))
    return Usage(
        input_tokens=None if uncached is None else _sum(uncached, read, written),
        cache_read_input_tokens=read,
        cache_creation_input_tokens=written,
        output_tokens=_count(figures.get("output_tokens")),
        reasoning_output_tokens=_count(_inner(figures, "output_tokens_details").get("thinking_tokens")),
        cost=_cost(figures.get("cost")),
        wire=_numbers(figures),
    )


def of_gemini(figures: Mapping[str, Any]) -> Usage:
    """The ``usageMetadata`` of a response; counts of zero are left out of it."""
    prompt = _count(figures.get("promptTokenCount"))
    total = None if prompt is None else _sum(prompt, figures.get("toolUsePromptTokenCount"))
    thoughts = figures.get("thoughtsTokenCount")
    return Usage(
        input_tokens=total,
        cache_read_input_tokens=_part(total, figures.get("cachedContentTokenCount")),
        output_tokens=_sum(figures.get("candidatesTokenCount"), thoughts),
        reasoning_output_tokens=_count(thoughts),
        wire=_numbers(figures),
    )


def of_ollama(figures: Mapping[str, Any]) -> Usage:
    """The usage in the last line of a reply."""
    return Usage(
        input_tokens=_count(figures.get("prompt_eval_count")),
        output_tokens=_count(figures.get("eval_count")),
        wire=_numbers({name: figures.get(name) for name in OLLAMA}),
    )


def of_generation(record: Mapping[str, Any]) -> Usage:
    """The usage in OpenRouter's record of a generation, which is there some time after the reply."""
    total = _count(record.get("native_tokens_prompt"))
    return Usage(
        input_tokens=total,
        cache_read_input_tokens=_part(total, record.get("native_tokens_cached")),
        output_tokens=_count(record.get("native_tokens_completion")),
        reasoning_output_tokens=_count(record.get("native_tokens_reasoning")),
        cost=_cost(record.get("total_cost")),
        wire=_numbers(record),
    )


# Whatever is wrong with a figure, it is as if it had not been reported.


def _count(value: Any) -> int | None:
    """A count of tokens; some gateways send it as a float."""
    if type(value) is float and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value < TOO_MANY else None


def _sum(*values: Any) -> int | None:
    """The sum of those that are counts; None where none is."""
    counts = [count for count in map(_count, values) if count is not None]
    return _count(sum(counts)) if counts else None


def _part(total: int | None, *values: Any) -> int | None:
    """The first that is a count, and no more than the whole of which it is a part."""
    count = next((count for count in map(_count, values) if count is not None), None)
    return count if count is None or total is None else min(count, total)


def _cost(value: Any) -> float | None:
    if type(value) not in (int, float) or not 0 <= value < TOO_MANY:
        return None
    return float(value)


def _inner(figures: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    inner = figures.get(name)
    return inner if isinstance(inner, dict) else {}


def _numbers(figures: Mapping[str, Any], depth: int = DEEP) -> dict[str, Any]:
    """The figures that are numbers, and can be written as such again."""
    kept: dict[str, Any] = {}
    for name, value in figures.items():
        if isinstance(value, dict) and depth:
            kept[name] = _numbers(value, depth - 1)
        elif type(value) in (int, float) and abs(value) < TOO_LONG:
            kept[name] = value
    return kept
