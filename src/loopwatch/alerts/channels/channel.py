"""What a channel is: something that renders messages, and hands a rendered one over."""

from datetime import datetime
from typing import Protocol

from loopwatch.alerts.alert import NAME
from loopwatch.alerts.message import Message, Row
from loopwatch.alerts.wording import one_line
from loopwatch.records.delivery import Delivery, Place


class Channel(Protocol):
    """One channel of one project."""

    @property
    def pace(self) -> float:
        """Seconds between two deliveries that the other side wants."""

    def body(self, message: Message) -> str | None:
        """What is kept and later sent, the same at every attempt, without a secret of the channel's.

        None where this kind of message is not for the channel.
        """

    async def send(self, delivery: Delivery) -> None:
        """Hand it over. Raises ChannelError where it was not taken, or may not have been."""


def test_message(project: str, key: str, at: datetime, settings_url: str) -> Message:
    """The message by which somebody sees that a channel works."""
    return Message(
        kind="test",
        id=f"test-{at:%Y%m%dT%H%M%S%f}",
        project=project,
        at=at,
        heading=f"👋  {NAME}: this is a test",
        subject=f"{NAME}: this is a test",
        rows=(Row("project", one_line(project)), Row("channel", one_line(key))),
        link=settings_url,
        notes=("Alerts of this project will arrive here.",),
        incident=f"{project}\0test",
        data={"channel": key},
    )


async def send_test(channel: Channel, project: str, key: str, at: datetime, settings_url: str) -> None:
    """Send a test at once, past the outbox. Raises ChannelError, whose message is for the settings page."""
    message = test_message(project, key, at, settings_url)
    body = channel.body(message)
    if body is not None:
        await channel.send(Delivery(f"{message.id}.{key}", Place(project, key), body, at))
