"""One agent: turn after turn until its model ends it by an explicit call, or something else does."""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any, NamedTuple

from loopwatch.agent import prompts
from loopwatch.agent.answering import Answered, carry_out_calls, run_reply
from loopwatch.agent.calling import Toolbox
from loopwatch.agent.ceilings import Ceilings
from loopwatch.agent.context import Context
from loopwatch.agent.gate import Place
from loopwatch.agent.ledger import Ledger
from loopwatch.agent.members import Member
from loopwatch.agent.session import Session
from loopwatch.agent.tools.finish import Finish
from loopwatch.agent.tools.tool import Tool
from loopwatch.client.items import AttemptDiscarded, Reply
from loopwatch.client.tally import Tally
from loopwatch.errors import KeyRefused, ModelError
from loopwatch.records.breach import Breach, TerminalStatus
from loopwatch.records.outcome import RE_ASKED, ErrorType, Outcome, TurnOutcome, kind_of
from loopwatch.records.rows import AgentRow, StepLoopRow, Toolset, TurnStarted
from loopwatch.records.spending import Spending
from loopwatch.steps.step import Step

NO_TALLY = Tally()


class Ending(NamedTuple):
    """How an agent ended, the result that it gave, and the ceiling that stopped it."""

    status: TerminalStatus
    result: str | None = None
    breach: Breach | None = None


