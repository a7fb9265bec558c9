"""The summary of a run, made of its sums."""

from importlib.metadata import version
from typing import TYPE_CHECKING

from loopwatch.agent.programs.source import LANGUAGE
from loopwatch.records.money import usd
from loopwatch.records.summary import FORMAT, VERSION, ExecutionMode, RunSummary, Summary

if TYPE_CHECKING:
    from loopwatch.agent.agent import Ending
    from loopwatch.agent.session import Session


def recorder() -> str:
    """Who records: this package and its version."""
    return f"loopwatch {version('loopwatch')}"


def summary_of(
    session: "Session",
    ending: "Ending",
    *,
    started_at: str,
    tools: list[str],
    mode: ExecutionMode,
    code: int,
) -> RunSummary:
    """The summary, with the journal as it stands."""
    return RunSummary(
        format=FORMAT,
        version=VERSION,
        session_id=session.folder.session_id,
        recorder=recorder(),
        preset=session.config.document.preset,
        started_at=started_at,
        finished_at=session.moment,
        status=ending.status,
        exit_code=code,
        models={id_: member.model for id_, member in session.members.items()},
        config=session.config.declared,
        summary=_figures(session, ending, tools, mode),
        journal=session.journal.state,
    )


def _figures(session: "Session", ending: "Ending", tools: list[str], mode: ExecutionMode) -> Summary:
    rollup = session.rollup
    late, cost, work = rollup.late, rollup.cost_nano, rollup.work_nano
    spawned = rollup.spawned
    return Summary(
        terminal_status=ending.status,
        execution_mode=mode,
        program_language=LANGUAGE if mode == "responses_as_code" else None,
        duration_secs=round(session.seconds, 3),
        errors=rollup.errors.sums(),
        agents_spawned=len(spawned),
        subagent_count=len({row.profile_id for row in spawned}),
        max_subagent_depth=max((row.depth for row in spawned), default=0),
        cost=None if cost is None else usd(cost),
        work_cost=None if work is None else usd(work),
        slot_costs=rollup.slot_costs,
        loop_abort_unpriced=rollup.unpriced_loops,
        loop_abort_estimated_cost=None if late is None else late.estimated_cost,
        abandoned_unpriced=0 if late is None else late.others_unpriced,
        rejected_responses=rollup.rejected,
        provider_stats=rollup.provider_stats,
        step_loops=rollup.found_step_loops,
        tool_calls=rollup.tool_calls.total(),
        calls_by_tool=dict(sorted(rollup.tool_calls.items())),
        max_response_chars=rollup.most_chars,
        max_response_output_tokens=rollup.most_tokens,
        effective_tools=tools,
        limits=session.config.limits.model_dump(by_alias=True, exclude_none=True),
        limit_hit=ending.breach,
        breaches=len(rollup.breaches),
    )
