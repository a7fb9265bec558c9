"""The declaration table of the ``loopDetection`` block, and the settings it becomes."""

import json
from typing import Any

import pytest

from loopwatch.config.loading import load_config
from loopwatch.detect.detector import LoopDetector
from loopwatch.detect.settings import LoopDetection
from tests.config.documents import (
    KNOBS,
    SEED_BLOCK,
    SOUND,
    defects,
    load,
    refused,
    sound,
    warnings,
    with_block,
)

SNIPPET = """\
{
  "id": "implementer",
  "name": "Implementer",
  "modelSlot": "primary",
  "loopDetection": {
    "enabled": true,
    "windowWords": 256,
    "repeatThreshold": 32,
    "minOffenders": 2,
    "minSaturatedRun": 3000,
    "maxResponseChars": 250000,
  },
  "capabilities": [
    /* … */
  ],
}
"""
"""The profile that the seed's document shows, to the letter."""

AGENT = "agent `Implementer`: "
WHOLE_1 = "must be a whole number of at least 1"


def settings(block: Any) -> LoopDetection | None:
    """What the root's detector runs on."""
    declared = load(with_block(block)).root.loop_detection
    assert declared is not None
    return declared.settings()


# The seed's snippet and its table, row by row.


def test_the_seeds_snippet_arms_the_seeds_rule() -> None:
    rest = json.dumps({key: SOUND[key] for key in ("slots", "limits")})[1:]
    config = load_config(f'{{ "agents": [{SNIPPET}], {rest}')
    assert config.warnings == ()
    assert config.root.name == "Implementer"
    assert config.root.loop_detection is not None
    assert config.root.loop_detection.settings() == LoopDetection.preset("seed")


def test_an_absent_block_is_off() -> None:
    config = load(sound())
    assert config.root.loop_detection is None
    assert config.warnings == ()


@pytest.mark.parametrize("knobs", [{}, {"windowWords": 64}, SEED_BLOCK])
def test_a_disarmed_block_is_off_whatever_it_says(knobs: dict[str, Any]) -> None:
    block = knobs | {"enabled": False}
    assert settings(block) is None
    assert warnings(with_block(block)) == []


def test_a_block_that_does_not_say_whether_it_is_enabled_is_off_with_a_warning() -> None:
    block = {"windowWords": 64}
    assert settings(block) is None
    said = "loopDetection.enabled: is missing, so the detector is off: write true or false"
    assert warnings(with_block(block)) == [AGENT + said]


def test_c2_an_armed_block_without_knobs_is_refused_for_each_of_the_five() -> None:
    found = refused(with_block({"enabled": True})).defects
    assert [defect.locus for defect in found] == [f"loopDetection.{knob}" for knob in KNOBS]
    assert {defect.agent for defect in found} == {"Implementer"}
    assert {defect.value for defect in found} == {None}
    assert str(found[0]) == (
        AGENT
        + "loopDetection.windowWords: is missing: an armed detector writes all five knobs (for example 256)"
    )


@pytest.mark.parametrize("missing", KNOBS)
def test_an_armed_block_without_one_knob_is_refused_for_it(missing: str) -> None:
    block = {key: value for key, value in SEED_BLOCK.items() if key != missing}
    (line,) = defects(with_block(block))
    assert line.startswith(f"{AGENT}loopDetection.{missing}: is missing: ")
    assert settings(block | {"enabled": False}) is None


def test_c3_an_armed_block_is_armed_exactly_as_it_says() -> None:
    block = dict(zip(SEED_BLOCK, (True, 64, 8, 3, 500, 1000), strict=True))
    assert warnings(with_block(block)) == []
    assert settings(block) == LoopDetection(
        window_words=64, repeat_threshold=8, min_offenders=3, min_saturated_run=500, max_response_chars=1000
    )


