"""Nested records made flat: what a document of a run holds, and under which names.

Every figure of the summary is there, under its own path; so are the ceilings, the root's profile under
``root.``, the other agents' under ``agent.<id>.``, and for each model what it used and cost. What a record
does not say is absent; only ``has.*``, ``cap.*`` and ``armed`` say no by being false, so that there is
something to divide by.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, get_args

import msgspec

from loopwatch.config.document import CapabilityId
from loopwatch.query.values import Value, number, stored
from loopwatch.records.journal import Record
from loopwatch.records.moments import micros, read_moment
from loopwatch.records.money import usd
from loopwatch.records.summary import RunSummary, SlotCost

LONGEST = 200
"""Characters of a string that is a value. Longer ones are prose, such as an agent's instructions."""

MICROS = 1_000
"""Microseconds in a millisecond, which documents hold moments in."""


def flat(value: Any, path: str) -> Iterable[tuple[str, Value]]:
    """The fields that ``value``, parsed JSON, makes under ``path``. A list says only how long it is."""
    if isinstance(value, Mapping):
        yield from flat_all({f"{path}.{name}": inner for name, inner in value.items()})
    elif isinstance(value, list | tuple):
        yield f"{path}.count", float(len(value))
    else:
        held = stored(value)
        if held is not None and not (isinstance(held, str) and len(held) > LONGEST):
            yield path, held


def finished_run(run: RunSummary) -> dict[str, Value]:
    """The document of a run that has a summary; whoever knows its place adds the ``id``."""
    summary: dict[str, Any] = msgspec.to_builtins(run.summary)
    hit = run.summary.limit_hit
    facts = {
        "state": run.status,
        "status": run.summary.terminal_status,
        "mode": run.summary.execution_mode,
        "limit": "none" if hit is None else hit.limit,
        "preset": run.preset,
        "cost": run.summary.cost,
        "exitCode": run.exit_code,
        "recorder": run.recorder,
        "has.summary": True,
    }
    return {
        **dict(_moments(run.started_at, run.finished_at)),
        **dict(flat_all(facts)),
        **dict(_configuration(run.config, run.models)),
        **dict(flat(summary, "summary")),
        **dict(flat(summary.get("limits", {}), "limits")),
        **{f"tool.{name}": True for name in run.summary.effective_tools},
        **dict(_spending(run.summary.slot_costs)),
    }


def unfinished_run(record: Record) -> dict[str, Value]:
    """The document of a run without a summary: it is running, or was killed. What is known is there."""
    facts = {
        "state": "unfinished",
        "cost": None if record.rollup.cost_nano is None else usd(record.rollup.cost_nano),
        "recorder": record.header.recorder,
        "has.summary": False,
        "preset": record.header.config.get("preset"),
    }
    return {
        **dict(_moments(record.started_at, "")),
        **dict(flat_all(facts)),
        **dict(_configuration(record.header.config, record.header.models)),
        **dict(_spending(record.rollup.slot_costs)),
    }


def flat_all(facts: Mapping[str, Any]) -> Iterable[tuple[str, Value]]:
    """The fields that each of the facts makes under its name."""
    for name, value in facts.items():
        yield from flat(value, name)


def _moments(started: str, finished: str) -> Iterable[tuple[str, Value]]:
    for name, written in (("started", started), ("finished", finished)):
        moment = read_moment(written)
        if moment is not None:
            yield name, float(micros(moment) // MICROS)


def _configuration(config: Mapping[str, Any], models: Mapping[str, str]) -> Iterable[tuple[str, Value]]:
    """The root's profile and what it may do, then the other agents'."""
    agents = [agent for agent in config.get("agents", ()) if isinstance(agent, Mapping)]
    yield "agents", float(len(agents))
    for place, agent in enumerate(agents):
        name = str(agent.get("id", place))
        model = models.get(name)
        profile = {key: value for key, value in agent.items() if key != "capabilities"}
        able = dict(_capabilities(agent))
        if place == 0:
            loops = agent.get("loopDetection")
            yield "armed", isinstance(loops, Mapping) and loops.get("enabled") is True
            yield from flat(model, "model")
            yield from flat(profile, "root")
            yield from ((f"cap.{each}", each in able) for each in get_args(CapabilityId))
            for each, params in able.items():
                yield from flat(params, f"cap.{each}")
        else:
            yield from flat(profile, f"agent.{name}")
        yield from flat(model, f"agent.{name}.model")
        yield from ((f"agent.{name}.cap.{each}", True) for each in able)


def _capabilities(agent: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    """What an agent may do, with the settings of each."""
    for each in agent.get("capabilities", ()):
        if isinstance(each, str):
            yield each, {}
        elif isinstance(each, Mapping) and each.get("enabled", True) is not False:
            yield str(each.get("id", "")), each.get("params", {})


def _spending(slots: Iterable[SlotCost]) -> Iterable[tuple[str, Value]]:
    """What each model used and cost, over all agents."""
    tokens: defaultdict[str, float] = defaultdict(float)
    cost: defaultdict[str, int] = defaultdict(int)
    for slot in slots:
        used = dict(flat_all(msgspec.to_builtins(slot.tokens)))
        tokens[slot.model_id] += sum(number(value) or 0.0 for value in used.values())
        if slot.cost.nano is not None:
            cost[slot.model_id] += slot.cost.nano
    for model, total in tokens.items():
        yield f"model.{model}.tokens", total
    for model, spent in cost.items():
        yield f"model.{model}.cost", usd(spent)
