"""Channels from settings: each kind is made, tests are sent past the outbox, secrets stay where they are."""

import asyncio
import logging

import pytest

from loopwatch.alerts.channels.channel import send_test
from loopwatch.alerts.channels.registry import Kit, channel, channels
from loopwatch.alerts.courier import Courier
from loopwatch.alerts.memory import MemoryOutbox
from loopwatch.alerts.outbox import drafts
from loopwatch.alerts.posting import Poster
from loopwatch.clock import ManualClock
from loopwatch.config.destinations import KINDS
from loopwatch.config.project import ProjectSettings
from loopwatch.config.reach import EVERYWHERE
from loopwatch.config.settings import read_settings
from loopwatch.errors import ChannelError
from loopwatch.records.delivery import Place
from tests.alerts.channels.fakes import Fixed
from tests.alerts.samples import AT, BLOCK, PUBLIC, message
from tests.alerts.sinks import PATH, HttpSink, Reply, http_sink

KEY = "0123456789abcdef0123456789canary"
SETTINGS_URL = f"{PUBLIC}/dashboard/settings"


def settings(sink: HttpSink) -> ProjectSettings:
    url = sink.url.get_secret_value()
    return read_settings(
        {
            "channels": [
                *({"type": kind, "url": url} for kind in ("slack", "discord", "teams")),
                {"type": "webhook", "url": url, "secret": "canary-canary-canary"},
                {"type": "pagerduty", "url": url, "routingKey": KEY},
                {"type": "email", "to": ["oncall@example.com"]},
                {"type": "slack", "id": "off", "url": url, "enabled": False},
            ]
        },
        EVERYWHERE,
    )


async def test_every_kind_is_made_and_those_that_are_off_are_not(poster: Poster, clock: ManualClock) -> None:
    async with http_sink() as sink:
        found = channels(settings(sink), Kit(poster, clock=clock))
    assert set(found) == set(KINDS)


async def test_a_test_is_sent_by_every_kind(poster: Poster, clock: ManualClock) -> None:
    async with http_sink() as sink:
        for key, one in channels(settings(sink), Kit(poster, clock=clock)).items():
            if key != "email":
                await send_test(one, "acme", key, AT, SETTINGS_URL)
    assert len(sink.received) == len(KINDS) - 1
    assert all(b"this is a test" in one.body for one in sink.received)
    await send_test(Fixed(None), "acme", "none", AT, SETTINGS_URL)


async def test_a_test_that_fails_says_why(poster: Poster, clock: ManualClock) -> None:
    async with http_sink(Reply(404, "no_service")) as sink:
        slack = channel(settings(sink).channels[0], Kit(poster, clock=clock))
        with pytest.raises(ChannelError, match=r"^127.0.0.1 answered HTTP 404 no_service$"):
            await send_test(slack, "acme", "slack", AT, SETTINGS_URL)


async def test_no_secret_is_kept_logged_or_shown_whatever_happens(
    poster: Poster, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with http_sink(*[Reply(500, PATH), Reply(404, PATH)] * 4) as sink:
        found = channels(settings(sink), Kit(poster, clock=clock))

        async def find(place: Place) -> Fixed | None:
            return found.get(place.channel)  # type: ignore[return-value]

        outbox = MemoryOutbox()
        outbox.write(drafts(message(BLOCK), found), AT)
        courier = Courier(outbox, find, clock)
        work = asyncio.ensure_future(courier.deliver_forever())
        while not {one.state for one in outbox.entries.values()} <= {"delivered", "dead"}:
            await asyncio.sleep(0.002)
            clock.advance(1)
        courier.stop()
        await work
    kept = [f"{one.last_error} {one.draft.body} {one!r}" for one in outbox.entries.values()]
    text = " ".join([*kept, caplog.text, repr(found), repr(settings(sink))])
    assert "secret-path" not in text
    assert "canary" not in text
    assert {one.state for one in outbox.entries.values()} == {"delivered", "dead"}
