"""Documents to judge: a sound one, and what is said of it once something in it is changed."""

import copy
import json
from typing import Any

from loopwatch.config.loading import Config, load_config
from loopwatch.errors import ConfigError

SEED_BLOCK = {
    "enabled": True,
    "windowWords": 256,
    "repeatThreshold": 32,
    "minOffenders": 2,
    "minSaturatedRun": 3000,
    "maxResponseChars": 250000,
}
KNOBS = list(SEED_BLOCK)[1:]
SOUND: dict[str, Any] = {
    "agents": [{"id": "implementer", "name": "Implementer", "modelSlot": "primary"}],
    "slots": {"primary": {"model": "gpt-5.4-mini"}},
    "limits": {"maxParallel": 4, "replayMaxBytes": 268435456, "maxTurns": 40},
}
EVERYTHING: dict[str, Any] = {
    "$schema": "./loopwatch.schema.json",
    "preset": "balanced",
    "agents": [
        {
            "id": "lead",
            "name": "Lead",
            "slug": "lead-1",
            "modelSlot": "primary",
            "promptCacheTtl": "1h",
            "loopDetection": SEED_BLOCK
            | {
                "rules": ["phrases", "cycle"],
                "channels": ["content", "tools"],
                "retryWith": {"temperature": 0.7, "stop": ["}"]},
                "stopOnSameLoop": True,
                "shadow": True,
            },
            "capabilities": [
                {"id": "shell", "params": {"timeoutSecs": 60}},
                {"id": "responses-as-code", "enabled": False, "implementation": "python"},
            ],
            "tools": ["lookup"],
            "subagents": ["worker"],
            "customInstructions": "Be brief.",
        },
        {"id": "worker", "name": "Worker", "modelId": "gpt-5.4-nano"},
    ],
    "slots": {
        "primary": {
            "model": "gpt-5.4-mini",
            "baseUrl": "https://openrouter.ai/api/v1",
            "apiKeyEnv": "OPENROUTER_API_KEY",
            "generationLookup": True,
            "request": {"max_tokens": 4096},
        }
    },
    "limits": {
        "maxParallel": 4,
        "replayMaxBytes": 268435456,
        "maxTurns": 200,
        "maxRuntimeSecs": 3600,
        "maxCost": 2.5,
        "maxConsecutiveErrors": 5,
        "maxErrorRate": 0.2,
        "errorRateWindow": 50,
        "maxStepLoops": 3,
        "modelCallTimeoutSecs": 900,
        "modelStreamIdleSecs": 60,
        "maxModelRetries": 10,
        "modelRetryMaxDelaySecs": 60,
    },
}
"""Every key there is."""


def sound(**changes: Any) -> dict[str, Any]:
    """The sound document, with some of its keys replaced."""
    return copy.deepcopy(SOUND) | changes


def with_block(block: Any, name: str = "Implementer") -> dict[str, Any]:
    """The sound document with a ``loopDetection`` block."""
    return sound(agents=[SOUND["agents"][0] | {"name": name, "loopDetection": block}])


def with_limits(**limits: Any) -> dict[str, Any]:
    """The sound document with more limits, or other ones."""
    return sound(limits=SOUND["limits"] | limits)


def with_slot(**slot: Any) -> dict[str, Any]:
    """The sound document with more about its slot."""
    return sound(slots={"primary": {"model": "gpt-5.4-mini"} | slot})


def load(document: Any) -> Config:
    """Load a document given as a value."""
    return load_config(json.dumps(document))


def refused(document: Any) -> ConfigError:
    """The refusal of a document, given as a value or as text."""
    try:
        load_config(document if isinstance(document, str | bytes) else json.dumps(document))
    except ConfigError as error:
        return error
    raise AssertionError("it was accepted")


def defects(document: Any) -> list[str]:
    """The lines of the defects of a document."""
    return [str(defect) for defect in refused(document).defects]


def warnings(document: Any) -> list[str]:
    """The lines of the warnings about a document."""
    return [str(warning) for warning in load(document).warnings]
