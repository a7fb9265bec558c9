"""Sums over the rows of a run, kept as the rows come: the live figures and the summary's are the same sum.

A journal that was cut can be summed up by the same fold as far as it goes.
"""

from collections import Counter
from collections.abc import Iterable

import msgspec

from loopwatch.records.breach import Breach
from loopwatch.records.money import usd
from loopwatch.records.outcome import KINDS, TurnOutcome, kind_of
from loopwatch.records.rows import AgentRow, LatePriceRow, ResponseRejected, Row, StepLoopRow, ToolResult
from loopwatch.records.spending import Cost, Spending, Tokens, added
from loopwatch.records.summary import Errors, ProviderStats, Rejected, SlotCost, StepLoops, ToolFailures

Slot = tuple[str, str]
"""The id of an agent's profile, and of its model."""
Served = tuple[str | None, str | None]
"""A provider, where one was named, and a model."""


class Rollup:
    """The sums. ``add`` each row with the agent that it is of."""

    def __init__(self) -> None:
        self.errors = _Errors()
        self.slots: dict[Slot, SlotCost] = {}
        self.breaches: list[Breach] = []
        self.step_loops: Counter[str] = Counter()
        self.tool_calls: Counter[str] = Counter()
        self.late: LatePriceRow | None = None
        self.rejected: Rejected | None = None
        self.most_chars = 0
        self.most_tokens = 0
        self.agents: dict[str, AgentRow] = {}
        self._providers = _Providers()
        self._work_nano: dict[Slot, int] = {}

    def add(self, row: Row, agent_id: str | None = None) -> None:
        """Take the next row."""
        agent = agent_id or ""
        match row:
            case TurnOutcome():
                self._end_turn(agent, row)
            case Spending():
                self._spend(row)
                self._providers.spend(agent, row)
            case ResponseRejected():
                self._reject(row)
                self._providers.reject(agent, row)
            case ToolResult():
                self.tool_calls[row.tool] += 1
                self.errors.tool_failures.update([row.failure] if row.failure is not None else ())
            case AgentRow():
                self.agents[agent] = row
            case StepLoopRow():
                self.step_loops[row.rule] += 1
            case LatePriceRow():
                self.late = row
            case Breach():
                self.breaches.append(row)
            case _:
                pass

    @property
    def cost_nano(self) -> int | None:
        """All that is known to have been spent, in nano-US-dollars; None where nothing is."""
        return _total(slot.cost.nano for slot in self.slots.values())

    @property
    def work_nano(self) -> int | None:
        """What was spent on replies that were used."""
        return _total(self._work_nano.values())

    @property
    def slot_costs(self) -> list[SlotCost]:
        """The spending of each agent's profile and model, in their order."""
        return [self.slots[key] for key in sorted(self.slots)]

    @property
    def provider_stats(self) -> list[ProviderStats]:
        """A slice for each provider and model: those without a provider first, then in their order."""
        return self._providers.slices()

    @property
    def found_step_loops(self) -> StepLoops | None:
        """How often agents were seen repeating their steps; None: never."""
        if not self.step_loops:
            return None
        return StepLoops(count=self.step_loops.total(), by_rule=dict(sorted(self.step_loops.items())))

    @property
    def unpriced_loops(self) -> int:
        """Discarded replies of unknown price: all of them until somebody was asked."""
        return self.errors.loop_aborts if self.late is None else self.late.unpriced

    @property
    def spawned(self) -> list[AgentRow]:
        """The sub-agents."""
        return [row for row in self.agents.values() if row.parent is not None]

    def _end_turn(self, agent: str, row: TurnOutcome) -> None:
        self.errors.add(row)
        self._providers.end_turn(agent, row)
        if row.outcome in ("progressed", "finished"):
            self.most_chars = max(self.most_chars, row.response_chars)
            self.most_tokens = max(self.most_tokens, row.response_output_tokens)

    def _spend(self, row: Spending) -> None:
        key = (row.profile_id, row.model_id)
        slot = self.slots.get(key) or SlotCost(profile_id=key[0], model_id=key[1])
        if row.figure == "work" and row.cost.nano is not None:
            self._work_nano[key] = self._work_nano.get(key, 0) + row.cost.nano
        self.slots[key] = SlotCost(
            profile_id=key[0],
            model_id=key[1],
            tokens=slot.tokens + row.tokens,
            cost=slot.cost + row.cost,
            work_cost=usd(self._work_nano[key]) if key in self._work_nano else None,
        )

    def _reject(self, row: ResponseRejected) -> None:
        before = self.rejected or Rejected(count=0)
        self.rejected = Rejected(
            count=before.count + 1, tokens=before.tokens + row.tokens, cost=before.cost + row.cost
        )


