"""Runs against the scriptable provider: what it answers with, and what a run left behind."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from loopwatch.agent.run import Result, Run
from loopwatch.records.journal import Record
from loopwatch.testing.answers import Answer, Scripted
from loopwatch.testing.provider import ScriptedProvider, scripted_provider
from loopwatch.testing.steps import CallTool, Done, Finish, Role, Say, Usage

SEED_BLOCK = {
    "enabled": True,
    "windowWords": 256,
    "repeatThreshold": 32,
    "minOffenders": 2,
    "minSaturatedRun": 3000,
    "maxResponseChars": 250000,
}
LIMITS: dict[str, Any] = {"maxParallel": 4, "replayMaxBytes": 268435456, "modelRetryMaxDelaySecs": 1}
TASK = "Do what is to be done."


def calls(
    *wanted: tuple[str, Mapping[str, Any] | str],
    text: str = "",
    usage: Usage | None = None,
    **fields: Any,
) -> Answer:
    """A reply that calls tools: pairs of a name and its arguments."""
    steps: list[Any] = [Role(), Say(text)]
    for index, (name, arguments) in enumerate(wanted):
        written = arguments if isinstance(arguments, str) else json.dumps(arguments)
        steps.append(CallTool(index, f"call_{index}", name, written))
    steps.append(Finish("tool_calls"))
    if usage is not None:
        steps.append(usage)
    return Answer([*steps, Done()], **fields)


def finish(result: str = "done", **fields: Any) -> Answer:
    """The reply that ends an agent's work."""
    return calls(("finish", {"result": result}), **fields)


def profile(**changes: Any) -> dict[str, Any]:
    """An agent that calls tools and asks the slot ``primary``."""
    return {"id": "implementer", "name": "Implementer", "modelSlot": "primary", "capabilities": []} | changes


def capabilities(*ids: str, **params: Any) -> list[dict[str, Any]]:
    """Capabilities by their ids; ``params`` are the last one's."""
    return [{"id": one, **({"params": params} if params and one == ids[-1] else {})} for one in ids]


def document(
    base_url: str, *agents: dict[str, Any], limits: Mapping[str, Any] | None = None, **slot: Any
) -> dict[str, Any]:
    """A configuration whose model is asked at ``base_url``."""
    return {
        "agents": list(agents) or [profile()],
        "slots": {"primary": {"model": "scripted-model", "baseUrl": base_url, **slot}},
        "limits": LIMITS | dict(limits or {}),
    }


class Ended(NamedTuple):
    """A run that has ended: its result, its events, and the provider that it asked."""

    result: Result
    events: list[dict[str, Any]]
    provider: ScriptedProvider

    @property
    def summary(self) -> dict[str, Any]:
        """The figures, as they are written."""
        figures: dict[str, Any] = json.loads(self.result.folder.summary.read_bytes())["summary"]
        return figures

    @property
    def errors(self) -> dict[str, Any]:
        """The error rollup."""
        found: dict[str, Any] = self.summary["errors"]
        return found

    @property
    def journal(self) -> Record:
        """The journal, read back."""
        return self.result.folder.read_journal()

    @property
    def raw(self) -> str:
        """The journal as it is on disk."""
        return self.result.folder.journal.read_text(encoding="utf-8")

    def of(self, *types: str, agent: str | None = None) -> list[dict[str, Any]]:
        """The events of some types, without what surrounds them."""
        around = ("timestamp", "sessionId", "agentId")
        return [
            {key: value for key, value in event.items() if key not in around}
            for event in self.events
            if event["type"] in types and agent in (None, event.get("agentId"))
        ]

    def logged(self, level: str | None = None) -> list[str]:
        """The lines for people."""
        return [log["message"] for log in self.of("log") if level in (None, log["level"])]

    def outcomes(self, agent: str | None = None) -> list[str]:
        """Outcome after outcome, an error by its type."""
        return [one.get("errorType", one["outcome"]) for one in self.of("turn_outcome", agent=agent)]

    def messages(self, request: int = -1) -> list[dict[str, Any]]:
        """The messages of a request."""
        found: list[dict[str, Any]] = self.provider.requests[request].body["messages"]
        return found


@asynccontextmanager
async def begun(
    tmp_path: Path,
    *answers: Scripted,
    agents: tuple[dict[str, Any], ...] = (),
    limits: Mapping[str, Any] | None = None,
    slot: Mapping[str, Any] | None = None,
    **options: Any,
) -> AsyncIterator[tuple[Run, list[dict[str, Any]], ScriptedProvider]]:
    """A run that is ready to start, its events to come, and its provider."""
    events: list[dict[str, Any]] = []

    def keep(event: dict[str, Any]) -> None:
        events.append(msgspec.json.decode(msgspec.json.encode(event)))

    async with scripted_provider(*answers) as provider:
        config = document(provider.base_url, *agents, limits=limits, **(slot or {}))
        yield Run(config, TASK, runs=tmp_path, on_event=keep, **options), events, provider


async def run(tmp_path: Path, *answers: Scripted, **options: Any) -> Ended:
    """Run to the end."""
    async with begun(tmp_path, *answers, **options) as (begun_run, events, provider):
        result = await begun_run.astart()
    return Ended(result, events, provider)
