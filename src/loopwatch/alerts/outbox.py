"""The outbox: messages that must arrive, in the shape in which they were written.

An alert and its deliveries are written in one transaction, bodies and all. Afterwards nothing that changes
(a user's tokens, the project's settings) changes what is sent, and a second attempt sends the same bytes.
The protocol is what a courier needs; ``memory`` has one without a database.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from loopwatch.records.delivery import Delivery, Draft, Place

if TYPE_CHECKING:
    from loopwatch.alerts.channels.channel import Channel
    from loopwatch.alerts.message import Message


class Outbox(Protocol):
    """Where deliveries are kept until they have arrived.

    Every mark names the delivery with its attempt. One whose lease has run out and that somebody else has
    claimed since has a higher attempt by now: such a late mark changes nothing.
    """

    async def claim(
        self, now: datetime, lease: timedelta, *, limit: int, busy: Collection[Place]
    ) -> Sequence[Delivery]:
        """Take deliveries that are due: pending with their time come, or claimed with the lease run out.

        At most one for each place, the oldest, and none for a place in ``busy``; at most ``limit`` in all.
        Each is ours until ``now + lease`` and has its attempts counted up before it is returned, so that
        one that kills its courier is not tried for ever. Others' claims are skipped, not waited for.
        """

    async def delivered(self, delivery: Delivery, now: datetime) -> None:
        """It has arrived."""

    async def retry(self, delivery: Delivery, at: datetime, error: str) -> None:
        """It has not, and becomes due again ``at``; ``error`` is shown as the channel's last."""

    async def dead(self, delivery: Delivery, now: datetime, error: str) -> None:
        """It never will; ``error`` says why, and is shown as the channel's last."""


def drafts(message: "Message", channels: Mapping[str, "Channel"]) -> Iterable[Draft]:
    """What is to be written for a message: one draft for each channel that takes messages of its kind.

    ``channels`` are the project's, by their keys. No I/O: it may be called inside a transaction.
    """
    for key, channel in channels.items():
        body = channel.body(message)
        if body is not None:
            yield Draft(f"{message.id}.{key}", Place(message.project, key), body)
