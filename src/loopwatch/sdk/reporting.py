"""Calls that a framework makes and tells of: no wire is read, the framework's figures are.

For integrations, yours too: ``begin`` before a call (it raises what admission raises), ``say`` for what
streams in, then ``report``, ``fail`` or ``end``.
"""

from collections.abc import Mapping
from typing import Any

from loopwatch.errors import LoopTripped
from loopwatch.records.call import UsageSource
from loopwatch.sdk.labels import Labels
from loopwatch.sdk.question import Question
from loopwatch.sdk.tracker import Tracker
from loopwatch.sdk.watching import NOTHING, Desk, Watched
from loopwatch.wire.pieces import Piece
from loopwatch.wire.usage import Usage


class Reported(Watched):
    """One call under way in a framework."""

    def __init__(self, question: Question, desk: Desk) -> None:
        super().__init__(question, desk)
        self._said: list[str] = []
        self._figures: Usage | None = None

    def say(self, text: str) -> None:
        """A piece of the reply. Raises LoopTripped where it is to be cut: the framework is to stop then."""
        self._said.append(text)
        guard = self._guard
        if guard is not None and guard.read([Piece(text)]) and guard.trip is not None:
            self._cut = True
            self.end()
            raise LoopTripped(guard.trip, "".join(self._said))

    def report(self, usage: Usage | None, model: str | None = None) -> None:
        """The call is over; ``model`` answered it."""
        self._figures = usage
        self._draft.model = model
        self.end()

    def _usage(self, *, failed: bool) -> tuple[Usage | None, UsageSource, str | None]:
        if self._figures is not None and self._figures.output_tokens is not None:
            return self._figures, "provider", None
        if failed or not self._said:
            return self._figures, "unknown", None
        return self._estimated("".join(self._said), self._figures or NOTHING)


def begin(
    tracker: Tracker,
    *,
    provider: str,
    model: str,
    labels: Labels | None = None,
    request: Mapping[str, Any] | None = None,
) -> Reported:
    """A call is about to be made. Raises whatever speaks against it.

    A framework has chosen its model by now: a downgrade cannot be carried out, so it is not asked for.
    ``request`` is what is asked, in OpenAI's shape, for an estimate where nothing is reported.
    """
    question = tracker.admission.question(
        format="openai",
        base_url="",
        model=model,
        labels=labels or Labels(),
        body=dict(request or {}),
        streams=True,
    )
    question.provider = provider
    tracker.admission.admit(question)
    question.model = model
    return Reported(question, tracker.admission.desk)
