"""How projects are told: an alert becomes a draft for each of their channels."""

from collections.abc import Sequence
from dataclasses import dataclass

from loopwatch.alerts.alert import alert_message
from loopwatch.alerts.channels.channel import Channel
from loopwatch.alerts.channels.registry import Kit, channel, channels
from loopwatch.alerts.links import BlockLinks
from loopwatch.alerts.message import Message
from loopwatch.alerts.outbox import drafts
from loopwatch.alerts.storm import storm_message
from loopwatch.config.project import ProjectSettings
from loopwatch.records.alert import Alert
from loopwatch.records.delivery import Draft


@dataclass(frozen=True, slots=True)
class Telling:
    """How projects are told: their channels, made with what this server has to send with.

    ``links`` makes the link that blocks a user; None where the server has no secret to sign it with.
    """

    kit: Kit
    public_url: str
    links: BlockLinks | None = None

    def compose(self, alert: Alert, settings: ProjectSettings) -> Sequence[Draft]:
        """An alert for each channel that the settings name. No I/O: it runs inside a transaction."""
        if not settings.channels:
            return ()
        block_url = None
        if self.links is not None:
            block_url = self.links.link(alert.project_id, alert.user_id, alert.id, alert.at)
        return self.drafts(alert_message(alert, self.public_url, block_url), settings)

    def summarise(self, alerts: Sequence[Alert], settings: ProjectSettings) -> Sequence[Draft]:
        """Alerts that are told together, the worst first, for each channel that the settings name."""
        return self.drafts(storm_message(alerts, self.kit.clock.now(), self.public_url), settings)

    def drafts(self, message: Message, settings: ProjectSettings) -> list[Draft]:
        """A message for each channel that the settings name."""
        return list(drafts(message, channels(settings, self.kit)))

    def channel(self, settings: ProjectSettings, key: str) -> Channel | None:
        """The channel of that name, if there is one and it is on."""
        found = settings.destination(key)
        return None if found is None else channel(found, self.kit)
