"""What one part of a document says about another: names that must exist, or be given only once.

All of it reads the document as it was written, so that a fault in one place hides none in another.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from loopwatch.config.capabilities import PARAMS
from loopwatch.config.defects import Fault, Path
from loopwatch.config.faults import fault
from loopwatch.config.fields import keys
from loopwatch.config.limits import halves
from loopwatch.config.loop_detection import unsaid
from loopwatch.config.suggestions import nearest

_IMPLEMENTATIONS = {"responses-as-code": "python"}
"""The capabilities that have implementations to choose from, and the only one there is so far."""


def references(document: Any) -> Iterator[Fault]:
    """Every fault between the parts of a document, whatever its parts are."""
    agents = [
        (("agents", index), agent)
        for index, agent in enumerate(_list(document, "agents"))
        if _is_object(agent)
    ]
    for key in ("id", "slug"):
        yield from _twice([((*path, key), agent.get(key)) for path, agent in agents], "another agent has it")
    ids = [agent["id"] for _, agent in agents if isinstance(agent.get("id"), str)]
    for path, agent in agents:
        yield from _model(path, agent, document)
        yield from unsaid(_object(agent, "loopDetection"), (*path, "loopDetection"))
        yield from _capabilities(path, agent)
        for index, name in enumerate(_list(agent, "subagents")):
            if isinstance(name, str) and name not in ids:
                yield Fault((*path, "subagents", index), f"no agent has this id{nearest(name, ids)}")
    for name in _object(document, "slots"):
        if not name.strip():
            yield Fault(("slots", name), "must have a name", shown=False)
    yield from halves(_object(document, "limits"), ("limits",))


def _model(path: Path, agent: Mapping[str, Any], document: Any) -> Iterator[Fault]:
    """An agent asks exactly one model, by its slot or by its id."""
    if "modelSlot" in agent and "modelId" in agent:
        yield Fault((*path, "modelId"), "modelSlot is given too: keep one of the two")
    if "modelSlot" not in agent and "modelId" not in agent:
        yield Fault((*path, "modelSlot"), "is missing: name a slot, or give a modelId")
    name, slots = agent.get("modelSlot"), document.get("slots", {})
    if isinstance(name, str) and _is_object(slots) and name not in slots:
        yield Fault((*path, "modelSlot"), f"no slot has this name{nearest(name, slots)}")


def _capabilities(path: Path, agent: Mapping[str, Any]) -> Iterator[Fault]:
    listed = [
        ((*path, "capabilities", index), item)
        for index, item in enumerate(_list(agent, "capabilities"))
        if _is_object(item)
    ]
    yield from _twice([((*place, "id"), item.get("id")) for place, item in listed], "it is listed before")
    for place, item in listed:
        yield from _params((*place, "params"), str(item.get("id")), item.get("params"))
        named = item.get("implementation")
        if isinstance(named, str) and named.strip() and named != _IMPLEMENTATIONS.get(str(item.get("id"))):
            yield Fault((*place, "implementation"), "there is no such implementation: leave the key out")


def _params(path: Path, capability: str, params: Any) -> Iterator[Fault]:
    """What is wrong with the settings of a capability's own."""
    block = PARAMS.get(capability)
    if block is None or not _is_object(params):
        return
    try:
        block.model_validate(params)
    except ValidationError as error:
        for details in error.errors(include_url=False, include_input=False):
            yield fault(details, (*path, *details["loc"]), keys(block))


def _twice(values: list[tuple[Path, Any]], reason: str) -> Iterator[Fault]:
    seen = set()
    for path, value in values:
        if isinstance(value, str) and value in seen:
            yield Fault(path, f"must be unique: {reason}")
        if isinstance(value, str):
            seen.add(value)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _object(document: Any, key: str) -> Mapping[str, Any]:
    """The object at ``key``; an empty one where there is none."""
    value = document.get(key) if isinstance(document, dict) else None
    return value if isinstance(value, dict) else {}


def _list(document: Any, key: str) -> list[Any]:
    """The list at ``key``; an empty one where there is none."""
    value = document.get(key) if isinstance(document, dict) else None
    return value if isinstance(value, list) else []
