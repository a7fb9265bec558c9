"""What becomes of an agent's replies, on the record and on the bill: taken, rejected, or never there."""

from collections.abc import Sequence
from typing import Any, cast

from loopwatch.agent.context import Context
from loopwatch.agent.members import Member
from loopwatch.agent.session import Session
from loopwatch.client.items import AttemptDiscarded, Reply
from loopwatch.client.tally import Discarded, Tally
from loopwatch.errors import (
    CallTimeout,
    ImagesRefused,
    KeyRefused,
    LoopedReply,
    ModelError,
    RetriesSpent,
    UnreadableReply,
)
from loopwatch.records.outcome import ErrorType
from loopwatch.records.rows import ModelErrorKind, ModelErrorRow, ModelIO, ResponseRejected
from loopwatch.records.spending import Spending

CHARS_PER_TOKEN = 4
"""Of a context, for the estimate of what a reply of unknown price cost: OpenAI's own rule of thumb."""


class Ledger:
    """One agent's. ``turn`` is everywhere the number of the turn that is under way."""

    def __init__(self, session: Session, member: Member, agent_id: str, context: Context) -> None:
        """Take whose replies these are."""
        self._session = session
        self._member = member
        self._client = session.clients[member.profile.id]
        self._agent_id = agent_id
        self._context = context

    def waste(self, tally: Tally) -> list[Spending]:
        """Put what was thrown away on the bill; what of it is known at once."""
        session = self._session
        size = sum(len(str(message.get("content", ""))) for message in self._context.messages)
        known = session.bill.of_waste(
            self._member,
            self._client,
            tally,
            input_tokens=size // CHARS_PER_TOKEN,
            at=session.clock.now(),
        )
        for spending in known:
            session.record(spending, self._agent_id)
        return known

    def cut(self, discards: Sequence[AttemptDiscarded]) -> Tally:
        """A call was cut while it was under way, after these attempts; what it threw away is on the bill."""
        model, provider = self._member.model, self._client.provider
        tally = Tally(
            [
                Discarded(one.trip, generation_id=one.generation_id, provider=provider, model=model)
                for one in discards
                if one.trip is not None
            ]
        )
        self._session.bill.unpriced += 1  # whatever of its last attempt had come
        self.waste(tally)
        return tally

    def unanswered(self, error: ModelError, turn: int) -> ErrorType:
        """The model gave no reply; the name under which the turn is recorded."""
        error_type = cast("ErrorType", error.error_type)
        spent = self.waste(error.tally)
        last = error.tally.abandoned[-1] if error.tally.abandoned else None
        if isinstance(error, UnreadableReply) and last is not None and last.usage is not None and spent:
            self._reject(error_type, turn, spent[-1])
        said = self._session.secrets.hide(str(error))
        self._record_error(
            turn, error.attempts, _kind_of(error), error_type, discarded=error.tally.loop_aborts, message=said
        )
        self._session.log("error", said, self._agent_id)
        return error_type

    def capped(self, reply: Reply, turn: int) -> None:
        """A reply was cut for its length: it was paid for, and nothing of it is used."""
        spent = self._session.bill.of_reply(
            self._member, self._client, reply, figure="total", at=self._session.clock.now()
        )
        if spent is not None:
            self._session.record(spent, self._agent_id)
        self._reject("model_length_capped", turn, spent)
        aborts = reply.tally.loop_aborts
        self._record_error(turn, reply.attempts, "length_capped", "model_length_capped", discarded=aborts)
        said = f"model turn {turn} — the reply was cut for its length and not taken"
        self._session.log("warn", said, self._agent_id)

    def taken(self, reply: Reply, turn: int, seconds: float) -> Spending | None:
        """A reply was taken: what it cost, None where nothing was reported."""
        session = self._session
        spent = session.bill.of_reply(
            self._member, self._client, reply, figure="work", at=session.clock.now()
        )
        if spent is not None:
            session.record(spent, self._agent_id)
        session.record(
            ModelIO(
                turn=turn,
                messages=len(self._context.messages),
                attempts=reply.attempts,
                text=reply.text,
                reasoning=reply.reasoning,
                tool_calls=[
                    {"id": call.id, "name": call.name, "arguments": call.arguments}
                    for call in reply.tool_calls
                ],
                finish_reason=reply.finish_reason,
                model=reply.model,
                provider=reply.provider,
                generation_id=reply.generation_id,
                seconds=round(seconds, 3),
            ),
            self._agent_id,
        )
        return spent

    def _reject(self, error_type: ErrorType, turn: int, spent: Spending | None) -> None:
        figures: dict[str, Any] = {} if spent is None else {"tokens": spent.tokens, "cost": spent.cost}
        row = ResponseRejected(
            turn=turn,
            error_type=error_type,
            profile_id=self._member.profile.id,
            model_id=self._member.model,
            provider=None if spent is None else spent.provider,
            **figures,
        )
        self._session.record(row, self._agent_id)

    def _record_error(
        self,
        turn: int,
        attempts: int,
        kind: ModelErrorKind,
        error_type: ErrorType,
        *,
        discarded: int,
        message: str = "",
    ) -> None:
        row = ModelErrorRow(
            turn=turn,
            messages=len(self._context.messages),
            attempts=attempts,
            kind=kind,
            error_type=error_type,
            discarded=discarded,
            message=message,
        )
        self._session.record(row, self._agent_id)


_KINDS: tuple[tuple[type[ModelError], ModelErrorKind], ...] = (
    (KeyRefused, "missing_credential"),
    (ImagesRefused, "image_unsupported"),
    (RetriesSpent, "retry_exhausted"),
    (UnreadableReply, "unparseable"),
    (CallTimeout, "timeout"),
    (LoopedReply, "response_loop"),
)


def _kind_of(error: ModelError) -> ModelErrorKind:
    return next((kind for type_, kind in _KINDS if isinstance(error, type_)), "fatal_status")
