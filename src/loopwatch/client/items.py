"""What a call yields while it is under way: deltas, attempts that came to nothing, and the reply."""

from dataclasses import dataclass, field

from loopwatch.client.tally import Tally
from loopwatch.detect.settings import Channel
from loopwatch.detect.trip import Trip
from loopwatch.wire.pieces import Piece
from loopwatch.wire.reply import Reply as WireReply

Delta = Piece
"""A piece of text of the attempt that is under way, and the channel that it belongs to."""


@dataclass(frozen=True, slots=True)
class AttemptDiscarded:
    """An attempt came to nothing: the deltas so far belong to no reply, and the model is asked again.

    ``number`` counts attempts from 1, ``cause`` says why, ``trip`` is the verdict where it looped, and
    ``wait`` the seconds until the next attempt.
    """

    number: int
    cause: str
    wait: float
    trip: Trip | None = None
    generation_id: str | None = None


@dataclass(frozen=True, slots=True)
class LoopSeen:
    """A loop in a reply that is watched in the shadow: it goes on, and this is all that happens."""

    trip: Trip
    channel: Channel = "content"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply(WireReply):
    """The reply that was accepted, after how many attempts, and what was thrown away before it."""

    attempts: int = 1
    tally: Tally = field(default_factory=Tally)


Item = Delta | AttemptDiscarded | LoopSeen | Reply
