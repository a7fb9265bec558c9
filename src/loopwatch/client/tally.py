"""What was generated, paid for and thrown away on the way to a reply."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loopwatch.detect.settings import Channel
    from loopwatch.detect.trip import Trip


@dataclass(frozen=True, slots=True)
class Discarded:
    """One reply that looped: why and where, and what its price can be asked for under.

    ``model`` is the one that was asked, ``provider`` who served it where the stream said so.
    """

    trip: "Trip"
    channel: "Channel" = "content"
    generation_id: str | None = None
    provider: str | None = None
    model: str | None = None


@dataclass(slots=True)
class Tally:
    """The replies to one request that looped and were thrown away; every outcome carries it."""

    discarded: list[Discarded] = field(default_factory=list)

    @property
    def loop_aborts(self) -> int:
        """How many."""
        return len(self.discarded)

    @property
    def loop_abort_words(self) -> int:
        """Their words, as far as they were read."""
        return sum(one.trip.words for one in self.discarded)

    @property
    def loop_abort_chars(self) -> int:
        """Their characters, as far as they were read."""
        return sum(one.trip.chars for one in self.discarded)

    @property
    def generation_ids(self) -> list[str]:
        """What they can be asked for under; those without an id are left out."""
        return [one.generation_id for one in self.discarded if one.generation_id is not None]
