"""One row as a client sent it becomes a ``Call``, or a reason why not. A bad row never refuses its batch.

Two spellings arrive and are told apart by their keys, not by the route: the one of ``weckr-sdk``
(``inputTokens`` includes cache reads, ``cacheCreationTokens`` come on top) and OpenTelemetry's in
camelCase (``inputTokens`` includes both, ``cacheCreationInputTokens`` is a part of it). Keys that are
not known are ignored and nothing of them is kept, so a prompt that is sent by mistake goes nowhere.
What the client says about cost is not even read, but for the provider's bill of a reconciled call.
"""

import re
import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple, cast

from loopwatch.errors import InputError
from loopwatch.records.call import USAGE_SOURCES, Call, UsageSource
from loopwatch.records.identity import Pseudonym, addressed, personal
from loopwatch.records.moments import clamped, read_moment

MOST_TOKENS = 1_000_000_000
"""A thousand times the largest context there is: beyond it a count is a mistake, and would drown a sum."""
MOST_CHARS = 256
"""Longest name of a user, a feature, a model, an event; longer ones are no names."""
MOST_GENERATIONS = 64
MOST_USD = 1_000_000.0
"""Highest monthly price of a plan that is believed."""
_SURROGATE = re.compile("[\ud800-\udfff]")
"""With NUL, what PostgreSQL's text cannot hold."""


class Refused(NamedTuple):
    """Why a row was not taken, in words for whoever sent it; no text of the row but its keys."""

    reason: str


class Arrival(NamedTuple):
    """What the server knows about a row that the row does not say.

    ``window`` is the project's, ``pseudonym`` its way to keep names that look personal, if it chose one.
    """

    received_at: datetime
    window: timedelta
    pseudonym: Pseudonym | None = None


def read_row(row: object, arrival: Arrival) -> Call | Refused:
    """Read one row, already decoded from JSON. Never raises."""
    if not isinstance(row, Mapping):
        return Refused("the row is no JSON object")
    try:
        return _read(row, arrival)
    except InputError as error:
        return Refused(str(error))


def _read(row: Mapping[str, Any], arrival: Arrival) -> Call:
    tokens = _tokens(row)
    source = _source(row)
    if source is None:
        source = "provider" if any(tokens.values()) else "unknown"  # a call that failed has no usage
    received, pseudonym = arrival.received_at, arrival.pseudonym
    return Call(
        # 0.1.x sends none, so nothing can be deduced
        event_id=_label(row, pseudonym, "eventId") or str(uuid.uuid4()),
        at=clamped(read_moment(row.get("at") or row.get("timestamp")), received, arrival.window),
        received_at=received,
        user_id=name(_text(row, "userId"), "userId", pseudonym),
        feature=name(_text(row, "feature"), "feature", pseudonym),
        plan=name(_text(row, "plan", "planName"), "plan", pseudonym),
        plan_revenue_usd=_price(row, "planRevenueUsd"),
        provider=_label(row, pseudonym, "provider", "providerName") or "unknown",
        request_model=_label(row, pseudonym, "requestModel", "model") or "unknown",
        response_model=_label(row, pseudonym, "responseModel"),
        usage_source=source,
        estimate_method=_label(row, pseudonym, "estimateMethod"),
        provider_cost_usd=_price(row, "providerCostUsd") if source == "reconciled" else None,
        latency_ms=_latency(row.get("latencyMs")),
        loop_aborts=_count(row, "loopAborts"),
        loop_abort_words=_count(row, "loopAbortWords"),
        loop_abort_chars=_count(row, "loopAbortChars"),
        loop_rule=_label(row, pseudonym, "loopRule"),
        generation_ids=_generations(row, pseudonym),
        **tokens,
    )


def name(text: str | None, key: str, pseudonym: Pseudonym | None) -> str | None:
    """The name of a user, feature or plan as it may be kept; the same for a row and for a question about it.

    Raises InputError with the reason where it looks personal and the project hashes nothing.
    """
    return _kept(text, key, personal(text) if text else None, pseudonym)


def _label(row: Mapping[str, Any], pseudonym: Pseudonym | None, key: str, other: str = "") -> str | None:
    """What a machine calls a thing: any digits are right there, an e-mail address is not."""
    text = _text(row, key, other)
    return _kept(text, key, addressed(text) if text else None, pseudonym)


def _kept(text: str | None, key: str, looks_like: str | None, pseudonym: Pseudonym | None) -> str | None:
    if text is None or looks_like is None:
        return text
    if pseudonym is not None:
        return pseudonym(text)
    raise InputError(f"{key} looks like {looks_like}: send an id of your own, or set pseudonymise")


def _tokens(row: Mapping[str, Any]) -> dict[str, int]:
    """All counts under our names. Parts never exceed their whole: gateways have reported such."""
    written = _count(row, "cacheCreationTokens")
    total = _count(row, "inputTokens") + written
    read = min(_count(row, "cacheReadInputTokens", "cachedInputTokens"), total - written)
    output = _count(row, "outputTokens")
    return {
        "input_tokens": total,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": min(written or _count(row, "cacheCreationInputTokens"), total - read),
        "output_tokens": output,
        "reasoning_output_tokens": min(_count(row, "reasoningOutputTokens", "reasoningTokens"), output),
    }


def _count(row: Mapping[str, Any], key: str, other: str = "") -> int:
    """A whole number from 0 on; 0 where it is absent or null."""
    value = row.get(key)
    if value is None and other:
        value = row.get(other)
    if type(value) is int and 0 <= value <= MOST_TOKENS:
        return value
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_TOKENS:
        raise InputError(f"{key} must be a whole number from 0 to {MOST_TOKENS}")
    if value != int(value):
        raise InputError(f"{key} must be a whole number, not a fraction")
    return int(value)


def _text(row: Mapping[str, Any], key: str, other: str = "") -> str | None:
    """A name; None where it is absent, null or blank. Case and inner spaces are the sender's."""
    value = row.get(key)
    if value is None and other:
        value = row.get(other)
    if value is None:
        return None
    if not isinstance(value, str):
        raise InputError(f"{key} must be text or null")
    if len(value) > MOST_CHARS:
        raise InputError(f"{key} is longer than {MOST_CHARS} characters")
    if "\x00" in value or not (value.isascii() or _SURROGATE.search(value) is None):
        raise InputError(f"{key} holds a character that cannot be stored")
    return value if value and not value.isspace() else None


def _price(row: Mapping[str, Any], key: str) -> float | None:
    value = row.get(key)
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= MOST_USD:  # NaN is neither
        raise InputError(f"{key} must be an amount in dollars from 0 to {MOST_USD:.0f}, or null")
    return float(value)


def _latency(value: Any) -> int | None:
    """Milliseconds; None for what is none, since a figure beside the point must not cost the call."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return round(value) if is_number and 0 <= value <= MOST_TOKENS else None


def _source(row: Mapping[str, Any]) -> UsageSource | None:
    value = row.get("usageSource")
    if value is None:
        return None
    if value not in USAGE_SOURCES:
        raise InputError(f"usageSource must be one of {', '.join(USAGE_SOURCES)}")
    return cast("UsageSource", value)


def _generations(row: Mapping[str, Any], pseudonym: Pseudonym | None) -> tuple[str, ...]:
    value = row.get("generationIds")
    if value is None:
        return ()
    if not isinstance(value, list | tuple) or len(value) > MOST_GENERATIONS:
        raise InputError(f"generationIds must be a list of at most {MOST_GENERATIONS} texts")
    ids = (_label({"generationIds": one}, pseudonym, "generationIds") for one in value)
    return tuple(one for one in ids if one is not None)
