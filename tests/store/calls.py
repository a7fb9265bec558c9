"""Calls to log, and what they cost here."""

import itertools
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from loopwatch.clock import Clock
from loopwatch.records.call import Call
from loopwatch.store.opening import Store

_NUMBERS = itertools.count()


def price_of(call: Call, settings: object = None) -> int | None:
    """A thousandth of a dollar a thousand tokens; models named "mystery" have no price."""
    del settings
    if call.request_model == "mystery":
        return None
    return (call.input_tokens + call.output_tokens) * 1_000


def a_call(clock: Clock, tokens: int = 10_000, user: str | None = "u1", **changes: Any) -> Call:
    """A call of so many tokens, now."""
    now: datetime = clock.now()
    ago: float = changes.pop("ago", 0)
    values: dict[str, Any] = {
        "event_id": f"event-{next(_NUMBERS)}",
        "at": now - timedelta(seconds=ago),
        "received_at": now,
        "user_id": user,
        "feature": "research-agent",
        "provider": "openai",
        "request_model": "gpt-4o-mini",
        "input_tokens": tokens,
    }
    return Call(**{**values, **changes})


async def log(store: Store, project_id: str, *calls: Call) -> Sequence[str]:
    """Log calls in one batch."""
    return await store.writer.log(project_id, calls)


async def alerts_of(store: Store, project_id: str) -> list[tuple[str, int, int]]:
    """User, tokens and suppressed crossings of each alert, oldest first."""
    raised = await store.alerts.list(project_id)
    return [(one.alert.user_id, one.alert.tokens, one.alert.suppressed) for one in reversed(raised)]
