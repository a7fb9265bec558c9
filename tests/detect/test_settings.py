"""The settings, the presets and the verdict's sentence."""

import dataclasses

import pytest

from loopwatch.detect.settings import PRESETS, LoopDetection
from loopwatch.detect.trip import Trip
from loopwatch.errors import LoopwatchError, SettingsError


def test_without_arguments_the_settings_are_the_seeds() -> None:
    settings = LoopDetection()
    knobs = (
        settings.window_words,
        settings.repeat_threshold,
        settings.min_offenders,
        settings.min_saturated_run,
    )
    assert knobs == (256, 32, 2, 3_000)
    assert settings.max_response_chars == 250_000
    assert settings.rules == ("words", "length")
    assert settings.channels == ("content",)
    assert LoopDetection.preset("seed") == settings


def test_balanced_and_eager_run_the_same_rules_and_eager_is_never_more_patient() -> None:
    balanced, eager = LoopDetection.preset("balanced"), LoopDetection.preset("eager")
    assert balanced.rules == eager.rules == ("cycle", "phrases", "blank", "length")
    for field in dataclasses.fields(balanced.cycle):
        assert getattr(eager.cycle, field.name) <= getattr(balanced.cycle, field.name)
    assert eager.blank_chars < balanced.blank_chars
    assert PRESETS == ("seed", "balanced", "eager")


@pytest.mark.parametrize("name", ["", "Balanced", "patient"])
def test_an_unknown_preset_is_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(SettingsError, match="choose seed, balanced, eager"):
        LoopDetection.preset(name)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("window_words", 0),
        ("repeat_threshold", 0),
        ("min_offenders", -1),
        ("min_saturated_run", -1),
        ("max_response_chars", -1),
        ("window_words", 1.5),
        ("window_words", "256"),
        ("window_words", True),
        ("blank_chars", 0),
    ],
)
def test_a_figure_no_detector_can_run_on_is_refused_by_name(field: str, value: object) -> None:
    with pytest.raises(SettingsError, match=f"^{field} is {value!r}: it must be a whole number of at least"):
        LoopDetection(**{field: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("patience", "field", "value"),
    [
        ("cycle", "data", 0),
        ("cycle", "copies", -1),
        ("cycle", "text", 800.5),
        ("phrases", "window", 0),
        ("phrases", "clauses", 32.0),
        ("phrases", "recycled", 0),
        ("phrases", "lexical", float("nan")),
        ("phrases", "clause_words", float("inf")),
    ],
)
def test_a_patience_of_nothing_is_refused(patience: str, field: str, value: float) -> None:
    with pytest.raises(SettingsError, match=f"^{field} is {value!r}: it must be a (whole )?number above 0$"):
        dataclasses.replace(getattr(LoopDetection(), patience), **{field: value})


def test_phrases_need_not_last_and_names_may_be_a_list() -> None:
    assert dataclasses.replace(LoopDetection().phrases, lasting=0).lasting == 0
    settings = LoopDetection(rules=["cycle"])  # type: ignore[arg-type]
    assert settings.rules == ("cycle",)
    assert hash(settings)


@pytest.mark.parametrize("field", ["rules", "channels"])
def test_unknown_names_are_refused(field: str) -> None:
    with pytest.raises(SettingsError, match=f"^{field} has 'loud': it may have"):
        LoopDetection(**{field: ("loud",)})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "knobs", [{"min_saturated_run": 0, "max_response_chars": 0}, {"min_offenders": 300, "window_words": 64}]
)
def test_what_can_be_meant_runs_as_written(knobs: dict[str, int]) -> None:
    settings = LoopDetection(**knobs)  # type: ignore[arg-type]  # a mapping has one type for all
    assert {name: getattr(settings, name) for name in knobs} == knobs


def test_a_settings_error_is_a_value_error_too() -> None:
    assert issubclass(SettingsError, LoopwatchError)
    assert issubclass(SettingsError, ValueError)


REASONS = [
    (
        Trip("words", 3_065, 12_261, offenders=2, saturated_run=3_000),
        "2 words repeated across 3000 consecutive words, 3065 words into the reply",
    ),
    (
        Trip("cycle", 200, 960, onset=18, period=52, repeats=18.1),
        "a passage of 52 characters repeated 18.1 times in a row from character 18 on",
    ),
    (Trip("phrases", 900, 5_000, onset=70), "nothing but phrases already said from character 70 on"),
    (Trip("blank", 3, 4_000, onset=9), "nothing but white space from character 9 on"),
    (Trip("length", 9, 250_048), "250048 characters passed without the reply finishing"),
]


@pytest.mark.parametrize(("trip", "reason"), REASONS)
def test_a_trip_says_what_was_seen_and_how_much_was_read(trip: Trip, reason: str) -> None:
    assert str(trip) == f"{reason} ({trip.words} words, {trip.chars} characters read before it was abandoned)"


def test_a_trips_sample_stays_out_of_what_is_printed_and_compared() -> None:
    trip = Trip("cycle", 1, 2, onset=0, period=3, repeats=4.0, sample="secret")
    assert "secret" not in f"{trip} {trip!r}"
    assert trip == dataclasses.replace(trip, sample="other")
