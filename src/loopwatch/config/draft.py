"""A configuration while it is edited: every value as the text in its field, so that empty is not 0.

A draft may say anything; ``written`` has the document that it says, and what is wrong with it. What a
document has and no field shows is kept as JSON in the field ``MORE`` of its block, and so survives.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from loopwatch.config.entries import AGENT, DOCUMENT, LIMITS, LOOP_DETECTION, MORE, SLOT, Entry, Kind
from loopwatch.config.loading import judge
from loopwatch.config.loop_detection import FIGURES, SEED
from loopwatch.config.reading import Source, read
from loopwatch.config.starter import STARTER

ON = "on"
"""The text of a switch that is on; one that is off has none."""
Texts: TypeAlias = dict[str, str]
"""The fields of a block by their keys. What is absent is empty."""


@dataclass(slots=True)
class AgentDraft:
    """One agent, with its detector."""

    texts: Texts = field(default_factory=dict)
    loop: Texts = field(default_factory=lambda: {"channels": " ".join(SEED.channels)})


@dataclass(slots=True)
class Draft:
    """A whole document. ``root`` is the agent that a run starts, by its index; None where none is chosen."""

    texts: Texts = field(default_factory=dict)
    agents: list[AgentDraft] = field(default_factory=list)
    slots: list[Texts] = field(default_factory=list)
    limits: Texts = field(default_factory=dict)
    root: int | None = 0

    def order(self) -> list[int]:
        """The agents by their indices here, in the order of the document, which has the root first."""
        order = [*range(len(self.agents))]
        if self.root in order:
            order.insert(0, order.pop(order.index(self.root)))
        return order

    def add_agent(self) -> None:
        """One more agent, on the first slot, with an id that no other has."""
        ids = {agent.texts.get("id") for agent in self.agents}
        number = next(n for n in range(1, len(ids) + 2) if f"agent-{n}" not in ids)
        slot = self.slots[0].get("name", "") if self.slots else ""
        self.agents.append(AgentDraft({"id": f"agent-{number}", "modelSlot": slot}))

    def remove_agent(self, index: int) -> None:
        """One agent less; where it was the root, none is the root until one is chosen."""
        if index not in range(len(self.agents)):
            return
        del self.agents[index]
        if self.root is not None and self.root >= index:
            self.root = None if self.root == index else self.root - 1

    def add_slot(self) -> None:
        """One more slot, still without a name."""
        self.slots.append({})

    def remove_slot(self, index: int) -> None:
        """One slot less; agents that name it are refused until they name another."""
        if index in range(len(self.slots)):
            del self.slots[index]


def armed(loop: Mapping[str, str]) -> Texts:
    """A detector's fields once its switch is on: the seed's figures stand in those that were empty."""
    figures = {knob: loop.get(knob) or str(figure) for knob, figure in FIGURES.items()}
    return {**loop, "enabled": ON, **figures}


def fresh() -> Draft:
    """What a new configuration begins with: the starting document, its detector not armed."""
    document = read(STARTER).value
    for agent in document["agents"]:
        del agent["loopDetection"], agent["capabilities"]  # none: there is nothing to edit
    del document["preset"]
    return _draft(document)


def draft_of(source: Source) -> Draft:
    """The draft of a document that was read. Raises ConfigError where it has not a document's shape.

    Whatever else is wrong with it is shown in the field that it is about. An armed detector that lacks
    knobs has the seed's figures in their fields.
    """
    if not _has_shape(source.value):
        judge(source)  # which refuses it, and says where
    return _draft(source.value)


def _has_shape(document: Any) -> bool:
    if not isinstance(document, dict):
        return False
    agents, slots = document.get("agents", []), document.get("slots", {})
    if not isinstance(agents, list) or not isinstance(slots, dict):
        return False
    detectors = [agent.get("loopDetection", {}) for agent in agents if isinstance(agent, dict)]
    objects = [*agents, *detectors, *slots.values(), document.get("limits", {})]
    return all(isinstance(one, dict) for one in objects)


def _draft(document: Mapping[str, Any]) -> Draft:
    apart = ("agents", "slots", "limits")
    agents = [_agent(agent) for agent in document.get("agents", [])]
    return Draft(
        _texts({key: value for key, value in document.items() if key not in apart}, DOCUMENT),
        agents,
        [
            {**_texts(slot, SLOT, but="name"), "name": name}
            for name, slot in document.get("slots", {}).items()
        ],
        _texts(document.get("limits", {}), LIMITS),
        0 if agents else None,
    )


def _agent(agent: Mapping[str, Any]) -> AgentDraft:
    block = agent.get("loopDetection", {})
    loop = {"channels": " ".join(SEED.channels)} | _texts(block, LOOP_DETECTION)
    own = {key: value for key, value in agent.items() if key != "loopDetection"}
    return AgentDraft(_texts(own, AGENT), armed(loop) if block.get("enabled") is True else loop)


def _texts(block: Mapping[str, Any], entries: Mapping[str, Entry], but: str = MORE) -> Texts:
    """The fields of a block; in ``MORE``, every key of it that has none (``but`` is a field and no key)."""
    texts, more = {}, {}
    for key, value in block.items():
        if key in entries and key not in (MORE, but) and _fits(value, entries[key].kind):
            texts[key] = _text(value, entries[key].kind)
        else:
            more[key] = value
    return {**texts, MORE: json.dumps(more, indent=2, ensure_ascii=False)} if more else texts


def _fits(value: Any, kind: Kind) -> bool:
    """Whether a field can show the value; any other stays as it is, in ``MORE``, to be refused there."""
    match kind:
        case "switch":
            return isinstance(value, bool)
        case "names":
            return isinstance(value, list) and all(
                isinstance(one, str) and one.split() == [one] for one in value
            )
        case "number" | "json":
            return True
        case _:
            return isinstance(value, str | int | float)


def _text(value: Any, kind: Kind) -> str:
    match kind:
        case "switch":
            return ON if value else ""
        case "names":
            return " ".join(value)
        case "json":
            return json.dumps(value, indent=2, ensure_ascii=False)
        case _:
            return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
