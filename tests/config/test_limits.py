"""The ``limits`` block: what must be chosen, what is a ceiling, what has a default."""

from typing import Any

import pytest

from tests.config.documents import defects, load, refused, sound, warnings, with_limits

CHOSEN = ["maxParallel", "replayMaxBytes"]
COUNTS = [
    *("maxParallel", "replayMaxBytes", "maxTurns", "maxRuntimeSecs", "maxConsecutiveErrors", "maxStepLoops"),
    *("modelCallTimeoutSecs", "modelStreamIdleSecs", "modelRetryMaxDelaySecs"),
]
WHOLE_1 = "must be a whole number of at least 1"
NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("document", [sound(limits={}), {k: v for k, v in sound().items() if k != "limits"}])
def test_c17_what_has_no_default_is_asked_for_together(document: Any) -> None:
    assert defects(document) == [f"limits.{key}: is missing: it has no default" for key in CHOSEN]


def test_what_is_absent_is_not_armed_or_has_its_default() -> None:
    limits = load(sound(limits={"maxParallel": 2, "replayMaxBytes": 1024})).limits
    assert (limits.max_parallel, limits.replay_max_bytes) == (2, 1024)
    ceilings = (
        *(limits.max_turns, limits.max_runtime_secs, limits.max_cost, limits.max_consecutive_errors),
        *(limits.max_error_rate, limits.error_rate_window, limits.max_step_loops),
    )
    assert set(ceilings) == {None}
    assert not limits.any_ceiling
    assert (limits.model_call_timeout_secs, limits.model_stream_idle_secs) == (900, 60)
    assert (limits.max_model_retries, limits.model_retry_max_delay_secs) == (10, 60)


@pytest.mark.parametrize(
    "ceiling",
    [
        *({"maxTurns": 1}, {"maxRuntimeSecs": 1}, {"maxCost": 0.01}, {"maxConsecutiveErrors": 1}),
        *({"maxErrorRate": 0, "errorRateWindow": 1}, {"maxStepLoops": 1}),
    ],
    ids=lambda ceiling: next(iter(ceiling)),
)
def test_each_ceiling_bounds_a_run(ceiling: dict[str, Any]) -> None:
    assert load(sound(limits={"maxParallel": 1, "replayMaxBytes": 1} | ceiling)).limits.any_ceiling


@pytest.mark.parametrize(
    ("one", "other"), [("maxErrorRate", "errorRateWindow"), ("errorRateWindow", "maxErrorRate")]
)
def test_c18_half_an_error_rate_is_refused_naming_the_other_half(one: str, other: str) -> None:
    value = 0.5 if one == "maxErrorRate" else 10
    assert defects(with_limits(**{one: value})) == [
        f"limits.{other}: is missing: {one} means nothing without it"
    ]


def test_the_faults_of_both_halves_are_told_together() -> None:
    assert defects(with_limits(maxErrorRate=1.5, errorRateWindow=0)) == [
        "limits.maxErrorRate = 1.5: must be a number from 0 to 1",
        f"limits.errorRateWindow = 0: {WHOLE_1}",
    ]
    assert defects(with_limits(maxErrorRate=-1)) == [
        "limits.maxErrorRate = -1: must be a number from 0 to 1",
        "limits.errorRateWindow: is missing: maxErrorRate means nothing without it",
    ]


@pytest.mark.parametrize("rate", [0, 0.0, -0.0, 0.5, 1, 1.0])
def test_an_error_rate_is_from_0_to_1(rate: float) -> None:
    assert load(with_limits(maxErrorRate=rate, errorRateWindow=10)).limits.max_error_rate == rate


@pytest.mark.parametrize("rate", [-0.1, 1.01, NAN, INF, "0.5", True, None, []])
def test_no_other_error_rate_is_read(rate: Any) -> None:
    (line,) = defects(with_limits(maxErrorRate=rate, errorRateWindow=10))
    assert line.endswith(": must be a number from 0 to 1")


@pytest.mark.parametrize("turns", [8, 5])
def test_c20_a_window_that_the_turns_cannot_fill_is_armed_with_one_warning(turns: int) -> None:
    document = with_limits(maxTurns=turns, maxErrorRate=0.5, errorRateWindow=8)
    (line,) = warnings(document)
    assert line == (
        f"limits.errorRateWindow = 8: is not below maxTurns ({turns}): the turns run out before the error rate"
        " can stop anything"
    )
    limits = load(document).limits
    assert (limits.max_turns, limits.max_error_rate, limits.error_rate_window) == (turns, 0.5, 8)


def test_a_window_that_the_turns_can_fill_needs_no_warning() -> None:
    assert warnings(with_limits(maxTurns=9, maxErrorRate=0.5, errorRateWindow=8)) == []


@pytest.mark.parametrize("key", COUNTS)
@pytest.mark.parametrize("value", [0, -1, 1.5, NAN, INF, "8", True, None, [], {}])
def test_c21_a_count_is_a_whole_number_of_at_least_1(key: str, value: Any) -> None:
    (found,) = refused(with_limits(**{key: value})).defects
    assert (found.agent, found.locus, found.reason) == (None, f"limits.{key}", WHOLE_1)


@pytest.mark.parametrize("cost", [0, -1, NAN, INF, -INF, 10**400, "5", True, None, []])
def test_c21_a_cost_is_a_finite_number_above_0(cost: Any) -> None:
    (found,) = refused(with_limits(maxCost=cost)).defects
    assert (found.locus, found.reason) == ("limits.maxCost", "must be a finite number above 0")


@pytest.mark.parametrize("cost", [1, 0.000001, 5.25])
def test_a_cost_may_be_any_amount_above_0(cost: float) -> None:
    assert load(with_limits(maxCost=cost)).limits.max_cost == cost


def test_60_0_is_60() -> None:
    assert load(with_limits(modelStreamIdleSecs=60.0)).limits.model_stream_idle_secs == 60


def test_no_retries_is_a_choice() -> None:
    assert load(with_limits(maxModelRetries=0)).limits.max_model_retries == 0
    assert defects(with_limits(maxModelRetries=-1)) == [
        "limits.maxModelRetries = -1: must be a whole number of at least 0"
    ]


@pytest.mark.parametrize("key", ["maxConsecutiveErrors", "maxStepLoops", "maxModelRetries"])
def test_some_counts_have_32_bits(key: str) -> None:
    assert warnings(with_limits(**{key: 2**32 - 1})) == []
    assert defects(with_limits(**{key: 2**32})) == [
        f"limits.{key} = {2**32}: must be a whole number of at most {2**32 - 1}"
    ]


@pytest.mark.parametrize("limits", [None, [], "none", 4])
def test_limits_are_an_object(limits: Any) -> None:
    (line,) = defects(sound(limits=limits))
    assert line.endswith(": must be an object { … }")
