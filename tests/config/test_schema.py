"""The JSON Schema says what the reader says, and the starter is accepted by both."""

import json
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from loopwatch.config.launch import launch_lines
from loopwatch.config.loading import load_config
from loopwatch.config.reading import read
from loopwatch.config.schema import DIALECT, schema
from loopwatch.config.starter import STARTER
from loopwatch.errors import ConfigError
from tests.config.documents import (
    EVERYTHING,
    KNOBS,
    SEED_BLOCK,
    SOUND,
    load,
    sound,
    with_block,
    with_limits,
    with_slot,
)

SCHEMA = schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
ROOT = SOUND["agents"][0]


def with_root(**changes: Any) -> dict[str, Any]:
    return sound(agents=[ROOT | changes])


def without(document: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != key}


def accepted(document: Any) -> bool:
    try:
        load(document)
    except ConfigError:
        return False
    return True


ACCEPTED: list[Any] = [
    *(sound(), EVERYTHING, with_block(SEED_BLOCK), with_block({}), with_block({"enabled": False})),
    *(with_block(SEED_BLOCK | {knob: 0}) for knob in ("minSaturatedRun", "maxResponseChars")),
    *(with_block(SEED_BLOCK | {"windowWords": 256.0}), with_block({"windowWords": 8})),
    *(with_block(SEED_BLOCK | {"rules": []}), with_block(SEED_BLOCK | {"retryWith": {"seed": 1}})),
    *(
        with_limits(maxModelRetries=0),
        with_limits(maxErrorRate=0, errorRateWindow=1),
        with_limits(maxCost=0.5),
    ),
    *(with_slot(baseUrl="http://localhost:1"), with_slot(apiKeyEnv="K"), with_slot(generationLookup=False)),
    with_root(capabilities=[]),
    {"agents": [{"id": "a", "name": "A", "modelId": "m"}], "limits": SOUND["limits"]},
]
REFUSED: list[Any] = [
    *(
        {},
        [],
        None,
        1,
        sound(agents=[]),
        sound(agents={}),
        sound(agents=[1]),
        sound(slots=[]),
        sound(limits={}),
    ),
    *(without(sound(), key) for key in ("agents", "limits")),
    *(sound(preset=""), sound(preset=None), sound(zzz=1), sound(slots={"primary": {}})),
    *(sound(agents=[without(ROOT, key)]) for key in ROOT),
    *(with_root(**{key: None}) for key in (*ROOT, "slug", "loopDetection", "capabilities", "subagents")),
    *(with_root(modelId="m"), with_root(slug="A b"), with_root(name="  "), with_root(zzz=1)),
    *(
        with_root(capabilities=[{"id": "shel"}]),
        with_root(capabilities=[{}]),
        with_root(capabilities=["shell"]),
    ),
    with_root(subagents=["implementer", "implementer"]),
    *(with_block(without(SEED_BLOCK, knob)) for knob in KNOBS),
    *(with_block(SEED_BLOCK | {knob: -1}) for knob in KNOBS),
    *(with_block(SEED_BLOCK | {knob: 2**64}) for knob in KNOBS),
    *(with_block({"enabled": False, knob: None}) for knob in KNOBS),
    *(
        with_block({"windowWords": 0}),
        with_block({"enabled": 1}),
        with_block(SEED_BLOCK | {"windowWords": 1.5}),
    ),
    with_block(SEED_BLOCK | {"repeatThreshold": 2**32}),
    *(with_block(SEED_BLOCK | {"rules": ["words"]}), with_block(SEED_BLOCK | {"rules": ["cycle", "cycle"]})),
    *(with_block(SEED_BLOCK | {"channels": []}), with_block(SEED_BLOCK | {"retryWith": {"stream": True}})),
    *(with_block(SEED_BLOCK | {"window_words": 1}), with_block(SEED_BLOCK | {"retryWith": None})),
    *(
        with_limits(maxErrorRate=0.5),
        with_limits(errorRateWindow=5),
        with_limits(maxCost=0),
        with_limits(maxTurns=0),
    ),
    *(
        with_limits(maxErrorRate=2, errorRateWindow=5),
        with_limits(maxStepLoops=2**32),
        with_limits(maxTurns="8"),
    ),
    *(
        with_slot(model=""),
        with_slot(baseUrl="host"),
        with_slot(baseUrl="https://u:p@h"),
        with_slot(apiKeyEnv="a b"),
    ),
    *(with_slot(apiKey="x"), with_slot(generationLookup=None)),
    sound(slots=SOUND["slots"] | {" ": {"model": "m"}}),
]


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == DIALECT == "https://json-schema.org/draft/2020-12/schema"
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA


@pytest.mark.parametrize("number", range(len(ACCEPTED)))
def test_what_the_reader_accepts_the_schema_accepts(number: int) -> None:
    assert accepted(ACCEPTED[number])
    assert [error.message for error in VALIDATOR.iter_errors(ACCEPTED[number])] == []


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_what_the_reader_refuses_the_schema_refuses(number: int) -> None:
    assert not accepted(REFUSED[number])
    assert not VALIDATOR.is_valid(REFUSED[number])


def blocks() -> list[dict[str, Any]]:
    return [SCHEMA, *SCHEMA["$defs"].values()]


def test_every_block_and_key_has_a_title_and_a_description() -> None:
    for block in blocks():
        assert block["title"]
        assert block["description"]
        for key, about in block["properties"].items():
            assert "$ref" in about or about["title"], key
            assert "$ref" in about or about["description"].endswith("."), key


def test_only_a_key_that_may_be_left_out_has_a_default_and_none_is_null() -> None:
    for block in blocks():
        for key, about in block["properties"].items():
            assert about.get("default", 0) is not None
            assert "default" not in about or key not in block.get("required", [])
    assert SCHEMA["$defs"]["Limits"]["properties"]["modelCallTimeoutSecs"]["default"] == 900
    knobs = SCHEMA["$defs"]["LoopDetectionBlock"]["properties"]
    assert [knobs[knob]["examples"] for knob in KNOBS] == [[SEED_BLOCK[knob]] for knob in KNOBS]


# The starter.


def test_the_starter_is_sound_and_bounded() -> None:
    config = load_config(STARTER)
    assert config.warnings == ()
    line, _ = launch_lines(config)
    assert line.startswith("loop detection: armed — ")
    assert VALIDATOR.is_valid(config.declared)


def test_the_starter_has_the_seeds_figures_and_the_defaults_of_the_limits() -> None:
    declared = load_config(STARTER).declared
    assert declared["agents"][0]["loopDetection"] == SEED_BLOCK
    limits = declared["limits"]
    for key, about in SCHEMA["$defs"]["Limits"]["properties"].items():
        assert "default" not in about or limits[key] == about["default"]


def test_the_starter_with_everything_uncommented_is_sound_too() -> None:
    lines = [
        line.replace("// ", "", 1) if line.strip().startswith(('// "', "// {")) else line
        for line in STARTER.split("\n")
    ]
    text = "\n".join(lines)
    declared = read(text).value
    assert load_config(text).warnings == ()
    assert VALIDATOR.is_valid(declared)
    block = SCHEMA["$defs"]["LoopDetectionBlock"]["properties"]
    assert declared["agents"][0]["loopDetection"].keys() == block.keys()
    assert declared["limits"].keys() == SCHEMA["$defs"]["Limits"]["properties"].keys()
    assert max(map(len, STARTER.splitlines())) <= 110


def test_the_reference_names_every_key() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "configuration.md").read_text(encoding="utf-8")
    keys = [key for block in blocks() for key in block["properties"]]
    assert [key for key in keys if f"`{key}`" not in page and f'"{key}"' not in page] == []
