"""A draft as a form sends it: names such as ``agents.0.loopDetection.windowWords``, and their texts.

``written`` names fields in the same way. What is missing from a form is empty, as an unchecked box is;
a name that is none of the editor's is left out.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from loopwatch.config.draft import AgentDraft, Draft, Texts
from loopwatch.config.entries import AGENT, DOCUMENT, LIMITS, LOOP_DETECTION, SLOT, Entry

_INDEX = re.compile("0|[1-9][0-9]{0,3}")
"""An index of an agent or a slot: no document holds 10,000 values."""


def posted(fields: Iterable[tuple[str, str]]) -> Draft:
    """The draft that a form's fields are; those of one name, such as checked boxes, are joined by blanks."""
    texts: defaultdict[str, list[str]] = defaultdict(list)
    for name, text in fields:
        texts[name].append(text.replace("\r\n", "\n"))
    joined = {name: " ".join(filter(None, said)) for name, said in texts.items()}
    agents = {
        index: AgentDraft(
            _block(joined, AGENT, f"agents.{index}."),
            _block(joined, LOOP_DETECTION, f"agents.{index}.loopDetection."),
        )
        for index in _indices(joined, "agents")
    }
    chosen = joined.get("root", "")
    root = next((place for place, index in enumerate(agents) if str(index) == chosen), None)
    return Draft(
        _block(joined, DOCUMENT, ""),
        [*agents.values()],
        [_block(joined, SLOT, f"slots.{index}.") for index in _indices(joined, "slots")],
        _block(joined, LIMITS, "limits."),
        root,
    )


def _block(fields: Mapping[str, str], entries: Mapping[str, Entry], prefix: str) -> Texts:
    return {key: fields[prefix + key] for key in entries if prefix + key in fields}


def _indices(fields: Iterable[str], block: str) -> list[int]:
    """The indices under which a form has entries of a list, in order."""
    within = (
        name.removeprefix(f"{block}.").partition(".")[0] for name in fields if name.startswith(f"{block}.")
    )
    return sorted({int(index) for index in within if _INDEX.fullmatch(index)})