class Agent:
    """One agent at work. ``tools`` are those of its profile; ``finish`` is added."""

    def __init__(
        self,
        session: Session,
        member: Member,
        *,
        agent_id: str,
        parent: "Agent | None" = None,
    ) -> None:
        """Take the run and the profile."""
        self.session = session
        self.member = member
        self.id = agent_id
        self.parent = parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.finish = Finish()
        self.place = Place(session.places)
        self.ceilings = Ceilings(session.config.limits, agent_id)
        self.context = Context(session, agent_id)
        self.toolbox = Toolbox({}, session.secrets, session.clock)
        self.ledger = Ledger(session, member, agent_id, self.context)
        self.client = session.clients[member.profile.id]
        self._discards: list[AttemptDiscarded] = []

    @property
    def turn(self) -> int:
        """The number of the turn that is under way, from 1."""
        return self.ceilings.turns + 1

    def equip(self, tools: list[Tool]) -> None:
        """Give it its tools, and the explicit call that ends its work."""
        every = {tool.name: tool for tool in [*tools, self.finish.tool()]}
        self.toolbox = Toolbox(every, self.session.secrets, self.session.clock)

    async def work(self, task: str) -> Ending:
        """Do the task. Whatever happens, the record says how it ended."""
        ending = Ending("internal_error")
        self._introduce(task)
        try:
            ending = await self._turns()
        except asyncio.CancelledError:
            ending = Ending(self.session.stopping or "canceled")
            raise
        finally:
            self.session.record(self._row(ending.status), self.id)
        return ending

    def _introduce(self, task: str) -> None:
        """Record who begins, and say what is to be done."""
        tools = list(self.toolbox.tools.values())
        profile, codes = self.member.profile, self.member.programs is not None
        self.session.record(self._row(None), self.id)
        self.session.record(Toolset(tools=[tool.document for tool in tools]), self.id)
        said = prompts.system(profile.name, tools, codes=codes, instructions=profile.custom_instructions)
        self.context.add("system", said)
        self.context.add("user", task)

    async def _turns(self) -> Ending:
        session = self.session
        while True:
            breach = self.ceilings.between(seconds=session.seconds, spent_nano=session.rollup.cost_nano)
            if breach is not None:
                return self._stop(breach)
            async with self.place.working():
                ending = await self._turn()
            await session.journal.sync()
            if ending is not None:
                return ending

    def _stop(self, breach: Breach) -> Ending:
        self.session.record(breach)
        return Ending(breach.status, breach=breach)

    async def _turn(self) -> Ending | None:
        """One turn, to its outcome; how the agent ends where the turn ends it."""
        turn, session = self.turn, self.session
        session.record(TurnStarted(turn=turn), self.id)
        began = session.clock.monotonic()
        self._discards.clear()
        tally = NO_TALLY
        try:
            try:
                reply = await self._ask(turn)
            except ModelError as error:
                return self._failed(error)
            tally = reply.tally
            self.ledger.waste(tally)
            if reply.finish_reason == "length":
                self.ledger.capped(reply, turn)
                return self._outcome("error", "model_length_capped", tally=tally)
            spent = self.ledger.taken(reply, turn, session.clock.monotonic() - began)
            answered = await self._carry_out(reply)
        except asyncio.CancelledError:
            if tally is NO_TALLY:
                tally = self.ledger.cut(self._discards)
            self._outcome("fatal", tally=tally)
            raise
        return self._answered(answered, reply, spent)

    async def _ask(self, turn: int) -> Reply:
        """The model's reply to all that was said. Raises a ModelError where there is none."""
        request: dict[str, Any] = {"messages": self.context.messages, **self.member.fields}
        if self.member.programs is None:
            request["tools"] = [tool.document for tool in self.toolbox.tools.values()]
            request["tool_choice"] = "auto"
        with self.session.speaking(self.id):
            async with aclosing(self.client.stream(request, label=f"turn {turn}")) as items:
                async for item in items:
                    if isinstance(item, AttemptDiscarded):
                        self._discards.append(item)
                    elif isinstance(item, Reply):
                        return item
        raise AssertionError("a stream ends with a reply or with an error")

    def _failed(self, error: ModelError) -> Ending | None:
        """A turn whose model gave no reply."""
        error_type = self.ledger.unanswered(error, self.turn)
        if error_type in RE_ASKED:
            return self._outcome("error", error_type, tally=error.tally)
        self._outcome("fatal", tally=error.tally)
        return Ending("auth_error" if isinstance(error, KeyRefused) else "model_error")

    async def _carry_out(self, reply: Reply) -> Answered:
        if self.member.programs is not None:
            return await run_reply(self, reply, self.member.programs)
        return await carry_out_calls(self, reply)

    def _answered(self, answered: Answered, reply: Reply, spent: Spending | None) -> Ending | None:
        """The outcome of a turn whose reply was carried out."""
        tokens = spent.tokens if spent is not None else None
        figures = {
            "response_chars": len(reply.text) + sum(len(call.arguments) for call in reply.tool_calls),
            "response_output_tokens": ((tokens.output or 0) + (tokens.reasoning or 0)) if tokens else 0,
        }
        for step in answered.steps:
            self._observe(step)
        if answered.error_type is not None:
            return self._outcome("error", answered.error_type, tally=reply.tally, figures=figures)
        if self.finish.result is not None:
            self._outcome("finished", tally=reply.tally, figures=figures)
            return Ending("completed", self.finish.result)
        return self._outcome("progressed", tally=reply.tally, figures=figures)

    def _observe(self, step: Step) -> None:
        verdict = self.session.observe(step, self.member.profile)
        if verdict is None:
            return
        self.ceilings.step_loops += 1
        row = StepLoopRow(
            rule=verdict.rule,
            onset=verdict.onset,
            steps=verdict.steps,
            period=verdict.period,
            repeats=verdict.repeats,
            loops=self.ceilings.step_loops,
        )
        self.session.record(row, self.id)
        self.session.log("warn", f"the agent is going in circles: {verdict}", self.id)

    def _outcome(
        self,
        outcome: Outcome,
        error_type: ErrorType | None = None,
        *,
        tally: Tally,
        figures: Mapping[str, int] = {},
    ) -> Ending | None:
        """Record what the turn came to; how the agent ends where a ceiling is reached by it."""
        consecutive = self.ceilings.count(outcome)
        row = TurnOutcome(
            outcome=outcome,
            error=kind_of(error_type) if error_type is not None else None,
            error_type=error_type,
            consecutive_errors=consecutive,
            turns=self.ceilings.turns,
            loop_aborts=tally.loop_aborts,
            loop_abort_words=tally.loop_abort_words,
            loop_abort_chars=tally.loop_abort_chars,
            **figures,
        )
        self.session.record(row, self.id)
        breach = self.ceilings.after(outcome)
        return self._stop(breach) if breach is not None else None

    def _row(self, status: TerminalStatus | None) -> AgentRow:
        return AgentRow(
            profile_id=self.member.profile.id,
            name=self.member.profile.name,
            model_id=self.member.model,
            mode=self.member.mode,
            parent=None if self.parent is None else self.parent.id,
            depth=self.depth,
            status=status,
        )
