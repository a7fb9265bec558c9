"""What a reply brings about: its calls are carried out, or the program that it is runs."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from loopwatch.agent import prompts
from loopwatch.agent.calling import Done, Wanted
from loopwatch.agent.programs.sandbox import Ended, run_program
from loopwatch.agent.programs.source import program_in
from loopwatch.client.items import Reply
from loopwatch.config.capabilities import ProgramParams
from loopwatch.records.outcome import ErrorType
from loopwatch.records.rows import ProgramCall, ProgramRow, ToolResult
from loopwatch.steps.step import Step

if TYPE_CHECKING:
    from loopwatch.agent.agent import Agent


UNKNOWN = "unknown"
"""The tool's name in the record where a model made one up, which may be of any length."""


class Answered(NamedTuple):
    """What was done for a reply: the steps that it was, and its error if it is an error turn."""

    steps: list[Step]
    error_type: ErrorType | None = None


async def carry_out_calls(agent: "Agent", reply: Reply) -> Answered:
    """Carry out the calls of a reply; prose without a call is asked on, in one neutral line."""
    ids = agent.context.add_reply(reply)
    if not reply.tool_calls:
        agent.context.add("user", prompts.CALL_REMINDER)
        return Answered(_prose(agent, reply, prompts.CALL_REMINDER), "missing_completion_no_call")
    wanted = [Wanted(call.name, call.parsed(number)) for number, call in enumerate(reply.tool_calls, 1)]
    every = await agent.toolbox.all(wanted)
    steps: list[Step] = []
    for id_, call, done in zip(ids, wanted, every, strict=True):
        record_call(agent, call.tool, done, call_id=id_)
        agent.context.add("tool", done.text, tool_call_id=id_)
        steps.append(_step(agent, reply, tool=call.tool, args=call.arguments, done=done, first=not steps))
    return Answered(steps)


async def run_reply(agent: "Agent", reply: Reply, params: ProgramParams) -> Answered:
    """Run the program that a reply is, and show its author what became of it."""
    agent.context.add("assistant", reply.text)
    source = program_in(reply.text)
    if source.error_type is not None:
        agent.context.add("user", prompts.PROGRAM_REMINDER)
        return Answered(_prose(agent, reply, prompts.PROGRAM_REMINDER), source.error_type)
    turn, clock = agent.turn, agent.session.clock

    async def answer(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        done = await agent.toolbox.one(Wanted(name, arguments))
        call = ProgramCall(turn=turn, tool=name, arguments=arguments, result=done.text)
        agent.session.record(call, agent.id)
        record_call(agent, name, done)
        if agent.finish.result is not None:
            return {"finished": True}
        return {"error": done.text.removeprefix("Error: ")} if done.failure else {"result": done.text}

    began = clock.monotonic()
    ended = await run_program(source.text, list(agent.toolbox.tools.values()), answer, params)
    seconds = round(clock.monotonic() - began, 3)
    agent.session.record(
        ProgramRow(
            turn=turn,
            error_type=ended.error_type,
            calls=ended.calls,
            cpu_secs=round(ended.cpu_secs, 3),
            seconds=seconds,
        ),
        agent.id,
    )
    shown = agent.session.secrets.hide(prompts.printed(ended.output, ended.detail))
    agent.context.add("user", shown)
    return Answered([_program_step(agent, reply, source.text, ended, shown)], ended.error_type)


def record_call(agent: "Agent", tool: str, done: Done, call_id: str | None = None) -> None:
    """Record that a tool was called, without its texts."""
    row = ToolResult(
        turn=agent.turn,
        tool=tool if tool in agent.toolbox.tools else UNKNOWN,
        call_id=call_id,
        failure=done.failure,
        chars=len(done.text),
        seconds=done.seconds,
        clipped_from=done.clipped_from,
    )
    agent.session.record(row, agent.id)


def _prose(agent: "Agent", reply: Reply, reminder: str) -> list[Step]:
    """The steps of a reply that did nothing: it was said, and the reminder after it."""
    at = agent.session.seconds
    said = Step(role=agent.id, result=reply.text, tokens=_tokens(reply), t=at)
    return [said, Step(role="system", result=reminder, t=at)]


def _step(agent: "Agent", reply: Reply, *, tool: str, args: Any, done: Done, first: bool) -> Step:
    return Step(
        role=agent.id,
        tool=tool,
        args=args if isinstance(args, Mapping) else {},
        result=done.text,
        error=done.text if done.failure is not None else None,
        text=reply.text if first else None,
        tokens=_tokens(reply) if first else 0,
        t=agent.session.seconds,
    )


def _program_step(agent: "Agent", reply: Reply, source: str, ended: Ended, shown: str) -> Step:
    return Step(
        role=agent.id,
        tool="program",
        args={"code": source},
        result=shown,
        error=ended.detail if ended.error_type is not None else None,
        tokens=_tokens(reply),
        t=agent.session.seconds,
    )


def _tokens(reply: Reply) -> int:
    usage = reply.usage
    return 0 if usage is None else (usage.input_tokens or 0) + (usage.output_tokens or 0)
