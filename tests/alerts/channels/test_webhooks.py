"""The signed webhook and the presets: what arrives, that it is inert, and how each is recognised."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from pydantic import SecretStr

from loopwatch.alerts.channels.webhook import discord, pagerduty, teams
from loopwatch.alerts.channels.webhook.signed import SignedWebhook
from loopwatch.alerts.message import Row, Section
from loopwatch.alerts.posting import Poster
from loopwatch.alerts.signature import HEADER, verify
from loopwatch.clock import ManualClock
from loopwatch.config.destinations import PagerDutySettings, WebhookSettings
from loopwatch.records.delivery import Delivery, Place
from tests.alerts.samples import AT, BLOCK, HOSTILE, PUBLIC, digest, hostile, message
from tests.alerts.sinks import HttpSink, http_sink

SECRET = "correct-horse-battery"
KEY = "0123456789abcdef0123456789abcdef"


def delivery(body: str | None) -> Delivery:
    assert body is not None
    return Delivery("al_1.hook", Place("acme", "hook"), body, AT)


def signed(sink: HttpSink, poster: Poster, clock: ManualClock) -> SignedWebhook:
    settings = WebhookSettings.model_construct(type="webhook", url=sink.url, secret=SecretStr(SECRET))
    return SignedWebhook(settings, poster, clock)


async def test_the_signed_webhook(poster: Poster, clock: ManualClock) -> None:
    async with http_sink() as sink:
        channel = signed(sink, poster, clock)
        sent = delivery(channel.body(message(BLOCK)))
        await channel.send(sent)
        clock.advance(3_600)
        await channel.send(sent)
    first, second = sink.received
    assert first.body == second.body
    assert verify(SECRET.encode(), first.headers[HEADER], first.body, AT)
    assert verify(SECRET.encode(), second.headers[HEADER], second.body, AT + timedelta(hours=1))
    assert first.headers["Idempotency-Key"] == second.headers["Idempotency-Key"] == "al_1.hook"
    got = first.json
    assert (got["type"], got["id"], got["projectId"], got["at"]) == (
        "alert",
        "al_1",
        "acme",
        "2026-11-28T02:15:30Z",
    )
    assert got["alert"]["userId"] == "usr_8f21c9"
    assert got["alert"]["costSoFar"] == 0.74
    assert got["alert"]["blockUrl"] == BLOCK
    assert got["text"].startswith("⚠️  loopwatch: possible agent loop detected\n\nuser_id:")


@pytest.mark.parametrize("text", HOSTILE)
async def test_programs_get_what_was_given_as_data(poster: Poster, clock: ManualClock, text: str) -> None:
    async with http_sink() as sink:
        channel = signed(sink, poster, clock)
        await channel.send(delivery(channel.body(hostile(text))))
        await channel.send(delivery(channel.body(digest(text))))
    alert, week = sink.received
    assert alert.json["alert"]["userId"] == text
    assert week.json["digest"]["spenders"][0]["userId"] == text
    assert alert.body.isascii()


async def test_discord(poster: Poster) -> None:
    async with http_sink() as sink:
        channel = discord.Discord(sink.url, poster)
        await channel.send(delivery(channel.body(message(BLOCK))))
    (embed,) = sink.received[0].json["embeds"]
    assert sink.received[0].json["allowed_mentions"] == {"parse": []}
    assert embed["url"] == f"{PUBLIC}/dashboard/users/usr_8f21c9"
    assert embed["fields"][0] == {"name": "user_id", "value": "`usr_8f21c9`", "inline": True}
    assert f"[Block this user]({BLOCK})" in embed["description"]
    assert embed["footer"]["text"] == "alert al_1"


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("make", [hostile, digest])
def test_discord_is_inert_and_within_its_limits(make: Any, text: str) -> None:
    (embed,) = discord.payload(make(text))["embeds"]
    json.dumps(embed).encode()
    assert len(embed["title"]) <= 256
    assert len(embed["description"]) <= 4_096
    assert len(embed["fields"]) <= 25
    for field in embed["fields"]:
        assert 0 < len(field["value"]) <= 1_024
        assert field["value"].count("`") % 2 == 0
    assert sum(len(field["name"]) + len(field["value"]) for field in embed["fields"]) < 6_000 - 256 - 2_000


def test_many_long_spenders_are_cut_between_lines() -> None:
    rows = tuple(Row("u" * 60, "$1.00, 3,000,000 tokens, 12 alerts") for _ in range(20))
    (embed,) = discord.payload(replace(digest(), sections=(Section("Top", rows),)))["embeds"]
    assert 900 < len(embed["fields"][-1]["value"]) <= 1_024
    assert embed["fields"][-1]["value"].endswith("alerts\n")


async def test_teams(poster: Poster) -> None:
    async with http_sink() as sink:
        channel = teams.Teams(sink.url, poster)
        await channel.send(delivery(channel.body(message(BLOCK))))
    got = sink.received[0].json
    card = got["attachments"][0]["content"]
    assert got["type"] == "message"
    assert got["attachments"][0]["contentType"] == "application/vnd.microsoft.card.adaptive"
    assert [run["text"] for run in card["body"][1]["inlines"]] == ["user_id: ", "usr_8f21c9"]
    assert [action["url"] for action in card["actions"]] == [f"{PUBLIC}/dashboard/users/usr_8f21c9", BLOCK]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("make", [hostile, digest])
def test_teams_reads_no_markdown_in_a_run_and_takes_28_kb(make: Any, text: str) -> None:
    card = teams.payload(make(text))["attachments"][0]["content"]
    assert {block["type"] for block in card["body"]} == {"RichTextBlock"}
    assert {run["type"] for block in card["body"] for run in block["inlines"]} == {"TextRun"}
    assert len(json.dumps(card)) < 20_000


async def test_pagerduty(poster: Poster) -> None:
    async with http_sink() as sink:
        settings = PagerDutySettings.model_construct(
            type="pagerduty", url=sink.url, routing_key=SecretStr(KEY)
        )
        channel = pagerduty.PagerDuty(settings, poster)
        body = channel.body(message(BLOCK))
        assert body is not None
        assert KEY not in body
        await channel.send(delivery(body))
        assert channel.body(digest()) is None
    got = sink.received[0].json
    assert (got["routing_key"], got["event_action"]) == (KEY, "trigger")
    assert got["payload"]["severity"] == "warning"
    assert got["payload"]["summary"] == "loopwatch: possible agent loop detected (usr_8f21c9)"
    assert got["payload"]["custom_details"]["tokens (5 min)"] == "61,400"
    assert [link["href"] for link in got["links"]] == [f"{PUBLIC}/dashboard/users/usr_8f21c9", BLOCK]


@pytest.mark.parametrize("text", HOSTILE)
def test_one_incident_is_one_user_of_one_project(text: str) -> None:
    def key(**changes: Any) -> str:
        said = message(**changes)
        assert said.incident is not None
        return str(pagerduty.event(said, said.incident)["dedup_key"])

    assert key(user_id=text) == key(user_id=text, id="al_2", rule="cost", observed=1, threshold=0)
    assert key(user_id=text) != key(user_id="other")
    assert key(user_id=text) != key(user_id=text, project_id="other")
    assert len(key(user_id=text)) <= 255
