"""What a run says at its launch."""

from typing import Any

import pytest

from loopwatch.config.launch import UNBOUNDED, launch_lines
from tests.config.documents import SEED_BLOCK, SOUND, load, sound, with_block

SEED_LINE = (
    "loop detection: armed — a reply is abandoned after 3000 consecutive words during which 2 or more words"
    " have each occurred more than 32 times in the last 256, or once it passes 250000 characters"
)
"""The line of the seed's document, which breaks it into three."""
CEILINGS = "limits: armed — maxTurns 40"


def line(**more: Any) -> str:
    said, ceilings = launch_lines(load(with_block(SEED_BLOCK | more)))
    assert ceilings == CEILINGS
    return said


def test_c15_the_seeds_figures_give_the_seeds_line() -> None:
    assert line() == SEED_LINE


def test_other_figures_are_said_as_they_are() -> None:
    assert line(
        windowWords=64, repeatThreshold=8, minOffenders=3, minSaturatedRun=500, maxResponseChars=9
    ) == (
        "loop detection: armed — a reply is abandoned after 500 consecutive words during which 3 or more words"
        " have each occurred more than 8 times in the last 64, or once it passes 9 characters"
    )


def test_c6_the_two_zeros_are_said_in_words() -> None:
    assert line(minSaturatedRun=0, maxResponseChars=0) == (
        "loop detection: armed — a reply is abandoned as soon as 2 or more words have each occurred more than"
        " 32 times in the last 256; there is no length backstop"
    )


def test_what_goes_beyond_the_seed_follows_its_line() -> None:
    assert line(rules=["blank", "cycle"], channels=["content", "tools"], shadow=True) == (
        f"{SEED_LINE}; further rules: cycle, blank; channels: content, tools; in shadow: a trip is recorded and"
        " no reply is abandoned"
    )
    assert line(channels=["content"], retryWith={"temperature": 1}, stopOnSameLoop=True) == SEED_LINE


@pytest.mark.parametrize("block", [SEED_BLOCK | {"enabled": False}, {}, {"enabled": False}])
def test_a_run_that_armed_nothing_says_nothing_of_loops(block: dict[str, Any]) -> None:
    assert launch_lines(load(with_block(block))) == [CEILINGS]
    assert launch_lines(load(sound())) == [CEILINGS]


def test_only_the_roots_detector_is_named() -> None:
    worker = SOUND["agents"][0] | {"id": "worker", "loopDetection": SEED_BLOCK}
    assert launch_lines(load(sound(agents=[SOUND["agents"][0], worker]))) == [CEILINGS]


def test_every_armed_ceiling_is_said_with_its_figure() -> None:
    ceilings = {"maxRuntimeSecs": 60, "maxCost": 2.5, "maxConsecutiveErrors": 5, "maxStepLoops": 3}
    rate = {"maxErrorRate": 0.2, "errorRateWindow": 50}
    limits = {"maxParallel": 1, "replayMaxBytes": 1_000} | ceilings | rate
    (said,) = launch_lines(load(sound(limits=limits)))
    assert said == (
        "limits: armed — maxRuntimeSecs 60, maxCost 2.5, maxConsecutiveErrors 5, maxErrorRate 0.2,"
        " errorRateWindow 50, maxStepLoops 3"
    )


def test_a_run_without_a_ceiling_says_what_bounds_it() -> None:
    limits = {"maxParallel": 1, "replayMaxBytes": 1, "modelCallTimeoutSecs": 5}
    assert launch_lines(load(sound(limits=limits))) == [UNBOUNDED]
    assert launch_lines(load(with_block(SEED_BLOCK) | {"limits": limits})) == [SEED_LINE, UNBOUNDED]
    assert UNBOUNDED == "limits: no ceiling is armed — only the host's clock bounds the run"
