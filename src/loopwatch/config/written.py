"""What a draft says: its document, and every defect beside the field that it is about.

The judging is ``loading.judge``, the same as for a file and a launch. Only what a document cannot show is
judged here: no agent chosen as the root, and a field for JSON that holds none.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from loopwatch.config.defects import ABSENT, Defect, Fault, Path, printable
from loopwatch.config.draft import ON, AgentDraft, Draft, Texts
from loopwatch.config.entries import AGENT, DOCUMENT, LIMITS, LOOP_DETECTION, MORE, SLOT, Entry
from loopwatch.config.loading import Config, judge
from loopwatch.config.loop_detection import SEED
from loopwatch.config.reading import is_number, read
from loopwatch.errors import ConfigError

_REQUIRED = {"id", "name", "model"}
"""Texts that are written even where they are empty: their absence would have to be explained."""
_LITERALS = {"true": True, "false": False}
NO_ROOT = "no agent is the root, which a run starts: choose one"


@dataclass(frozen=True, slots=True)
class Remark:
    """A refusal or a warning. ``field`` is the name of the field, ``str()`` the line with its label."""

    field: str
    defect: Defect

    def __str__(self) -> str:
        """Agent, label, value and reason."""
        return str(self.defect)

    @property
    def beside(self) -> str:
        """What stands beside the field, which shows the label and the value itself."""
        return str(replace(self.defect, locus="", value=None, line=None))


@dataclass(frozen=True, slots=True)
class Written:
    """The document that a draft says, as text, and what is to be said of it.

    ``config`` is None where it is refused.
    """

    text: str
    config: Config | None
    refusals: tuple[Remark, ...]
    warnings: tuple[Remark, ...]


def written(draft: Draft) -> Written:
    """Write the document and judge it."""
    writing = _Writing()
    text = json.dumps(writing.document(draft), indent=2, ensure_ascii=False)
    try:
        source = read(text)
    except ConfigError as error:  # it is too large
        return Written(text, None, tuple(Remark("", defect) for defect in error.defects), ())
    source.duplicates.update(writing.twice)
    try:
        config = judge(source, writing.faults)
    except ConfigError as error:
        return Written(text, None, tuple(writing.remarks(error.defects)), ())
    return Written(text, config, (), tuple(writing.remarks(config.warnings)))


@dataclass(slots=True)
class _Writing:
    """Writes one document, and keeps which field each part of it comes from."""

    fields: dict[Path, tuple[str, str]] = field(default_factory=dict)
    """The name and the label of a field by the path that it sets."""
    others: dict[Path, tuple[str, str]] = field(default_factory=dict)
    """The field for all that has none below a path."""
    faults: list[Fault] = field(default_factory=list)
    twice: dict[Path, None] = field(default_factory=dict)

    def document(self, draft: Draft) -> dict[str, Any]:
        if draft.agents and draft.root not in range(len(draft.agents)):
            self.faults.append(Fault(("agents",), NO_ROOT, shown=False))
        self.fields["agents",] = ("agents", "Agents")
        agents = [
            self.agent(draft.agents[at], f"agents.{at}", ("agents", place))
            for place, at in enumerate(draft.order())
        ]
        slots = self.slots(draft.slots)
        limits = self.block(draft.limits, LIMITS, "limits", ("limits",))
        said = self.block(draft.texts, DOCUMENT, "", ())
        return {**said, "agents": agents, "slots": slots, "limits": limits}

    def agent(self, agent: AgentDraft, name: str, path: Path) -> dict[str, Any]:
        block = self.block(agent.texts, AGENT, name, path)
        loop = self.block(agent.loop, LOOP_DETECTION, f"{name}.loopDetection", (*path, "loopDetection"))
        if loop.get("channels") == list(SEED.channels):
            del loop["channels"]  # the default
        if loop != {"enabled": False}:
            block["loopDetection"] = loop
        return block

    def slots(self, every: list[Texts]) -> dict[str, Any]:
        slots: dict[str, Any] = {}
        for index, slot in enumerate(every):
            name = slot.get("name", "")
            path: Path = ("slots", name)
            if name in slots:
                self.twice[path] = None
            slots[name] = self.block(slot, SLOT, f"slots.{index}", path, but="name")
            self.fields[path] = (f"slots.{index}.name", SLOT["name"].label)
        return slots

    def block(
        self, texts: Mapping[str, str], entries: Mapping[str, Entry], name: str, path: Path, but: str = ""
    ) -> dict[str, Any]:
        """One object; ``but`` is a field of it that is no key."""
        said: dict[str, Any] = {}
        label = f"slot `{printable(texts['name'])}`: " if but and texts.get("name") else ""
        for key, entry in entries.items():
            place = f"{name}.{key}".removeprefix(".")
            if key == MORE:
                self.others[path] = (place, label + entry.label)
                self.more(texts, said, entry, path)
            elif key != but:
                self.fields[*path, key] = (place, label + entry.label)
                value = self.value(texts.get(key, ""), entry, (*path, key))
                if value is not ABSENT:
                    said[key] = value
        return said

    def more(self, texts: Mapping[str, str], said: dict[str, Any], entry: Entry, path: Path) -> None:
        """The keys that have no field. One that has, and is filled in too, comes twice."""
        more = self.value(texts.get(MORE, ""), entry, path)
        if not isinstance(more, dict):
            if more is not ABSENT:
                self.faults.append(Fault(path, "must be an object { … }", shown=False))
            return
        for key, value in more.items():
            if texts.get(key):
                self.twice[*path, key] = None
            self.fields[*path, key] = self.others[path]
            said[key] = value

    def value(self, text: str, entry: Entry, path: Path) -> Any:
        """What a field says; ABSENT where it is empty."""
        match entry.kind:
            case "switch":
                return text == ON if text or entry.key == "enabled" else ABSENT
            case "names":
                return text.split() if text or entry.key == "channels" else ABSENT
            case "number":
                return _number(text)
            case "json":
                return self.json(text, path)
            case "literal":
                return _LITERALS.get(text, text or ABSENT)
            case _:
                return text if text or entry.key in _REQUIRED else ABSENT

    def json(self, text: str, path: Path) -> Any:
        if not text.strip():
            return ABSENT
        try:
            source = read(text)
        except ConfigError as error:
            self.faults.append(Fault(path, f"this is not JSON: {error.defects[0]}", shown=False))
            return ABSENT
        self.twice.update({(*path, *place): None for place in source.duplicates})
        return source.value

    def remarks(self, defects: tuple[Defect, ...]) -> Iterator[Remark]:
        for defect in defects:
            name, label = self.found(defect.path)
            yield Remark(name, replace(defect, locus=label))

    def found(self, path: Path) -> tuple[str, str]:
        """The field that sets the value at a path, or the part of it that is nearest."""
        own = self.fields.get(path) or self.others.get(path)
        while own is None:
            path = path[:-1]
            own = self.others.get(path) or self.fields.get(path)
        return own


def _number(text: str) -> Any:
    text = text.strip()
    if not text:
        return ABSENT
    return read(text).value if is_number(text) else text
