"""From what pydantic found to faults in our words, and from faults to defects in the document's order."""

from collections.abc import Sequence

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from loopwatch.config.defects import ABSENT, Defect, Fault, Path, agent_name, found, locus, showable, shown
from loopwatch.config.document import Capability, Document, Profile, Slot
from loopwatch.config.fields import keys
from loopwatch.config.limits import Limits
from loopwatch.config.loop_detection import LoopDetectionBlock
from loopwatch.config.reading import Source
from loopwatch.config.suggestions import nearest

_REASONS = {
    "missing": "is missing: it has no default",
    "string_type": "must be text in double quotes",
    "bool_type": "must be true or false",
    "tuple_type": "must be a list [ … ]",
    "dict_type": "must be an object { … }",
    "model_type": "must be an object { … }",
    "model_attributes_type": "must be an object { … }",
}
_BLOCKS: dict[Path, type[BaseModel]] = {
    (): Document,
    ("agents", "*"): Profile,
    ("agents", "*", "loopDetection"): LoopDetectionBlock,
    ("agents", "*", "capabilities", "*"): Capability,
    ("slots", "*"): Slot,
    ("limits",): Limits,
}
"""Each block by its path, ``*`` for an index or a slot's name."""
_TABLES = ("loopDetection", "limits")
"""The blocks whose defects come in the order of their table, however they are written."""
_ORDER = [
    key for block in (LoopDetectionBlock, Limits, Document, Profile, Slot, Capability) for key in keys(block)
]
"""Every key, each block's in the order of its table."""


def faults(error: ValidationError) -> list[Fault]:
    """Every fault that the models found."""
    return [_fault(details) for details in error.errors(include_url=False, include_input=False)]


def _fault(details: ErrorDetails) -> Fault:
    path = details["loc"]
    block = tuple("*" if isinstance(key, int) else key for key in path[:-1])
    if block[:1] == ("slots",):
        block = ("slots", "*")
    return fault(details, path, keys(_BLOCKS[block]) if block in _BLOCKS else ())


def fault(details: ErrorDetails, path: Path, known: Sequence[str]) -> Fault:
    """What pydantic found, in our words; ``known`` are the keys that the object at hand may have."""
    if details["type"] == "extra_forbidden":
        return Fault(path, f"is no key here{nearest(str(path[-1]), known)}", shown=False)
    if details["type"] == "literal_error":
        return Fault(path, f"must be {details['ctx']['expected']}")
    return Fault(path, _REASONS.get(details["type"], details["msg"]))


def in_order(source: Source, every: list[Fault]) -> list[Defect]:
    """The defects in the order in which the document is written, a block of figures in that of its table."""
    return [defect(source, fault) for fault in sorted(every, key=lambda fault: _rank(source, fault.path))]


def _rank(source: Source, path: Path) -> tuple[int, int]:
    """Where the value stands, or the object that lacks it; then the place of its key in the table."""
    for depth, key in enumerate(path[:-1], start=1):
        if key in _TABLES:
            return source.mark(path[:depth]), _place(path[depth])
    return source.mark(path), _place(path[-1]) if path else 0


def _place(key: str | int) -> int:
    return _ORDER.index(key) if key in _ORDER else len(_ORDER)


def defect(source: Source, fault: Fault) -> Defect:
    """The fault with its agent, its value and its place."""
    path = fault.path
    value = found(source.value, path)
    is_shown = fault.shown and value is not ABSENT and showable(path)
    agent = agent_name(source.value, path)
    line, column = source.place(source.mark(path))
    return Defect(
        fault.reason,
        agent=agent,
        locus=locus(path if agent is None else path[2:]),
        value=shown(value) if path and is_shown else None,
        line=line,
        column=column,
        path=path,
    )
