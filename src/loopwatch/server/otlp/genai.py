"""Which spans are model calls, and what they say, by the names of OpenTelemetry's ``gen_ai`` conventions.

Only the leaves count: a framework's span around a call, an agent's around its turns, repeat the usage of
the spans below them. Only the names that are listed here are read; messages, prompts and tool arguments
have other names, and are gone once the request is answered.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from loopwatch.server.otlp.spans import Span

MODEL_OPERATIONS = frozenset({"chat", "text_completion", "generate_content", "embeddings"})
"""Values of ``gen_ai.operation.name`` that are one exchange with a model; others (``invoke_agent``,
``execute_tool``, …) are what happens around such exchanges."""

_OPERATION = "gen_ai.operation.name"
_INPUT = ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.usage.prompt_tokens")
_OUTPUT = ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.usage.completion_tokens")
_NAMES: Mapping[str, Sequence[str]] = {
    "userId": ("user.id", "enduser.id"),
    "feature": ("loopwatch.feature", "gen_ai.agent.name", "gen_ai.agent.id"),
    "plan": ("loopwatch.plan",),
    "provider": ("gen_ai.provider.name", "gen_ai.system"),
    "requestModel": ("gen_ai.request.model",),
    "responseModel": ("gen_ai.response.model",),
    "inputTokens": _INPUT,
    "outputTokens": _OUTPUT,
    "cacheReadInputTokens": ("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens"),
    "cacheCreationInputTokens": (
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_creation_input_tokens",
    ),
    "reasoningOutputTokens": ("gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens"),
}
"""Each key of a row with the attributes that it is read from, the newest name first."""


def is_call(span: Span) -> bool:
    """Whether a span is an exchange with a model, by what it says of itself."""
    operation = span.attributes.get(_OPERATION)
    if operation is not None:
        return operation in MODEL_OPERATIONS
    return any(name in span.attributes for name in (*_INPUT, *_OUTPUT))


def leaves(every: Iterable[Span]) -> list[Span]:
    """The calls among the spans of a request without those that have another call below them."""
    spans = {(span.trace_id, span.span_id): span for span in every}
    calls = [span for span in spans.values() if is_call(span)]
    above: set[tuple[str, str]] = set()
    for span in calls:
        key = (span.trace_id, span.parent_id)
        while key in spans and key not in above:
            above.add(key)
            key = (key[0], spans[key].parent_id)
    return [span for span in calls if (span.trace_id, span.span_id) not in above]


def row(span: Span) -> dict[str, Any]:
    """A span as a row of ``/api/v1/calls``, to be judged like any other."""
    said = {**span.resource, **span.attributes}
    found: dict[str, Any] = {"eventId": f"{span.trace_id}:{span.span_id}", "at": span.end or None}
    for key, names in _NAMES.items():
        value = next((said[name] for name in names if name in said), None)
        if value is not None:
            found[key] = value
    if span.start and span.end >= span.start:
        found["latencyMs"] = (span.end - span.start) // 1_000_000
    return found