class _Errors:
    """The error rollup while it grows."""

    def __init__(self) -> None:
        self.turns = 0
        self.most_consecutive = 0
        self.loop_aborts = 0
        self.loop_abort_words = 0
        self.loop_abort_chars = 0
        self.by_type: Counter[str] = Counter()
        self.tool_failures: Counter[str] = Counter()
        self._by_kind: Counter[str] = Counter()

    def add(self, row: TurnOutcome) -> None:
        self.turns += 1
        self.most_consecutive = max(self.most_consecutive, row.consecutive_errors)
        self.loop_aborts += row.loop_aborts
        self.loop_abort_words += row.loop_abort_words
        self.loop_abort_chars += row.loop_abort_chars
        if row.outcome == "error" and row.error_type is not None:
            self.by_type[row.error_type] += 1
            self._by_kind[row.error or kind_of(row.error_type)] += 1

    def sums(self) -> Errors:
        """As the summary has them."""
        model_api, transpile, program_fault, sandbox_limit, missing = (self._by_kind[kind] for kind in KINDS)
        failures = dict(sorted(self.tool_failures.items()))
        return Errors(
            turns=self.turns,
            errors=self._by_kind.total(),
            max_consecutive=self.most_consecutive,
            model_api=model_api,
            transpile=transpile,
            program_fault=program_fault,
            sandbox_limit=sandbox_limit,
            missing_completion=missing,
            loop_aborts=self.loop_aborts,
            loop_abort_words=self.loop_abort_words,
            loop_abort_chars=self.loop_abort_chars,
            by_type=dict(sorted(self.by_type.items())),
            tool_failures=ToolFailures(calls=sum(failures.values()), by_class=failures) if failures else None,
        )


class _Slice(msgspec.Struct):
    """One provider's and model's figures while they grow."""

    calls: int = 0
    tokens: Tokens = Tokens()
    cost: Cost = Cost()
    rejected: int = 0
    turns: int = 0
    working: int = 0
    errors: dict[str, int] = {}


class _Providers:
    """Figures by who served: a turn goes to whoever its own rows named last."""

    def __init__(self) -> None:
        self._slices: dict[Served, _Slice] = {}
        self._pending: dict[str, str | None] = {}  # by agent, until its turn ends
        self._models: dict[str, str] = {}  # by agent

    def spend(self, agent: str, row: Spending) -> None:
        found = self._slice(row.provider, row.model_id)
        found.calls += 1
        found.tokens += row.tokens
        found.cost += row.cost
        if agent:
            self._pending[agent] = row.provider
            self._models[agent] = row.model_id

    def reject(self, agent: str, row: ResponseRejected) -> None:
        self._slice(row.provider, row.model_id).rejected += 1
        self._pending[agent] = row.provider
        self._models[agent] = row.model_id

    def end_turn(self, agent: str, row: TurnOutcome) -> None:
        found = self._slice(self._pending.pop(agent, None), self._models.get(agent))
        found.turns += 1
        found.working += row.outcome in ("progressed", "finished")
        if row.outcome == "error" and row.error_type is not None:
            found.errors[row.error_type] = found.errors.get(row.error_type, 0) + 1

    def slices(self) -> list[ProviderStats]:
        keys = sorted(self._slices, key=lambda key: (key[0] is not None, key[0] or "", key[1] or ""))
        return [
            ProviderStats(provider=key[0], model=key[1], **msgspec.structs.asdict(self._slices[key]))
            for key in keys
        ]

    def _slice(self, provider: str | None, model: str | None) -> _Slice:
        return self._slices.setdefault((provider, model), _Slice())


def _total(amounts: Iterable[int | None]) -> int | None:
    total: int | None = None
    for amount in amounts:
        total = added(total, amount)
    return total
