"""Whether a call may be made, and with which model: plans, caps, and the ceilings of the agent's run.

Nothing is sent to the vendor before a call is admitted. What a tracked client needs of its tracker is here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from loopwatch.errors import MissingUser, UnknownPlan
from loopwatch.sdk.caps import Caps
from loopwatch.sdk.labels import Labels, current
from loopwatch.sdk.question import Question, provider_at
from loopwatch.sdk.runs import current_run
from loopwatch.sdk.watching import Desk, Watched
from loopwatch.wire.assembly import Format


@dataclass(slots=True, kw_only=True)
class Admission:
    """The tracker's side of a tracked client.

    ``plans`` None: any plan will do. ``without_usage`` has the addresses of gateways that refuse to be
    asked for a stream's usage.
    """

    desk: Desk
    plans: Mapping[str, float] | None
    caps: Caps | None
    provider: str | None = None
    require_user: bool = False
    without_usage: set[str] = field(default_factory=set)
    _classes: dict[type, type] = field(default_factory=dict)

    def class_for(self, vendor: type, make: Callable[[type, "Admission"], type]) -> type:
        """The subclass of a vendor's class that is tracked by this tracker, made once."""
        found = self._classes.get(vendor)
        if found is None:
            found = self._classes[vendor] = make(vendor, self)
        return found

    def question(
        self,
        *,
        format: Format,  # noqa: A002  the word for it
        base_url: str,
        model: str,
        labels: Labels,
        body: dict[str, Any],
        streams: bool,
    ) -> Question:
        """What is asked, with the labels and the agent run of this place.

        Raises UnknownPlan, and MissingUser where somebody must be named and is not.
        """
        labels = labels.over(current())
        run = current_run()
        if labels.feature is None and run is not None:
            labels = labels._replace(feature=run.name)
        self._judge(labels)
        return Question(
            format=format,
            provider=self.provider or provider_at(base_url, format),
            base_url=base_url,
            model=model,
            labels=labels,
            body=body,
            streams=streams,
            run=run,
        )

    def admit(self, question: Question) -> None:
        """Let a call go ahead, perhaps with another model.

        Raises CapReached, ProjectKeyRefused, LimitExceeded and AgentLoop: then nothing is to be sent.
        """
        if self.caps is not None and question.labels.user_id and question.labels.plan:
            question.model = self.caps.model_for(question.labels, question.model)
        self._enter(question)

    async def admit_async(self, question: Question) -> None:
        """As ``admit``; the event loop goes on while a server is asked."""
        if self.caps is not None and question.labels.user_id and question.labels.plan:
            question.model = await self.caps.model_for_async(question.labels, question.model)
        self._enter(question)

    def watch(self, question: Question) -> Watched:
        """The call begins."""
        return Watched(question, self.desk)

    def _enter(self, question: Question) -> None:
        if question.run is not None:
            question.run.admit(question.format, question.body)

    def _judge(self, labels: Labels) -> None:
        if labels.plan is not None and self.plans is not None and labels.plan not in self.plans:
            raise UnknownPlan(labels.plan, [*self.plans])
        if labels.user_id is None and (self.require_user or labels.plan is not None):
            why = "a plan is named without a user" if labels.plan is not None else "no user is named"
            raise MissingUser(f'{why}: pass user_id=..., or call within `with tracker.user("..."):`')
