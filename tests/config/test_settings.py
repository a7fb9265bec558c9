"""A project's settings: defaults, every defect at once, and secrets that do not come out."""

import json
from typing import Any

import pytest

from loopwatch.config.destinations import KINDS, MASK
from loopwatch.config.project import ProjectSettings
from loopwatch.config.reach import EVERYWHERE, Reach
from loopwatch.config.settings import read_settings, unmasked
from loopwatch.errors import ConfigError

SLACK = "https://hooks.slack.com/services/T1/B1/s3cr3t-p4th"
SECRET = "correct-horse-battery"
KEY = "0123456789abcdef0123456789abcdef"
CHANNELS: list[dict[str, Any]] = [
    {"type": "slack", "url": SLACK},
    {"type": "email", "to": ["oncall@example.com", "cfo@example.com"]},
    {"type": "webhook", "id": "ours", "url": "https://example.com/in?token=abc", "secret": SECRET},
    {"type": "discord", "url": "https://discord.com/api/webhooks/1/s3cr3t"},
    {"type": "teams", "url": "https://prod.logic.azure.com/workflows/1?sig=s3cr3t", "enabled": False},
    {"type": "pagerduty", "routingKey": KEY},
]


def settings(*channels: dict[str, Any], reach: Reach = Reach(), **others: Any) -> ProjectSettings:  # noqa: B008
    return read_settings({"channels": list(channels), **others}, reach)


def defects(document: dict[str, Any], reach: Reach = Reach()) -> list[str]:  # noqa: B008
    with pytest.raises(ConfigError) as caught:
        read_settings(document, reach)
    return [str(defect) for defect in caught.value.defects]


def test_every_kind_of_channel() -> None:
    found = settings(*CHANNELS, weeklyDigest=True, tokenThreshold=80_000)
    assert [one.key for one in found.channels] == ["slack", "email", "ours", "discord", "teams", "pagerduty"]
    assert {one.type for one in found.channels} == set(KINDS)
    assert found.destination("ours") is found.channels[2]
    assert found.destination("teams") is None  # off
    assert found.destination("gone") is None


def test_every_defect_is_told_at_once() -> None:
    document = {
        "tokenThreshold": 0,
        "tokenTreshold": 1,
        "unknownShare": 2,
        "costThresholdUsd": float("nan"),
        "caps": {"pro": {"monthlyUsd": 1, "actoin": "block"}},
        "channels": [
            {"type": "slack"},
            {"type": "smoke"},
            {"type": "email", "to": [], "cc": []},
            {"type": "email", "to": ["a b@example.com"]},
            17,
        ],
    }
    assert defects(document) == [
        "tokenThreshold = 0: must be a whole number of at least 1",
        "costThresholdUsd = NaN: must be a finite number above 0",
        "unknownShare = 2: must be a number from 0 to 1",
        "channels[0].url: is missing: it has no default",
        'channels[1].type = "smoke": must be one of slack, email, webhook, discord, teams, pagerduty',
        "channels[2].to = []: must have at least one entry",
        "channels[2].cc: is no key here: there is id, enabled, type, to",
        'channels[3].to[0] = "a b@example.com": must be a plain e-mail address, such as oncall@example.com',
        "channels[4] = 17: must be an object { … }",
        "caps.pro.actoin: is no key here: did you mean `action`?",
        "tokenTreshold: is no key here: did you mean `tokenThreshold`?",
        "channels[3].id: must be unique: another channel is called email",
    ]


@pytest.mark.parametrize("channels", [{}, [[]], None, 1, [None], [{"type": []}], "x"])
def test_whatever_the_channels_are_they_are_judged(channels: object) -> None:
    assert defects({"channels": channels})


def test_too_many_channels_and_recipients() -> None:
    many = [{"type": "slack", "id": f"s{n}", "url": SLACK} for n in range(21)]
    assert defects({"channels": many}) == ["channels: must have at most 20 entries"]
    to = [f"u{n}@example.com" for n in range(21)]
    (line,) = defects({"channels": [{"type": "email", "to": to}]})
    assert line.endswith("must have at most 20 addresses: use a mailing list")


