"""The agent that loops while somebody looks: it sends the same growing question every few seconds."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from loopwatch.records.call import Call
from loopwatch.server.demo.company import LOOPING

SECONDS = 4
"""Between two of its calls: no person types that fast."""
BEFORE = timedelta(minutes=18)
"""Since when it has been going on."""
ROUND = 60
"""Calls after which its context is cut back, and grows anew."""


def until(now: datetime) -> Iterator[list[Call]]:
    """Its calls so far, by the minute."""
    for minute in range(int(BEFORE.total_seconds()) // 60, 0, -1):
        begin = now - timedelta(minutes=minute)
        yield [call(begin + timedelta(seconds=second)) for second in range(0, 60, SECONDS)]


def call(at: datetime) -> Call:
    """Its call at some time."""
    step = int(at.timestamp()) // SECONDS
    return Call(
        event_id=f"demo-loop-{step}",
        at=at,
        received_at=at,
        user_id=LOOPING,
        feature="research-agent",
        plan="pro",
        plan_revenue_usd=49.0,
        provider="openai",
        request_model="gpt-4o-mini",
        input_tokens=420 + 12 * (step % ROUND),
        output_tokens=60 + step % 7,
        latency_ms=900,
    )
