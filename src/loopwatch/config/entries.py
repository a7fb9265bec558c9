"""What an editor asks for: a field for each key that a person sets, with its label and its help.

The help is the key's own description in the models, so that the editor, the JSON Schema and the
reference cannot say different things. Keys without a field (capabilities, whatever a document has that
is not known here) are edited together, as JSON, in one field a block: ``MORE``.
"""

import json
from typing import Literal, NamedTuple, get_args

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from loopwatch.config.document import Document, Profile, Slot
from loopwatch.config.limits import Limits
from loopwatch.config.loop_detection import FIGURES, FurtherRule, LoopDetectionBlock
from loopwatch.detect.settings import CHANNELS

Kind = Literal["text", "prose", "number", "json", "switch", "names", "slot", "literal"]
"""How a key is edited: a line, several lines, a number, a JSON object, on or off, some of several names, the
name of a slot, or one of JSON's true and false."""

MORE = "more"
"""The field of a block for every key that has no field of its own, as one JSON object."""


class Entry(NamedTuple):
    """One field: the key it sets, and what stands beside it. ``figure`` is shown while it is empty."""

    key: str
    label: str
    kind: Kind
    help: str
    figure: str = ""
    choices: tuple[str, ...] = ()


def _entries(block: type[BaseModel], *rows: tuple[str, str, Kind]) -> dict[str, Entry]:
    info = {str(field.alias): field for field in block.model_fields.values()}
    return {key: Entry(key, label, kind, info[key].description or "") for key, label, kind in rows}


def _default(block: type[BaseModel], key: str) -> str:
    """What holds where the key is absent, as JSON; "" where nothing does."""
    default = next(field for field in block.model_fields.values() if field.alias == key).get_default()
    return "" if default is None or default is PydanticUndefined else json.dumps(default)


def _more(block: str, example: str) -> dict[str, Entry]:
    return {MORE: Entry(MORE, "Further keys", "json", f"Every other key of {block}, as JSON.", example)}


DOCUMENT = _entries(Document, ("preset", "Label", "text")) | _more(
    "the document", '{"$schema": "./loopwatch.schema.json"}'
)
AGENT = _entries(
    Profile,
    ("name", "Name", "text"),
    ("id", "Id", "text"),
    ("slug", "Slug", "text"),
    ("modelSlot", "Model slot", "slot"),
    ("modelId", "Model of its own", "text"),
    ("promptCacheTtl", "Prompt-cache lifetime", "text"),
    ("customInstructions", "Instructions", "prose"),
) | _more("the agent: capabilities, subagents, steps", '{"capabilities": [{"id": "shell"}]}')
KNOBS = {
    key: entry._replace(figure=str(FIGURES[key]))
    for key, entry in _entries(
        LoopDetectionBlock,
        ("windowWords", "Window (words)", "number"),
        ("repeatThreshold", "Repeats before suspicious", "number"),
        ("minOffenders", "Offenders to saturate", "number"),
        ("minSaturatedRun", "Saturated words before abandoning", "number"),
        ("maxResponseChars", "Reply ceiling (characters)", "number"),
    ).items()
}
"""The five knobs, each with the seed's figure."""
_FURTHER = _entries(
    LoopDetectionBlock,
    ("rules", "Further rules", "names"),
    ("channels", "Channels watched", "names"),
    ("retryWith", "Retry with", "json"),
    ("stopOnSameLoop", "Stop at the same loop", "switch"),
    ("shadow", "Shadow", "switch"),
)
LOOP_DETECTION = {
    **_entries(LoopDetectionBlock, ("enabled", "Loop detection", "switch")),
    **KNOBS,
    **_FURTHER,
    "rules": _FURTHER["rules"]._replace(choices=get_args(FurtherRule)),
    "channels": _FURTHER["channels"]._replace(choices=CHANNELS),
    "retryWith": _FURTHER["retryWith"]._replace(figure='{"temperature": 0.7}'),
    **_more("the detector", "{}"),
}
SLOT = {
    "name": Entry("name", "Slot", "text", "What agents call it.", "primary"),
    **_entries(
        Slot,
        ("model", "Model", "text"),
        ("baseUrl", "Base URL", "text"),
        ("apiKeyEnv", "API key variable", "text"),
        ("generationLookup", "Price look-up", "literal"),
    ),
    **_more("the slot", "{}"),
}
"""A slot's name is no key of it: it is the key under which the document has it."""
LIMITS = {
    key: entry._replace(figure=_default(Limits, key))
    for key, entry in _entries(
        Limits,
        ("maxTurns", "Turns", "number"),
        ("maxRuntimeSecs", "Running time (seconds)", "number"),
        ("maxCost", "Cost (US dollars)", "number"),
        ("maxConsecutiveErrors", "Errors in a row", "number"),
        ("maxErrorRate", "Error rate (0 to 1)", "number"),
        ("errorRateWindow", "Error rate window (turns)", "number"),
        ("maxStepLoops", "Repeated steps", "number"),
        ("modelCallTimeoutSecs", "Call timeout (seconds)", "number"),
        ("modelStreamIdleSecs", "Stream idle (seconds)", "number"),
        ("maxModelRetries", "Retries", "number"),
        ("modelRetryMaxDelaySecs", "Longest retry delay (seconds)", "number"),
        ("maxParallel", "Agents at once", "number"),
        ("replayMaxBytes", "Journal (bytes)", "number"),
    ).items()
} | _more("the limits", "{}")
