"""A channel that does nothing."""

from loopwatch.alerts.message import Message
from loopwatch.records.delivery import Delivery


class Fixed:
    """Renders everything as one text."""

    pace = 0.0

    def __init__(self, text: str | None) -> None:
        self._text = text
        self.sent: list[Delivery] = []

    def body(self, message: Message) -> str | None:  # noqa: ARG002  the protocol's
        return self._text

    async def send(self, delivery: Delivery) -> None:
        self.sent.append(delivery)