@pytest.mark.parametrize(
    "zeros",
    [["windowWords"], ["repeatThreshold"], ["minOffenders"], ["repeatThreshold", "minOffenders"]],
    ids=" and ".join,
)
@pytest.mark.parametrize("enabled", [True, False])
def test_c5_a_zero_that_means_nothing_is_refused(zeros: list[str], *, enabled: bool) -> None:
    block = SEED_BLOCK | {"enabled": enabled} | dict.fromkeys(zeros, 0)
    assert defects(with_block(block)) == [f"{AGENT}loopDetection.{knob} = 0: {WHOLE_1}" for knob in zeros]


def test_c6_the_two_zeros_that_mean_something_are_read() -> None:
    block = SEED_BLOCK | {"minSaturatedRun": 0, "maxResponseChars": 0}
    assert warnings(with_block(block)) == []
    assert settings(block) == LoopDetection(min_saturated_run=0, max_response_chars=0)


NEVER = "loopDetection.minOffenders = 300: a window of 64 words (windowWords) never holds that many different ones: "


@pytest.mark.parametrize(
    ("more", "left"),
    [
        ({}, "only the length backstop can fire"),
        ({"maxResponseChars": 0}, "nothing can fire"),
        ({"rules": ["cycle"]}, "only cycle and the length backstop can fire"),
    ],
)
def test_c7_more_offenders_than_words_is_armed_with_one_warning(more: dict[str, Any], left: str) -> None:
    block = SEED_BLOCK | {"windowWords": 64, "minOffenders": 300} | more
    assert warnings(with_block(block)) == [AGENT + NEVER + left]
    armed = settings(block)
    assert armed is not None
    assert (armed.window_words, armed.min_offenders) == (64, 300)


def test_as_many_offenders_as_words_need_no_warning() -> None:
    assert warnings(with_block(SEED_BLOCK | {"windowWords": 64, "minOffenders": 64})) == []


def test_c8_a_disarmed_block_has_no_such_warning() -> None:
    block = SEED_BLOCK | {"enabled": False, "windowWords": 64, "minOffenders": 300}
    assert settings(block) is None
    assert warnings(with_block(block)) == []


def test_c9_a_knob_that_is_written_is_judged_though_disarmed() -> None:
    assert defects(with_block({"enabled": False, "windowWords": 0})) == [
        f"{AGENT}loopDetection.windowWords = 0: {WHOLE_1}"
    ]


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize(
    ("value", "written"),
    [
        *(("256", '"256"'), (-4, "-4"), (12.5, "12.5"), (True, "true"), (None, "null"), ([], "[]")),
        *((float("nan"), "NaN"), (float("inf"), "Infinity"), ({}, "{}"), ([1], "[…]"), (-1.0, "-1.0")),
    ],
)
def test_c11_a_knob_that_cannot_be_read_as_its_number_is_refused(
    value: Any, written: str, *, enabled: bool
) -> None:
    block = SEED_BLOCK | {"enabled": enabled, "windowWords": value}
    assert defects(with_block(block)) == [f"{AGENT}loopDetection.windowWords = {written}: {WHOLE_1}"]


@pytest.mark.parametrize("knob", ["minSaturatedRun", "maxResponseChars"])
def test_a_negative_knob_is_refused_where_zero_is_not(knob: str) -> None:
    (line,) = defects(with_block(SEED_BLOCK | {knob: -1}))
    assert line == f"{AGENT}loopDetection.{knob} = -1: must be a whole number of at least 0"


def test_c12_a_whole_number_may_be_written_with_a_fraction_of_zero() -> None:
    read = settings(SEED_BLOCK | {"windowWords": 256.0})
    assert read == LoopDetection()
    assert isinstance(read.window_words, int)


@pytest.mark.parametrize("knob", KNOBS)
def test_the_largest_number_is_read_and_the_next_is_refused_not_cut(knob: str) -> None:
    largest = 4_294_967_295 if knob == "repeatThreshold" else 18_446_744_073_709_551_615
    assert (
        warnings(with_block(SEED_BLOCK | {"minOffenders": 1, knob: largest})) == [] or knob == "minOffenders"
    )
    assert defects(with_block(SEED_BLOCK | {knob: largest + 1})) == [
        f"{AGENT}loopDetection.{knob} = {largest + 1}: must be a whole number of at most {largest}"
    ]


