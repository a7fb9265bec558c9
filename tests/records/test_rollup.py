"""Sums over rows."""

from loopwatch.records.breach import Breach
from loopwatch.records.outcome import TurnOutcome
from loopwatch.records.rollup import Rollup
from loopwatch.records.rows import AgentRow, LatePriceRow, ResponseRejected, StepLoopRow, ToolResult
from loopwatch.records.spending import Cost, Figure, Spending, Tokens, tokens_of
from loopwatch.wire.usage import Usage


def spent(
    cost: float | None,
    figure: Figure = "work",
    *,
    profile: str = "a",
    provider: str | None = "p",
    output: int = 1,
) -> Spending:
    amount = Cost() if cost is None else Cost(comparable=cost, actual=cost)
    return Spending(
        profile_id=profile,
        model_id="m",
        provider=provider,
        figure=figure,
        tokens=Tokens(output=output),
        cost=amount,
    )


PROGRESSED = TurnOutcome(outcome="progressed", consecutive_errors=0, turns=1, response_chars=10)
FATAL = TurnOutcome(outcome="fatal", consecutive_errors=0, turns=2, response_chars=99)


def failed(consecutive: int) -> TurnOutcome:
    return TurnOutcome(
        outcome="error", error="model_api", error_type="model_parse", consecutive_errors=consecutive, turns=9
    )


def test_nothing_is_unknown_and_not_zero() -> None:
    rollup = Rollup()
    assert (rollup.cost_nano, rollup.work_nano) == (None, None)
    rollup.add(spent(None), "a")
    assert (rollup.cost_nano, rollup.work_nano) == (None, None)
    (slot,) = rollup.slot_costs
    assert (slot.tokens.output, slot.tokens.reasoning, slot.work_cost) == (1, None, None)


def test_money_adds_up_exactly() -> None:
    rollup = Rollup()
    for _ in range(10):
        rollup.add(spent(0.1), "a")
    rollup.add(spent(0.2, "total", profile="b"))
    assert (rollup.cost_nano, rollup.work_nano) == (1_200_000_000, 1_000_000_000)
    assert [(slot.profile_id, slot.cost.actual, slot.work_cost) for slot in rollup.slot_costs] == [
        ("a", 1.0, 1.0),
        ("b", 0.2, None),
    ]


def test_a_turn_goes_to_whoever_its_own_rows_named() -> None:
    rollup = Rollup()
    for provider, outcome in (("x", PROGRESSED), (None, failed(1)), ("y", failed(2)), ("x", FATAL)):
        if provider is not None:
            rollup.add(spent(0.1, provider=provider), "a")
        rollup.add(outcome, "a")
    rollup.add(
        ResponseRejected(turn=5, error_type="model_parse", profile_id="a", model_id="m", provider="y"), "a"
    )
    rollup.add(failed(1), "a")
    rollup.add(failed(1), "stranger")
    slices = rollup.provider_stats
    assert [(one.provider, one.model, one.turns, one.working, one.rejected) for one in slices] == [
        (None, None, 1, 0, 0),
        (None, "m", 1, 0, 0),
        ("x", "m", 2, 1, 0),
        ("y", "m", 2, 0, 1),
    ]
    errors = rollup.errors.sums()
    assert sum(one.turns for one in slices) == errors.turns == 6
    fatal = sum(one.turns - one.working - sum(one.errors.values()) for one in slices)
    assert fatal == 1
    assert (errors.errors, errors.model_api, errors.max_consecutive) == (4, 4, 2)
    assert sum(errors.by_type.values()) == errors.errors
    assert rollup.most_chars == 10  # a turn that was cut has no largest reply


def test_tools_steps_breaches_and_sub_agents_are_counted() -> None:
    rollup = Rollup()
    rollup.add(ToolResult(turn=1, tool="shell"), "a")
    rollup.add(ToolResult(turn=1, tool="shell", failure="timeout"), "a")
    rollup.add(StepLoopRow(rule="repeat", onset=0, steps=5, repeats=5, loops=1), "a")
    rollup.add(Breach(limit="turns", threshold=1, observed=1, turns=1, agent_id="a"))
    rollup.add(
        AgentRow(profile_id="b", name="B", model_id="m", mode="tool_calling", parent="a", depth=1), "b-1"
    )
    rollup.add(LatePriceRow(loops=2, unpriced=1))
    failures = rollup.errors.sums().tool_failures
    assert failures is not None
    assert (failures.calls, failures.by_class) == (1, {"timeout": 1})
    assert rollup.found_step_loops is not None
    assert (rollup.tool_calls["shell"], rollup.found_step_loops.by_rule) == (2, {"repeat": 1})
    assert (len(rollup.breaches), [row.depth for row in rollup.spawned]) == (1, [1])


def test_s17_output_is_split_by_the_size_of_the_reply() -> None:
    for output, reasoning, estimate, expected in (
        (300, 290, 50, (50, 250, True)),
        (300, 120, 50, (180, 120, False)),
        (40, 10, 50, (40, 0, True)),
    ):
        usage = Usage(output_tokens=output, reasoning_output_tokens=reasoning)
        tokens, reconciled = tokens_of(usage, estimate)
        assert (tokens.output, tokens.reasoning, reconciled) == expected
    assert tokens_of(Usage(output_tokens=5))[0] == Tokens(output=5)
