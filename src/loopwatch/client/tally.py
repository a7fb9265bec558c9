"""What was generated, paid for and thrown away on the way to a reply."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from loopwatch.pricing.scripts import CharCounts

if TYPE_CHECKING:
    from loopwatch.detect.settings import Channel
    from loopwatch.detect.trip import Trip
    from loopwatch.wire.usage import Usage

NOTHING = CharCounts()


@dataclass(frozen=True, slots=True)
class Discarded:
    """One reply that looped: why and where, and what its price can be asked for under.

    ``model`` is the one that was asked, ``provider`` who served it where the stream or the address said
    so, ``counts`` has the characters of every channel that had come, for an estimate.
    """

    trip: "Trip"
    channel: "Channel" = "content"
    generation_id: str | None = None
    provider: str | None = None
    model: str | None = None
    counts: CharCounts = NOTHING


@dataclass(frozen=True, slots=True)
class Abandoned:
    """A reply that had begun and came to nothing otherwise: it stalled, broke off or could not be read.

    It may have been billed as well. ``counts`` has the characters that had come; ``usage`` is what the
    provider had reported.
    """

    cause: str
    counts: CharCounts = NOTHING
    usage: "Usage | None" = None
    generation_id: str | None = None
    provider: str | None = None
    model: str | None = None


@dataclass(slots=True)
class Tally:
    """What was thrown away on the way to one reply; every outcome carries it.

    ``discarded`` are the replies that looped, which the three figures count; ``abandoned`` are others
    that may have been billed.
    """

    discarded: list[Discarded] = field(default_factory=list)
    abandoned: list[Abandoned] = field(default_factory=list)

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
        """What the looping ones can be asked for under; those without an id are left out."""
        return [one.generation_id for one in self.discarded if one.generation_id is not None]