def test_c14_a_defect_names_the_agent_that_declared_it_and_no_other() -> None:
    first = SOUND["agents"][0] | {"loopDetection": SEED_BLOCK}
    second = first | {"id": "reviewer", "name": "Reviewer", "loopDetection": SEED_BLOCK | {"minOffenders": 0}}
    assert defects(sound(agents=[first, second])) == [
        f"agent `Reviewer`: loopDetection.minOffenders = 0: {WHOLE_1}"
    ]


def test_defects_come_in_the_order_of_the_table_however_the_block_is_written() -> None:
    block = {"maxResponseChars": -1, "minOffenders": 0, "windowWords": "x", "depth": 1, "enabled": True}
    assert [defect.locus.removeprefix("loopDetection.") for defect in refused(with_block(block)).defects] == [
        *KNOBS,
        "depth",
    ]


@pytest.mark.parametrize("block", [None, True, [], "on", 1])
def test_a_block_that_is_no_object_is_refused(block: Any) -> None:
    (line,) = defects(with_block(block))
    assert line.startswith(f"{AGENT}loopDetection = ")
    assert line.endswith(": must be an object { … }")


@pytest.mark.parametrize("enabled", [1, "true", None])
def test_the_switch_is_true_or_false(enabled: Any) -> None:
    (line,) = defects(with_block(SEED_BLOCK | {"enabled": enabled}))
    assert line.endswith(": must be true or false")


# What goes beyond the seed.


def test_further_rules_are_added_to_the_seeds_two() -> None:
    armed = settings(SEED_BLOCK | {"rules": ["blank", "cycle"]})
    assert armed == LoopDetection(rules=("words", "cycle", "blank", "length"))
    assert LoopDetector(armed).push("text") is None


def test_the_other_optional_keys_are_read() -> None:
    more = {
        "channels": ["reasoning", "content"],
        "stopOnSameLoop": True,
        "shadow": True,
        "retryWith": {"temperature": 1, "model": "other"},
    }
    config = load(with_block(SEED_BLOCK | more))
    block = config.root.loop_detection
    assert block is not None
    assert block.retry_with == more["retryWith"]
    assert block.settings() == LoopDetection(
        channels=("reasoning", "content"), stop_on_same_loop=True, shadow=True
    )


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"rules": ["words"]}, "rules[0] = \"words\": must be 'cycle', 'phrases' or 'blank'"),
        ({"rules": ["cycle", "cycle"]}, "rules = […]: must not name anything twice"),
        ({"rules": "cycle"}, 'rules = "cycle": must be a list [ … ]'),
        ({"rules": None}, "rules = null: must be a list [ … ]"),
        ({"channels": []}, "channels = []: must have at least one entry"),
        ({"channels": ["loud"]}, "channels[0] = \"loud\": must be 'content', 'reasoning' or 'tools'"),
        ({"shadow": 1}, "shadow = 1: must be true or false"),
        ({"stopOnSameLoop": "no"}, 'stopOnSameLoop = "no": must be true or false'),
        ({"retryWith": []}, "retryWith = []: must be an object { … }"),
        ({"retryWith": {"seed": float("inf")}}, "retryWith.seed = Infinity: must be a finite number"),
        (
            {"retryWith": {"stream": False}},
            "retryWith = {…}: must leave stream alone: a retry asks the same question, and every reply streams",
        ),
    ],
)
def test_what_is_wrong_with_them_is_told_armed_or_not(more: Any, said: str, *, enabled: bool) -> None:
    block = SEED_BLOCK | {"enabled": enabled} | more
    assert defects(with_block(block)) == [f"{AGENT}loopDetection.{said}"]
