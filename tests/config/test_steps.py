import json
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from loopwatch.config.document import Profile
from loopwatch.config.schema import schema
from loopwatch.config.starter import STARTER
from loopwatch.config.steps import SPELT
from loopwatch.steps.monitor import StepMonitor
from loopwatch.steps.settings import StepSettings
from loopwatch.steps.step import Step

FAILS = Step(role="a", tool="edit", result="Error: not unique")


def profile(**steps: Any) -> Profile:
    document = {"id": "a", "name": "A", "modelId": "m", **({"steps": steps} if steps else {})}
    return Profile.model_validate_json(json.dumps(document))


def loops_after(settings: StepSettings) -> int | None:
    monitor = StepMonitor(settings)
    return next((count for count in range(1, 99) if monitor.observe(FAILS) is not None), None)


def test_without_a_block_the_steps_are_watched_by_the_balanced_preset() -> None:
    assert profile().step_settings == StepSettings.preset("balanced")
    assert profile(enabled=True).step_settings == StepSettings.preset("balanced")


def test_a_monitor_is_built_from_a_profile() -> None:
    assert loops_after(profile().step_settings) == 5
    assert loops_after(profile(counts={"firm": 9}).step_settings) == 9
    assert loops_after(profile(preset="eager").step_settings) == 4
    assert loops_after(profile(enabled=False).step_settings) is None


def test_every_key_arrives() -> None:
    settings = profile(preset="eager", waitingTools=["queue"], readTexts=False, counts={"copies": 4})
    expected = StepSettings.preset("eager")
    found = settings.step_settings
    assert (found.waiting_tools, found.read_texts, found.copies) == (frozenset({"queue"}), False, 4)
    assert found.firm == expected.firm


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ({"counts": {"firmness": 3}}, "the figures are firm, "),
        ({"counts": {"firm": 1}}, "2"),
        ({"counts": {"firm": 2.5}}, "whole"),
        ({"preset": "seed"}, "balanced"),
        ({"waitingTools": ["a", "a"]}, "twice"),
        ({"patience": 3}, "Extra inputs"),
    ],
)
def test_what_cannot_be_meant_is_refused(steps: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        profile(**steps)
    part = {"$defs": schema()["$defs"], "$ref": "#/$defs/StepsBlock"}
    assert not jsonschema.Draft202012Validator(part).is_valid(steps)


def test_the_schema_takes_what_the_reader_takes() -> None:
    part = {"$defs": schema()["$defs"], "$ref": "#/$defs/StepsBlock"}
    steps = {"enabled": True, "preset": "eager", "counts": {"waitingQuick": 9}, "waitingTools": ["x"]}
    jsonschema.Draft202012Validator(part).validate(steps)
    assert profile(**steps).step_settings.waiting_quick == 9


def test_every_figure_may_be_set_and_the_starter_shows_one() -> None:
    assert profile(counts=dict.fromkeys(SPELT, 7)).step_settings.acting == 7
    assert '"waiting": 60' in STARTER
