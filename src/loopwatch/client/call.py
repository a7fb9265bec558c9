"""One call and its attempts: what a failure means, how long to wait, and what was thrown away."""

import logging
from dataclasses import fields

from loopwatch.client import messages
from loopwatch.client.attempt import Attempt, Failed
from loopwatch.client.items import AttemptDiscarded, Reply
from loopwatch.client.listener import Loop
from loopwatch.client.schedule import LONGEST, wait_after
from loopwatch.client.tally import Abandoned, Discarded, Tally
from loopwatch.errors import LoopedReply, ModelError, RetriesSpent

log = logging.getLogger("loopwatch.client")


class Call:
    """Counts the attempts at one reply. ``attempts`` of them may be made, ``ceiling`` is in seconds."""

    def __init__(
        self,
        *,
        attempts: int,
        ceiling: float,
        label: str,
        stop_on_same_loop: bool,
        provider: str | None,
        longest_wait: float = LONGEST,
    ) -> None:
        """Begin before the first."""
        self.number = 0
        self.tally = Tally()
        self._attempts = attempts
        self._ceiling = ceiling
        self._label = label
        self._stop_on_same_loop = stop_on_same_loop
        self._provider = provider  # what the address tells, where the stream does not
        self._longest_wait = longest_wait
        self._places: set[int] = set()

    def begin(self) -> None:
        """Count one more."""
        self.number += 1

    def failed(self, attempt: Attempt, failure: Failed) -> AttemptDiscarded:
        """Take a failure that a retry may fix. Raises a ModelError where there is no further attempt."""
        self._count(attempt, failure.cause, failure.loop)
        self._say_seen(attempt)
        loop = failure.loop
        if loop is not None and loop.place is not None:
            if self._stop_on_same_loop and loop.place in self._places:
                raise self.counted(self._looped(messages.looped_the_same(self._label, self.tally, loop)))
            self._places.add(loop.place)
        if self.number >= self._attempts:
            raise self.counted(self._spent(failure))
        if failure.asked is not None and failure.asked > self._ceiling:
            said = messages.too_long_a_wait(
                self._label, asked=failure.asked, ceiling=self._ceiling, cause=failure.cause
            )
            kind = self._looped(said) if self.tally.discarded else RetriesSpent(said, failure.status)
            raise self.counted(kind)
        wait = wait_after(self.number, failure.asked, self._longest_wait)
        log.warning(
            "%s",
            messages.retrying(
                self._label, attempt=self.number, attempts=self._attempts, cause=failure.cause, wait=wait
            ),
        )
        trip = loop.trip if loop is not None else None
        return AttemptDiscarded(self.number, failure.cause, wait, trip, attempt.generation_id)

    def accepted(self, attempt: Attempt) -> Reply:
        """The reply that an attempt brought; what was thrown away before it is said."""
        self._say_seen(attempt)
        if self.tally.discarded:
            log.warning("%s", messages.discarded(self._label, self.tally))
        reply = attempt.reply
        assert reply is not None  # noqa: S101  or it would have failed
        came = {field.name: getattr(reply, field.name) for field in fields(reply)}
        came["generation_id"] = attempt.generation_id
        return Reply(**came, attempts=self.number, tally=self.tally)

    def fatal(self, attempt: Attempt, error: ModelError) -> ModelError:
        """An error that ends the call, with the call's name and all that was counted."""
        self._count(attempt, str(error))
        self._say_seen(attempt)
        error.args = (messages.named(self._label, str(error)), *error.args[1:])
        return self.counted(error)

    def counted(self, error: ModelError) -> ModelError:
        """The error with what was counted on the way to it."""
        error.attempts = self.number
        error.tally = self.tally
        return error

    def _say_seen(self, attempt: Attempt) -> None:
        for loop in attempt.seen:
            log.warning("%s", messages.shadowed(self._label, str(loop.trip)))

    def _count(self, attempt: Attempt, cause: str, loop: Loop | None = None) -> None:
        """Keep what is needed to know what an attempt has cost; nothing where no reply had begun."""
        counts, usage, generation_id = attempt.counts, attempt.usage, attempt.generation_id
        provider, model = attempt.provider or self._provider, attempt.model
        if loop is not None:
            self.tally.discarded.append(
                Discarded(loop.trip, loop.channel, generation_id, provider, model, counts)
            )
        elif counts.total or usage is not None or generation_id is not None:
            self.tally.abandoned.append(Abandoned(cause, counts, usage, generation_id, provider, model))

    def _spent(self, failure: Failed) -> ModelError:
        if self.tally.discarded:
            return self._looped(messages.looped_every_attempt(self._label, self.tally))
        said = messages.spent(self._label, attempts=self.number, cause=failure.cause)
        return RetriesSpent(said, failure.status)

    def _looped(self, said: str) -> LoopedReply:
        return LoopedReply(said, [one.trip for one in self.tally.discarded])
