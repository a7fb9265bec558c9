"""Channels of a project: added, tried, switched off, removed. A secret is typed once and never shown."""

from collections.abc import Mapping
from typing import Any

from loopwatch.alerts.channels.channel import send_test
from loopwatch.errors import ChannelError, ConfigError, InputError
from loopwatch.server.console.desk import Desk
from loopwatch.server.console.figures import by_locus
from loopwatch.server.pages.forms import Form

NAMES = {
    "slack": "Slack",
    "email": "E-mail",
    "webhook": "Signed webhook",
    "discord": "Discord",
    "teams": "Microsoft Teams",
    "pagerduty": "PagerDuty",
}
FIELDS: Mapping[str, tuple[str, ...]] = {
    "slack": ("url",),
    "email": ("to",),
    "webhook": ("url", "secret"),
    "discord": ("url",),
    "teams": ("url",),
    "pagerduty": ("routingKey",),
}
"""What each kind needs to be told."""


async def listed(desk: Desk, tested: Mapping[str, str]) -> list[dict[str, Any]]:
    """The channels, secrets masked, each with the last message to it and what became of a test."""
    newest_first = await desk.server.store.outbox.progress(desk.project.id)
    last = {one.channel: one for one in reversed(newest_first)}
    shown = desk.current.settings.shown()["channels"]
    return [
        {
            "key": _key(one),
            "name": NAMES[one["type"]],
            "enabled": one["enabled"],
            "where": ", ".join(one["to"]) if one["type"] == "email" else one.get("url", ""),
            "last": last.get(_key(one)),
            "tested": tested.get(_key(one), ""),
        }
        for one in shown
    ]


def added(form: Form, desk: Desk) -> dict[str, Any]:
    """The channels with one more."""
    kind = form.text("type")
    if kind not in FIELDS:
        raise InputError(f"a channel is one of {', '.join(NAMES.values())}: choose one")
    new: dict[str, Any] = {"type": kind}
    for name in FIELDS[kind]:
        text = form.text(f"channel_{name}")
        new[name] = text.replace(",", " ").split() if name == "to" else text
    if form.text("channel_id"):
        new["id"] = form.text("channel_id")
    return {"channels": [*_masked(desk), new]}


def errors_of(error: ConfigError, index: int) -> dict[str, str]:
    """What is wrong with the channel at a place, by the fields of its form."""
    found = {}
    for locus, said in by_locus(error).items():
        name = locus.removeprefix(f"channels[{index}]").removeprefix(".").partition("[")[0]
        found[f"channel_{name}" if name and not name.startswith("channels") else "type"] = said
    return found


def changed(form: Form, desk: Desk, key: str) -> dict[str, Any]:
    """The channels with one of them switched or left out. Raises InputError where there is none."""
    every = _masked(desk)
    if key not in map(_key, every):
        raise InputError("the project has no such channel any more: open the settings again")
    match form.text("action"):
        case "remove":
            return {"channels": [one for one in every if _key(one) != key]}
        case "on" | "off":
            on = form.text("action") == "on"
            return {"channels": [one | {"enabled": on} if _key(one) == key else one for one in every]}
        case _:
            raise InputError("a channel can be switched on or off, tried, or removed")


async def tried(desk: Desk, key: str) -> str:
    """Send a test through a channel, and say why it was not taken; "" where it was."""
    server = desk.server
    channel = server.telling.channel(desk.current.settings, key)
    if channel is None:
        return "It is switched off: switch it on to try it."
    page = f"{server.telling.public_url}/dashboard/settings"
    try:
        await send_test(channel, desk.project.id, key, desk.now, page)
    except ChannelError as error:
        return f"The test was not taken: {error}."
    return ""


def _masked(desk: Desk) -> list[dict[str, Any]]:
    every: list[dict[str, Any]] = desk.current.settings.shown()["channels"]
    return every


def _key(one: Mapping[str, Any]) -> str:
    key: str = one.get("id") or one["type"]
    return key
