"""PagerDuty's Events API v2: one open incident for each user of a project, however many alerts follow.

All storms of a project are one more. The routing key is no part of what is kept; it is added when
the event is sent. No digest goes there: it is nothing to be woken up for.
"""

import hashlib
import json
from typing import Any

from loopwatch.alerts.message import BLOCK_LABEL, Message
from loopwatch.alerts.posting import Poster
from loopwatch.alerts.wording import cut
from loopwatch.config.destinations import PagerDutySettings
from loopwatch.records.delivery import Delivery

MOST_SUMMARY = 1_024


class PagerDuty:
    """A PagerDuty integration. Events of one incident are folded by their key: a second delivery is too."""

    pace = 0.5
    """120 events a minute are taken for one integration."""

    def __init__(self, settings: PagerDutySettings, poster: Poster) -> None:
        self._settings = settings
        self._poster = poster

    def body(self, message: Message) -> str | None:
        """The event as JSON, without its routing key; None for a digest."""
        return None if message.incident is None else json.dumps(event(message, message.incident))

    async def send(self, delivery: Delivery) -> None:
        """Add the key and post; 202 is taken."""
        key = self._settings.routing_key.get_secret_value()
        body = json.dumps({"routing_key": key, **json.loads(delivery.body)}).encode()
        await self._poster.deliver(self._settings.url, body)


def event(message: Message, incident: str) -> dict[str, Any]:
    """The message as an event that triggers the incident of that name."""
    links = [{"href": message.link, "text": message.link_label}]
    if message.block_url:
        links.append({"href": message.block_url, "text": BLOCK_LABEL})
    return {
        "event_action": "trigger",
        "dedup_key": hashlib.sha256(incident.encode("utf-8", "replace")).hexdigest(),
        "payload": {
            "summary": cut(message.subject, MOST_SUMMARY),
            "source": message.project,
            "severity": "warning" if message.kind in ("alert", "storm") else "info",
            "timestamp": message.at.isoformat(),
            "class": message.kind,
            "custom_details": {**{row.label: row.value for row in message.rows}, "id": message.id},
        },
        "links": links,
        "client": "loopwatch",
        "client_url": message.link,
    }
