"""Slack: the payload within its limits, inert whatever it holds, and what each answer means."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from loopwatch.alerts.channels.channel import test_message as a_test_message
from loopwatch.alerts.channels.slack import Slack, payload
from loopwatch.alerts.message import Row, Section
from loopwatch.alerts.posting import Poster
from loopwatch.config.destinations import SlackSettings
from loopwatch.errors import ChannelError
from loopwatch.records.delivery import Delivery, Place
from tests.alerts.samples import AT, BLOCK, HOSTILE, PUBLIC, digest, hostile, message
from tests.alerts.sinks import HttpSink, Reply, http_sink


def slack(sink: HttpSink, poster: Poster) -> Slack:
    return Slack(SlackSettings.model_construct(type="slack", url=sink.url), poster)


def delivery(body: str | None) -> Delivery:
    assert body is not None
    return Delivery("al_1.slack", Place("acme", "slack"), body, AT)


def texts(value: Any) -> list[str]:
    """Every text object's text, with the fallback."""
    if isinstance(value, dict):
        found = [value["text"]] if isinstance(value.get("text"), str) else []
        return found + [text for one in value.values() for text in texts(one)]
    return [text for one in value for text in texts(one)] if isinstance(value, list) else []


async def test_an_alert_arrives(poster: Poster) -> None:
    async with http_sink() as sink:
        channel = slack(sink, poster)
        await channel.send(delivery(channel.body(message(BLOCK, suppressed=2))))
    got = sink.received[0].json
    assert got["text"] == (
        "⚠️  loopwatch: possible agent loop detected\n```\n"
        "user_id:        usr_8f21c9\ntokens (5 min): 61,400\ncost so far:    $0.74\n"
        "feature:        research-agent\nmodel:          gpt-4o-mini\n```\n\n"
        f"→ {PUBLIC}/dashboard/users/usr_8f21c9\n\n"
        "2 more crossings since the last alert, kept quiet by the cooldown.\n"
        f"Block this user (asks you to sign in): {BLOCK}"
    )
    header, rows, links, context = got["blocks"]
    assert header["text"]["text"] == "⚠️  loopwatch: possible agent loop detected"
    assert [field["text"] for field in rows["fields"]] == [
        *("*user_id*\n`usr_8f21c9`", "*tokens (5 min)*\n`61,400`", "*cost so far*\n`$0.74`"),
        *("*feature*\n`research-agent`", "*model*\n`gpt-4o-mini`"),
    ]
    assert links["text"]["text"] == (
        f"<{PUBLIC}/dashboard/users/usr_8f21c9|Open the user's page>"
        f"  ·  <{BLOCK}|Block this user (asks you to sign in)>"
    )
    assert context["elements"][-1]["text"] == "alert al_1"  # a second one can be told to be the same


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("make", [hostile, digest])
def test_whatever_it_holds_it_is_inert_and_within_slacks_limits(make: Any, text: str) -> None:
    got = payload(make(text))
    json.dumps(got).encode()
    assert len(got["blocks"]) <= 50
    assert len(got["text"]) < 12_000
    for block in got["blocks"]:
        assert len(block.get("fields", ())) <= 10
        assert len(block.get("elements", ())) <= 10
        assert len(block.get("text", {}).get("text", "")) <= (150 if block["type"] == "header" else 3_000)
        assert all(len(field["text"]) <= 2_000 for field in block.get("fields", ()))
    ours = re.compile(rf"<{re.escape(PUBLIC)}/[\w/%.~-]*\|[\w' ()]+>")
    for said in texts(got):
        rest = ours.sub("", said)
        assert "<" not in rest
        assert ">" not in rest
        assert re.sub(r"&(amp|lt|gt);", "", rest).count("&") == 0
        assert rest.count("`") % 2 == 0


def test_many_long_spenders_are_cut_between_lines() -> None:
    rows = tuple(Row("&" * 60, "$1.00") for _ in range(10))
    section = payload(replace(digest(), sections=(Section("Top spenders", rows),)))["blocks"][2]["text"][
        "text"
    ]
    assert 2_500 < len(section) <= 3_000
    assert section.startswith("*Top spenders*\n`&amp;&amp;")
    assert section.endswith("` $1.00")


@pytest.mark.parametrize(
    ("reply", "reason", "permanent"),
    [
        (Reply(400, "invalid_payload"), "HTTP 400 invalid_payload", True),
        (Reply(403, "invalid_token\n"), "HTTP 403 invalid_token", True),
        (Reply(404, "no_service"), "HTTP 404 no_service", True),
        (Reply(410, "channel_is_archived"), "HTTP 410 channel_is_archived", True),
        (Reply(404, "<html>very-secret-path"), "HTTP 404", True),
        (Reply(500, "rollup_error"), "HTTP 500 rollup_error", False),
        (Reply(429, "", {"Retry-After": "30"}), "HTTP 429", False),
    ],
)
async def test_answers(poster: Poster, reply: Reply, reason: str, permanent: bool) -> None:  # noqa: FBT001
    async with http_sink(reply) as sink:
        channel = slack(sink, poster)
        with pytest.raises(ChannelError) as caught:
            await channel.send(delivery(channel.body(message())))
    assert str(caught.value) == f"127.0.0.1 answered {reason}"
    assert caught.value.permanent == permanent
    assert caught.value.retry_after == (30 if reply.status == 429 else None)


def test_a_test_and_a_digest_look_like_what_they_are() -> None:
    sample = a_test_message("acme", "slack", AT, f"{PUBLIC}/dashboard/settings")
    assert "this is a test" in payload(sample)["text"]
    assert [block["type"] for block in payload(digest())["blocks"]] == [
        *("header", "section", "section", "section", "section", "context")
    ]
