"""Spans of an export request, whichever form it came in; of their attributes only plain values."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

MOST_SPANS = 10_000
"""Spans of one request that are looked at; exporters send 512 at most unless they are told otherwise."""
_PLAIN: dict[str, tuple[type, ...]] = {
    "stringValue": (str,),
    "boolValue": (bool,),
    "doubleValue": (int, float),
}
_WHOLE = re.compile("-?[0-9]{1,19}")


class Span(NamedTuple):
    """One span. Times are nanoseconds since 1970, 0 where they are unknown; ids are hex digits."""

    trace_id: str
    span_id: str
    parent_id: str
    start: int
    end: int
    attributes: dict[str, Any]
    resource: dict[str, Any]


def spans(request: Any) -> Iterator[Span | None]:
    """The spans of a decoded request; None for each that cannot be read as one."""
    for group in _objects(request, "resourceSpans"):
        resource = _attributes(group.get("resource"))
        for scope in _objects(group, "scopeSpans"):
            members = scope.get("spans")
            for one in members if isinstance(members, list) else ():
                yield _span(one, resource) if isinstance(one, dict) else None


def _span(one: dict[str, Any], resource: dict[str, Any]) -> Span | None:
    trace_id, span_id = one.get("traceId"), one.get("spanId")
    if not isinstance(trace_id, str) or not isinstance(span_id, str) or not trace_id or not span_id:
        return None
    parent = one.get("parentSpanId")
    return Span(
        trace_id.lower(),
        span_id.lower(),
        parent.lower() if isinstance(parent, str) else "",
        _number(one.get("startTimeUnixNano")),
        _number(one.get("endTimeUnixNano")),
        _attributes(one),
        resource,
    )


def _objects(value: Any, key: str) -> Iterator[dict[str, Any]]:
    """The objects in the list at ``key``."""
    members = value.get(key) if isinstance(value, dict) else None
    for member in members if isinstance(members, list) else ():
        if isinstance(member, dict):
            yield member


def _attributes(owner: Any) -> dict[str, Any]:
    """Texts, numbers and flags by their keys. What a prompt is made of, lists and objects, is left out."""
    plain: dict[str, Any] = {}
    for entry in _objects(owner, "attributes"):
        key, value = entry.get("key"), entry.get("value")
        if not isinstance(key, str) or not isinstance(value, dict):
            continue
        for kind, types in _PLAIN.items():
            if isinstance(value.get(kind), types):
                plain[key] = value[kind]
        if "intValue" in value:
            plain[key] = _number(value["intValue"])
    return plain


def _number(value: Any) -> int:
    """A 64-bit number; JSON writes it as text, because it has none so large. 0 for what is none."""
    if isinstance(value, str):
        return int(value) if _WHOLE.fullmatch(value) else 0
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
