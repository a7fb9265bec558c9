"""One logged model call: who made it, what it used, what was thrown away on the way. Never any text of it.

Names are OpenTelemetry's (``gen_ai.usage.input_tokens``); on the wire they are in camelCase, by one
rename. Whoever sends calls encodes this; what arrives is read by ``row``, which trusts nothing.
"""

from datetime import datetime
from typing import Literal, get_args

import msgspec

UsageSource = Literal["provider", "estimated", "reconciled", "unknown"]
"""Where the tokens come from: the provider's own count, our estimate (a stream that was cut), the
provider's count learnt later, or nowhere."""
USAGE_SOURCES: tuple[UsageSource, ...] = get_args(UsageSource)


class Call(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One model call with usage. Dates are in UTC, ``latency_ms`` in milliseconds, prices in dollars.

    ``input_tokens`` includes what was read from a cache and what was written to one, ``output_tokens``
    includes reasoning, as in ``wire.usage``. ``user_id`` None is anonymous. ``at`` is when the call
    counts, bounded by our clock; ``received_at`` is when it arrived.
    """

    event_id: str
    at: datetime
    received_at: datetime
    user_id: str | None = None
    feature: str | None = None
    plan: str | None = None
    plan_revenue_usd: float | None = None
    provider: str = "unknown"
    request_model: str = "unknown"
    response_model: str | None = None
    input_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    output_tokens: int = 0
    reasoning_output_tokens: int = 0
    usage_source: UsageSource = "provider"
    estimate_method: str | None = None
    """How tokens were estimated, where they were."""
    provider_cost_usd: float | None = None
    """What the provider billed, in dollars, where it was asked later: only of a ``reconciled`` call."""
    latency_ms: int | None = None
    loop_aborts: int = 0
    """Replies that looped and were thrown away before this call's own was accepted, or it failed."""
    loop_abort_words: int = 0
    loop_abort_chars: int = 0
    loop_rule: str | None = None
    generation_ids: tuple[str, ...] = ()
    """Under which the provider may be asked for the price of what was thrown away."""

    @property
    def model(self) -> str:
        """The model that is billed: the one that answered where that is known."""
        return self.response_model or self.request_model

    @property
    def fresh_tokens(self) -> int:
        """What the window counts in full: all input but cached reads, cache writes, and output."""
        return self.input_tokens - self.cache_read_input_tokens + self.output_tokens
