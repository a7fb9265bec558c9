"""Agents as they are started: each with the tools of its profile, and sub-agents where it may have any."""

from collections.abc import Mapping
from typing import Any

from loopwatch.agent.agent import Agent, Ending
from loopwatch.agent.members import Member
from loopwatch.agent.session import Session
from loopwatch.agent.tools.files import Files
from loopwatch.agent.tools.shell import Shell
from loopwatch.agent.tools.tool import Tool, ToolFailure

NO_MORE = "no further agent can be started"
NO_RESULT = "the agent ended without a result"


class Crew:
    """Every agent of a run; ``started`` counts those that were, the root included."""

    def __init__(self, session: Session) -> None:
        """Begin without any."""
        self.started = 0
        self._session = session

    async def work(self, member: Member, task: str, parent: Agent | None = None) -> Ending:
        """Start an agent and wait for its end."""
        self.started += 1
        agent = Agent(self._session, member, agent_id=self._session.new_agent_id(member.label), parent=parent)
        agent.equip([*self._tools(member), *self._spawning(agent)])
        return await agent.work(task)

    def tool_names(self, member: Member) -> list[str]:
        """The names of the tools that an agent of this profile has."""
        names = [tool.name for tool in self._tools(member)]
        spawns = member.spawn is not None and member.profile.subagents
        return sorted([*names, "finish", *(["spawn"] if spawns else [])])

    def _tools(self, member: Member) -> list[Tool]:
        session = self._session
        found = [*member.tools]
        if member.shell is not None:
            shell = Shell(session.work, session.environment, timeout_secs=member.shell.timeout_secs)
            found.append(shell.tool())
        if member.has_files:
            found += Files(session.work).tools()
        return found

    def _spawning(self, agent: Agent) -> list[Tool]:
        """The tool that starts sub-agents, where the profile has it and names any."""
        member, bounds = agent.member, agent.member.spawn
        roster = {one.label: one for one in (self._session.members[id_] for id_ in member.profile.subagents)}
        if bounds is None or not roster:
            return []

        async def spawn(arguments: Mapping[str, Any]) -> str:
            chosen, task = roster.get(str(arguments.get("agent"))), arguments.get("task")
            if chosen is None or not isinstance(task, str) or not task.strip():
                raise ToolFailure(f"agent must be one of {', '.join(roster)}, task a text", "bad_arguments")
            if agent.depth >= bounds.max_depth or self.started > bounds.max_agents:
                raise ToolFailure(NO_MORE, "refused")
            async with agent.place.away():
                ending = await self.work(chosen, task, parent=agent)
            if ending.status != "completed":
                raise ToolFailure(NO_RESULT)
            return ending.result or ""

        return [Tool("spawn", _DESCRIPTION, _schema(roster), spawn, parallel=True, limit_secs=None)]


_DESCRIPTION = "Have another agent do a part of the work; its result is returned."


def _schema(roster: Mapping[str, Member]) -> dict[str, Any]:
    named = "; ".join(f"{label}: {member.profile.name}" for label, member in roster.items())
    return {
        "type": "object",
        "properties": {
            "agent": {"type": "string", "enum": [*roster], "description": named},
            "task": {"type": "string", "description": "What it is to do, with all that it needs to know."},
        },
        "required": ["agent", "task"],
        "additionalProperties": False,
    }
