"""An outbox in memory: for tests, and for a server that is to keep nothing."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from loopwatch.records.delivery import Delivery, Draft, Place

DONE = ("delivered", "dead")


@dataclass(slots=True)
class Entry:
    """A delivery and how it stands. ``due`` is when it may be claimed: the lease's end while it is leased."""

    draft: Draft
    written: datetime
    due: datetime
    state: Literal["pending", "leased", "delivered", "dead"] = "pending"
    attempts: int = 0
    last_error: str | None = None


MOST_DONE = 1_000
"""Deliveries that are remembered once they have arrived or were given up."""


class MemoryOutbox:
    """The ``Outbox`` of one process. ``entries`` has deliveries by their id, the oldest first."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}

    def write(self, drafts: Iterable[Draft], now: datetime) -> None:
        """Keep the drafts; one that is here already stays as it is."""
        for draft in drafts:
            self.entries.setdefault(draft.id, Entry(draft, now, now))
        done = [key for key, entry in self.entries.items() if entry.state in DONE]
        for key in done[:-MOST_DONE]:
            del self.entries[key]

    async def claim(
        self, now: datetime, lease: timedelta, *, limit: int, busy: Collection[Place]
    ) -> Sequence[Delivery]:
        """Take what is due, one for each place."""
        under_way = (one for one in self.entries.values() if one.state == "leased" and one.due > now)
        taken = {*busy, *(one.draft.place for one in under_way)}
        claimed: list[Delivery] = []
        for entry in self.entries.values():
            place = entry.draft.place
            if len(claimed) == limit:
                break
            if entry.state in DONE or entry.due > now or place in taken:
                continue
            taken.add(place)
            entry.state, entry.due, entry.attempts = "leased", now + lease, entry.attempts + 1
            claimed.append(
                Delivery(entry.draft.id, place, entry.draft.body, entry.written, attempt=entry.attempts)
            )
        return claimed

    async def delivered(self, delivery: Delivery, now: datetime) -> None:
        """It has arrived."""
        entry = self._ours(delivery)
        if entry is not None:
            entry.state, entry.due, entry.last_error = "delivered", now, None

    async def retry(self, delivery: Delivery, at: datetime, error: str) -> None:
        """It has not, and becomes due again."""
        entry = self._ours(delivery)
        if entry is not None:
            entry.state, entry.due, entry.last_error = "pending", at, error

    async def dead(self, delivery: Delivery, now: datetime, error: str) -> None:
        """It never will."""
        entry = self._ours(delivery)
        if entry is not None:
            entry.state, entry.due, entry.last_error = "dead", now, error

    def _ours(self, delivery: Delivery) -> Entry | None:
        """The entry, unless somebody else has claimed it since."""
        entry = self.entries.get(delivery.id)
        is_ours = entry is not None and (entry.state, entry.attempts) == ("leased", delivery.attempt)
        return entry if is_ours else None