@pytest.mark.parametrize(
    "address",
    [
        "",
        "x",
        "a@b\nBcc: c@d",
        "a@b,c@d",
        "<a@b>",
        "A <a@b>",
        "a@é.com",
        f"{'a' * 65}@b.c",
        "a@" + "b." * 130,
    ],
)
def test_a_recipient_is_a_plain_address(address: str) -> None:
    assert defects({"channels": [{"type": "email", "to": [address]}]})


@pytest.mark.parametrize(
    "channel",
    [
        {"type": "slack", "url": "http://hooks.slack.com/s3cr3t"},
        {"type": "slack", "url": "https://10.0.0.1/s3cr3t"},
        {"type": "slack", "url": "https://user:s3cr3t@example.com/"},
        {"type": "slack", "url": "s3cr3t"},
        {"type": "slack", "url": 17},
        {"type": "webhook", "url": SLACK, "secret": "s3cr3t"},
        {"type": "pagerduty", "routingKey": "s3cr3t"},
        {"type": "pagerduty", "routing_key": "s3cr3t-s3cr3t-s3cr3t"},
        {"type": "slack", "url": SLACK, "secret": "s3cr3t"},
    ],
)
def test_no_message_repeats_what_may_be_a_secret(channel: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as caught:
        settings(channel)
    assert "s3cr3t" not in f"{caught.value} {[defect.as_dict() for defect in caught.value.defects]}"


def test_an_operator_may_allow_more() -> None:
    local = {"type": "slack", "url": "http://127.0.0.1:9/x"}
    assert len(defects({"channels": [local]})) == 1
    assert len(defects({"channels": [local]}, Reach(plain_http=True))) == 1
    assert settings(local, reach=EVERYWHERE).channels


def test_secrets_are_in_no_repr_and_masked_for_whoever_may_see() -> None:
    found = settings(*CHANNELS)
    text = json.dumps(found.shown()) + repr(found) + str(found)
    for secret in ("s3cr3t", "abc", SECRET, KEY):
        assert secret not in text
    channels = found.shown()["channels"]
    assert channels[0] == {"enabled": True, "type": "slack", "url": f"https://hooks.slack.com/{MASK}"}
    assert channels[2]["secret"] == MASK


def test_what_is_stored_comes_back_whole_even_where_it_would_be_refused_today() -> None:
    found = settings(
        *CHANNELS, {"type": "slack", "id": "local", "url": "http://127.0.0.1/x"}, reach=EVERYWHERE
    )
    assert read_settings(found.document(), EVERYWHERE) == found
    assert SLACK in json.dumps(found.document())


def revised(before: ProjectSettings, document: dict[str, Any]) -> ProjectSettings:
    """What whoever stores settings does with a document that was shown and comes back."""
    return read_settings(unmasked(document, before.document()))


def test_a_mask_that_comes_back_keeps_the_secret_that_there_is() -> None:
    before = settings(*CHANNELS)
    document = before.shown() | {"tokenThreshold": 70_000}
    after = revised(before, document)
    assert after.document() == before.document() | {"tokenThreshold": 70_000}
    document["channels"][0]["url"] = "https://hooks.slack.com/services/new"
    assert "services/new" in json.dumps(revised(before, document).document())


def test_a_mask_is_no_secret_where_there_was_none() -> None:
    before = settings()
    for channel in (
        {"type": "slack", "url": f"https://a.example/{MASK}"},
        {"type": "pagerduty", "routingKey": MASK},
    ):
        with pytest.raises(ConfigError):
            revised(before, {"channels": [channel]})
    swapped = [{"type": "discord", "id": "slack", "url": f"https://a.example/{MASK}"}]
    with pytest.raises(ConfigError):
        revised(settings(*CHANNELS), {"channels": swapped})
    for other in (1, [1]):
        with pytest.raises(ConfigError):
            revised(before, {"channels": other})


def test_the_settings_have_a_schema_for_the_api_document() -> None:
    schema = ProjectSettings.model_json_schema()
    assert schema["properties"]["tokenThreshold"]["default"] == 50_000
    assert "channels" in schema["properties"]
