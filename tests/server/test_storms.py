"""Many users over the line at once, seen from outside: few messages, every alert in the list."""

import asyncio
from datetime import UTC, datetime

import pytest

from loopwatch.clock import ManualClock
from tests.alerts.sinks import http_sink
from tests.server.house import House


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime(2026, 11, 18, 12, tzinfo=UTC))


async def test_a_storm_is_a_few_messages_and_every_alert(house: House, clock: ManualClock) -> None:
    async with http_sink() as sink:
        slack = {"type": "slack", "url": sink.url.get_secret_value()}
        await house.set(channels=[slack], alertBurst=2)
        rows = [
            {
                "userId": f"u{n}",
                "provider": "openai",
                "requestModel": "gpt-4o-mini",
                "inputTokens": 60_000 + n,
            }
            for n in range(40)
        ]
        answer = await house.ask("POST", "/api/v1/calls", json=rows)
        assert answer.json == {"accepted": 40, "rejected": []}

        async def posts(count: int) -> list[str]:
            for _ in range(200):
                if len(sink.received) >= count:
                    break
                clock.advance(1)  # a webhook of Slack's takes one message a second
                await asyncio.sleep(0.05)
            return [one.json["text"] for one in sink.received]

        first = await posts(2)
        assert ["u39" in first[0], "u38" in first[1]] == [True, True]
        clock.advance(60)
        await posts(3)
    assert len(sink.received) == 3
    summary = sink.received[2].json["text"]
    assert "38 more users crossed a limit within a minute" in summary
    assert summary.index("u37") < summary.index("u28")
    assert "u27" not in summary
    assert "28 more are in the list of alerts" in summary
    alerts = (await house.get(f"/api/v1/alerts/{house.project}?limit=100"))["alerts"]
    assert len(alerts) == 40
    told = [(one["channel"], one["state"]) for alert in alerts for one in alert["deliveries"]]
    assert (told.count(("slack", "delivered")), told.count(("summary", "folded"))) == (2, 38)
