"""The channels that a project's settings name, made with what the server has to send with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from loopwatch.alerts.channels.channel import Channel
from loopwatch.alerts.channels.email.channel import Email
from loopwatch.alerts.channels.email.mailer import Mailer, NoMailer
from loopwatch.alerts.channels.slack import Slack
from loopwatch.alerts.channels.webhook.discord import Discord
from loopwatch.alerts.channels.webhook.pagerduty import PagerDuty
from loopwatch.alerts.channels.webhook.signed import SignedWebhook
from loopwatch.alerts.channels.webhook.teams import Teams
from loopwatch.alerts.posting import Poster
from loopwatch.clock import Clock, SystemClock
from loopwatch.config.destinations import AnyDestination
from loopwatch.config.project import ProjectSettings


@dataclass(frozen=True, slots=True)
class Kit:
    """What every channel may need, one for a process: a poster that is open, a mailer, a clock."""

    poster: Poster
    mailer: Mailer = field(default_factory=NoMailer)
    clock: Clock = field(default_factory=SystemClock)


_MAKERS: Mapping[str, Callable[[Any, Kit], Channel]] = {
    "slack": lambda settings, kit: Slack(settings, kit.poster),
    "email": lambda settings, kit: Email(settings, kit.mailer),
    "webhook": lambda settings, kit: SignedWebhook(settings, kit.poster, kit.clock),
    "discord": lambda settings, kit: Discord(settings.url, kit.poster),
    "teams": lambda settings, kit: Teams(settings.url, kit.poster),
    "pagerduty": lambda settings, kit: PagerDuty(settings, kit.poster),
}


def channel(settings: AnyDestination, kit: Kit) -> Channel:
    """The channel of these settings."""
    return _MAKERS[settings.type](settings, kit)


def channels(settings: ProjectSettings, kit: Kit) -> dict[str, Channel]:
    """The project's channels that are on, by their keys."""
    return {one.key: channel(one, kit) for one in settings.channels if one.enabled}
