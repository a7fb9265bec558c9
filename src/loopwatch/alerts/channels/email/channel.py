"""The e-mail channel of a project: its recipients, by the server's mailer."""

from loopwatch.alerts.channels.email.letter import Letter, letter
from loopwatch.alerts.channels.email.mailer import Mailer
from loopwatch.alerts.message import Message
from loopwatch.config.destinations import EmailSettings
from loopwatch.records.delivery import Delivery


class Email:
    """Letters to a project's recipients."""

    pace = 0.2
    """Resend takes five a second."""

    def __init__(self, settings: EmailSettings, mailer: Mailer) -> None:
        self._settings = settings
        self._mailer = mailer

    def body(self, message: Message) -> str | None:
        """The letter, sender and recipients included, as JSON."""
        return letter(message, self._mailer.sender, self._settings.to).to_json()

    async def send(self, delivery: Delivery) -> None:
        """Send the letter as it was written."""
        await self._mailer.send(Letter.from_json(delivery.body), delivery.id)
