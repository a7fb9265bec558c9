"""What is said of a reply that was cut: to the client, to a terminal, to programs."""

from dataclasses import dataclass
from typing import Any

from loopwatch.detect.trip import Trip
from loopwatch.errors import one_line
from loopwatch.wire.pieces import Channel


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A loop and what was done about it. It has no text of the reply.

    ``unspent`` are the tokens that the reply might still have taken, where the request set a bound;
    ``saved_chars`` the characters that came after the verdict, of a reply that was only watched.
    """

    trip: Trip
    channel: Channel
    action: str
    model: str
    path: str
    user: str | None
    unspent: int | None = None
    saved_chars: int | None = None

    @property
    def header(self) -> str:
        """The value of the header of an answer that is one document."""
        onset = "" if self.trip.onset is None else f"; onset={self.trip.onset}"
        unspent = "" if self.unspent is None else f"; unspent={self.unspent}"
        trip = self.trip
        return (
            f"{trip.rule}{onset}; chars={trip.chars}; channel={self.channel}; action={self.action}{unspent}"
        )

    @property
    def remark(self) -> str:
        """A comment for whoever looks at the stream."""
        return f"loopwatch cut this reply: {self.header}"

    @property
    def message(self) -> str:
        """The message of an error."""
        return f"loopwatch: the reply became a loop in its {self.channel} and was cut: {self.trip}"

    @property
    def line(self) -> str:
        """A line for a terminal."""
        who = f", user {one_line(self.user)}" if self.user else ""
        rest = "" if self.unspent is None else f", up to {self.unspent:,} tokens unspent"
        if self.saved_chars is not None:
            rest = f", {self.saved_chars:,} characters came after it"
        done = "would have cut" if self.action == "shadow" else f"cut ({self.action})"
        return f"{done} {one_line(self.model)} at {self.path}{who}: {self.channel}: {self.trip}{rest}"

    def record(self) -> dict[str, Any]:
        """For programs: one object."""
        trip = self.trip
        fields = {
            "event": "shadow" if self.action == "shadow" else "trip",
            "rule": trip.rule,
            "channel": self.channel,
            "onset": trip.onset,
            "chars": trip.chars,
            "words": trip.words,
            "period": trip.period,
            "repeats": trip.repeats,
            "action": self.action,
            "model": self.model,
            "path": self.path,
            "user": self.user,
            "unspent_tokens": self.unspent,
            "saved_chars": self.saved_chars,
        }
        return {name: value for name, value in fields.items() if value is not None}
