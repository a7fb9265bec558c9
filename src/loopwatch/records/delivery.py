"""What is on its way to a channel: written once, frozen, claimed by one courier at a time.

The outbox keeps these, whether in memory or in a database, and the courier delivers them.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple


class Place(NamedTuple):
    """Where deliveries go: a channel of a project, by the project's id and the channel's key."""

    project: str
    channel: str


@dataclass(frozen=True, slots=True)
class Draft:
    """A delivery to be written, due at once. Its id is made of the message's and the channel's.

    So a transaction that is tried again, or a second server that composes the same digest, meets the row
    that is there already. ``body`` is the channel's own affair.
    """

    id: str
    place: Place
    body: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Delivery:
    """A delivery that was claimed, of a message ``written`` when. ``attempt`` is this one, from 1."""

    id: str
    place: Place
    body: str = field(repr=False)
    written: datetime
    attempt: int = 1
