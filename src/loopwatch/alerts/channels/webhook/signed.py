"""A webhook of the customer's own: JSON, signed as ``loopwatch.alerts.signature`` says.

The body is ``{"type", "id", "projectId", "at", "text"}`` and, under its type, ``alert``, ``digest`` or
``test``, the same for programs. Texts are as they were given: whoever shows them escapes them.
"""

import json

from loopwatch.alerts.message import Message, plain_text
from loopwatch.alerts.posting import Poster
from loopwatch.alerts.signature import HEADER, sign
from loopwatch.clock import Clock
from loopwatch.config.destinations import WebhookSettings
from loopwatch.records.delivery import Delivery


class SignedWebhook:
    """A webhook that gets every kind of message. Deliveries may come twice, with one Idempotency-Key."""

    pace = 0.0

    def __init__(self, settings: WebhookSettings, poster: Poster, clock: Clock) -> None:
        self._settings = settings
        self._poster = poster
        self._clock = clock

    def body(self, message: Message) -> str | None:
        """The JSON that is signed and posted; ASCII, so that it is the same in every encoding."""
        return json.dumps(
            {
                "type": message.kind,
                "id": message.id,
                "projectId": message.project,
                "at": message.at.isoformat().replace("+00:00", "Z"),
                "text": plain_text(message),
                message.kind: dict(message.data),
            }
        )

    async def send(self, delivery: Delivery) -> None:
        """Sign with the time of this attempt, and post."""
        body = delivery.body.encode()
        secret = self._settings.secret.get_secret_value().encode()
        headers = {"Idempotency-Key": delivery.id, HEADER: sign(secret, body, self._clock.now())}
        await self._poster.deliver(self._settings.url, body, headers)
