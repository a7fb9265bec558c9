"""Rows as clients send them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from loopwatch.records.call import Call
from loopwatch.records.row import Arrival, read_row

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
ARRIVAL = Arrival(NOW, timedelta(minutes=5))

WECKR: dict[str, Any] = {
    "userId": "usr_8f21c9",
    "feature": "research-agent",
    "model": "gpt-4o-mini",
    "provider": "openai",
    "inputTokens": 1000,
    "outputTokens": 500,
    "cachedInputTokens": 600,
    "cacheCreationTokens": 0,
    "costUsd": 0.00675,
    "latencyMs": 812,
    "eventId": "5f0c7f0e-6f3a-4d0e-9d55-0d2f6f6f8a11",
    "planName": "pro",
    "planRevenueUsd": 49.0,
    "marginUsd": 48.99,
    "timestamp": "2026-11-30T11:59:59.250000+00:00",
}
"""What ``weckr-sdk`` 0.3.0 sends, key for key."""

OTEL: dict[str, Any] = {
    "eventId": "e1",
    "at": "2026-11-30T11:59:59Z",
    "userId": "u1",
    "provider": "anthropic",
    "requestModel": "claude-sonnet-4-6",
    "responseModel": "claude-sonnet-4-6-20260101",
    "inputTokens": 1300,
    "cacheReadInputTokens": 600,
    "cacheCreationInputTokens": 300,
    "outputTokens": 200,
    "reasoningOutputTokens": 50,
    "usageSource": "estimated",
    "estimateMethod": "chars/latin/3.9",
    "loopAborts": 2,
    "loopAbortWords": 6130,
    "loopAbortChars": 24522,
    "loopRule": "words",
    "generationIds": ["gen-1", "gen-2"],
}
"""What ``POST /api/v1/calls`` takes."""


def taken(row: object, arrival: Arrival = ARRIVAL) -> Call:
    """The call that a row is."""
    call = read_row(row, arrival)
    assert isinstance(call, Call), call
    return call


def refused(row: object, arrival: Arrival = ARRIVAL) -> str:
    """Why a row is none."""
    result = read_row(row, arrival)
    assert not isinstance(result, Call)
    return result.reason
