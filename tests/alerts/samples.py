"""Alerts to send, and user ids that wish us no good."""

from datetime import UTC, datetime
from typing import Any

from loopwatch.alerts.alert import alert_message
from loopwatch.alerts.digest import Spender, Week, digest_message
from loopwatch.alerts.message import Message
from loopwatch.alerts.storm import storm_message
from loopwatch.records.alert import Alert

PUBLIC = "https://watch.example.com"
AT = datetime(2026, 11, 28, 2, 15, 30, tzinfo=UTC)
BLOCK = f"{PUBLIC}/dashboard/block/abc.def"

HOSTILE = [
    "<!channel> <@U123> <https://evil.example|click>",
    "</code><script>alert(1)</script><img src=x onerror=alert(1)>",
    "a\r\nBcc: everyone@example.com\r\n\r\nbody",
    "\u202eevil\u2066\u200f",
    "x" * 10_000,
    "`*_~@channel [click](https://evil.example) `",
    "null\0byte\x1b[31m",
    "\ud800half",
    "👩‍👩‍👧 שלום",
    "&amp;" * 50,
]


def alert(**changes: Any) -> Alert:
    """The seed's example."""
    seed: dict[str, Any] = {
        "id": "al_1",
        "project_id": "acme",
        "user_id": "usr_8f21c9",
        "rule": "velocity",
        "observed": 61_400,
        "threshold": 50_000,
        "tokens": 61_400,
        "window_seconds": 300.0,
        "window_cost_nano": 36_840_000,
        "window_calls": 12,
        "window_unpriced": 0,
        "month_cost_nano": 740_000_000,
        "month_unpriced": 0,
        "feature": "research-agent",
        "provider": "openai",
        "model": "gpt-4o-mini",
        "plan": "pro",
        "at": AT,
        "suppressed": 0,
    }
    return Alert(**seed | changes)


def message(block_url: str | None = None, **changes: Any) -> Message:
    """What the example says."""
    return alert_message(alert(**changes), PUBLIC, block_url)


def hostile(text: str) -> Message:
    """A message in which every text of a customer's users is ``text``."""
    return message(BLOCK, user_id=text, feature=text, model=text)


def digest(user_id: str = "usr_1") -> Message:
    """A week with a spender or two."""
    week = Week(
        project="acme",
        until=datetime(2026, 11, 30, tzinfo=UTC),
        calls=1_204,
        users=2,
        tokens=3_400_000,
        cost=42_500_000_000,
        cost_before=20_000_000_000,
        unpriced_calls=3,
        alerts=1,
        spenders=(
            Spender("steady", 2_500_000_000, 400_000, 2_400_000_000),
            Spender(user_id, 40_000_000_000, 3_000_000, 1_000_000_000, alerts=1),
        ),
    )
    return digest_message(week, datetime(2026, 11, 30, 9, tzinfo=UTC), PUBLIC)


def storm(count: int = 25, **changes: Any) -> Message:
    """So many users over their limit at once, the worst first."""
    users = [
        alert(**{"id": f"al_{n}", "user_id": f"usr_{n}", "tokens": 90_000 - n, **changes})
        for n in range(count)
    ]
    return storm_message(users, AT, PUBLIC)
