"""The detector as a whole: cutting, order of the rules, backstop, inertness, memory."""

import random
import tracemalloc
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from loopwatch.detect import detector as detector_module
from loopwatch.detect.detector import BLOCK, LoopDetector
from loopwatch.detect.settings import LoopDetection
from loopwatch.detect.trip import Trip
from tests.detect.texts import novel, pieces, read, seed

BALANCED = LoopDetection.preset("balanced")
EVERYTHING = LoopDetection(rules=("words", "cycle", "phrases", "blank", "length"))
SENTENCE = "Let me look at the parser once more, step by step. "


def verdict(text: str, settings: LoopDetection, cuts: list[int]) -> tuple[Trip | None, int, int]:
    detector = LoopDetector(settings)
    for start, stop in pairwise([0, *cuts, len(text)]):
        detector.push(text[start:stop])
    return detector.trip, detector.words_seen, detector.chars_seen


LOOPS = {
    "exact": "Some sound prose comes first. " + SENTENCE * 40,
    "counter": "".join(f"Step {number}: add a feedback form to the page.\n" for number in range(400)),
    "shuffled": "".join(
        random.Random(7).choice(
            [
                "OK, writing the whole answer now.\n",
                "Alright, here is the final answer.\n",
                "I should just write it down.\n",
            ]
        )
        for _ in range(300)
    ),
    "blank": '{"a": 1' + " \n" * 2_000,
    "sound": novel(900),
}


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("preset", ["balanced", "eager"])
@pytest.mark.parametrize("size", [1, 3, 64, 96, 100_000])
def test_the_size_of_the_deltas_does_not_matter(name: str, preset: str, size: int) -> None:
    text = LOOPS[name]
    expected = verdict(text, LoopDetection.preset(preset), [])
    detector = LoopDetector(LoopDetection.preset(preset))
    for piece in pieces(text, size):
        detector.push(piece)
    assert (detector.trip, detector.words_seen, detector.chars_seen) == expected
    assert (detector.trip is None) == (name == "sound")


parts = st.sampled_from(
    [
        SENTENCE,
        "void 0; ",
        "0, ",
        "ab",
        "\n",
        " ",
        "鶴",
        "&nbsp;",
        "\\n",
        "\\",
        "12",
        ":30",
        "Step 7: go on.\n",
        "\ud800",
        "\x1c",
        "😀",
    ]
)
texts = st.lists(st.tuples(parts, st.integers(1, 80)), max_size=12).map(
    lambda runs: "".join(part * count for part, count in runs)
)
QUICK = LoopDetection(
    window_words=16,
    repeat_threshold=3,
    min_saturated_run=60,
    max_response_chars=1_500,
    rules=("words", "cycle", "phrases", "blank", "length"),
    blank_chars=100,
    cycle=LoopDetection.preset("eager").cycle,
    phrases=LoopDetection.preset("eager").phrases,
)
QUICK_BLOCKS = LoopDetection(
    max_response_chars=1_500,
    rules=("cycle", "phrases", "blank", "length"),
    blank_chars=100,
    cycle=LoopDetection.preset("eager").cycle,
    phrases=LoopDetection.preset("eager").phrases,
)


@examples(max_examples=150, deadline=None)
@given(texts, st.data())
def test_any_cut_gives_the_same_verdict(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=10)))
    assert verdict(text, QUICK_BLOCKS, cuts) == verdict(text, QUICK_BLOCKS, list(range(len(text))))


@examples(max_examples=150, deadline=None)
@given(texts, st.data())
def test_any_cut_gives_the_same_verdict_with_the_seeds_rule_beside_the_others(
    text: str, data: st.DataObject
) -> None:
    """The length backstop apart, which the seed reads once a chunk: it is off here."""
    settings = replace(QUICK, max_response_chars=0)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=10)))
    assert verdict(text, settings, cuts) == verdict(text, settings, list(range(len(text))))


def test_a_tripped_detector_is_inert() -> None:
    for settings in (BALANCED, seed(), seed(ceiling=10)):
        detector = LoopDetector(settings)
        trip = next(filter(None, (detector.push("void 0; and so on ") for _ in range(20_000))))
        before = (detector.words_seen, detector.chars_seen, detector.offenders, detector.saturated_run)
        assert detector.push("more " * 1_000) is trip
        assert detector.push("") is trip
        assert (
            detector.words_seen,
            detector.chars_seen,
            detector.offenders,
            detector.saturated_run,
        ) == before


def test_nothing_carries_over_to_another_detector() -> None:
    for _ in range(2):
        trip, _ = read("x y " * 800, seed())
        assert trip is None


def test_an_empty_piece_is_nothing_and_blanks_count_as_characters() -> None:
    detector = LoopDetector()
    assert detector.push("") is None
    detector.push("  \n")
    assert (detector.chars_seen, detector.words_seen) == (3, 0)


def test_endless_empty_pieces_hold_nothing() -> None:
    detector = detector_module.LoopDetector()  # the twin lets nothing wait
    for _ in range(10_000):
        detector.push("")
    assert detector._pieces == []


def test_words_are_counted_also_while_a_block_is_still_open() -> None:
    detector = LoopDetector()
    detector.push("one two three")
    assert detector.words_seen == 2
    detector.push(" four ")
    assert detector.words_seen == 4
    detector.push("x" * 100 + " ")
    assert detector.words_seen == 5
    assert detector.chars_seen == 120


def test_off_means_nothing_is_watched() -> None:
    detector = LoopDetector(LoopDetection(enabled=False))
    assert detector.push("void 0; " * 50_000) is None
    assert detector.chars_seen == 400_000
    assert detector.words_seen == 100_000
    assert detector.approaches == []


def test_beside_other_rules_the_seeds_backstop_is_still_read_once_a_chunk() -> None:
    settings = LoopDetection(rules=("words", "cycle", "length"), max_response_chars=100)
    trip, _ = read("y" * 101, settings, size=64)
    assert trip is not None
    assert (trip.rule, trip.chars) == ("length", 101)


def test_the_backstop_is_strict() -> None:
    settings = seed(ceiling=100)
    assert read("y" * 100, settings, size=100)[0] is None
    trip, _ = read("y" * 101, settings, size=1)
    assert trip is not None
    assert (trip.rule, trip.chars) == ("length", 101)


def test_the_seeds_backstop_is_read_once_a_chunk_after_the_words() -> None:
    trip, _ = read("a b " * 1_000, seed(8, 2, 20, 0, 500), size=10)
    assert trip is not None
    assert (trip.rule, trip.chars) == ("length", 510)
    trip, _ = read("a b " * 1_000, seed(8, 2, 2, 0, 5), size=4_000)
    assert trip is not None
    assert (trip.rule, trip.chars) == ("words", 16)


@pytest.mark.parametrize("size", [1, 63, 64, 5_000])
def test_without_the_seeds_rule_the_backstop_trips_on_the_very_character(size: int) -> None:
    settings = LoopDetection(rules=("cycle", "length"), max_response_chars=1_000)
    trip, detector = read(novel(400), settings, size)
    assert trip is not None
    assert (trip.rule, trip.chars, detector.chars_seen) == ("length", 1_001, 1_001)


def test_a_ceiling_that_ends_with_a_block_lets_the_other_rules_speak_first() -> None:
    settings = LoopDetection(rules=("blank", "length"), blank_chars=128, max_response_chars=127)
    trip, _ = read(" " * 500, settings)
    assert trip is not None
    assert (trip.rule, trip.chars) == ("blank", 128)


def test_the_seeds_rule_speaks_before_the_others() -> None:
    trip, _ = read(
        "void 0;\n" * 4_000,
        LoopDetection(
            rules=("words", "cycle", "length"), window_words=64, repeat_threshold=8, min_saturated_run=50
        ),
    )
    assert trip is not None
    assert trip.rule == "words"


def test_all_rules_together_still_stop_at_the_characters_read() -> None:
    trip, detector = read(SENTENCE * 100, EVERYTHING, size=10_000)
    assert trip is not None
    assert (trip.rule, trip.chars) == ("cycle", detector.chars_seen)
    assert trip.chars % BLOCK == 0
    assert [near.rule for near in detector.approaches] == ["words", "cycle", "phrases", "blank", "length"]


def test_the_trip_carries_what_was_seen() -> None:
    trip, _ = read("Here is the list:\n" + SENTENCE * 40, BALANCED)
    assert trip is not None
    assert trip.onset == 18
    assert trip.period == len(SENTENCE)
    assert trip.repeats is not None
    assert trip.repeats > 15
    assert trip.words == len(("Here is the list:\n" + SENTENCE * 40)[: trip.chars].rsplit(" ", 1)[0].split())
    assert len(trip.sample) == len(SENTENCE)
    assert trip.sample not in repr(trip)
    assert trip.sample not in str(trip)
    assert (trip.offenders, trip.saturated_run) == (None, None)


def test_memory_is_bounded_whatever_the_reply_holds() -> None:
    draw = random.Random(3)
    alphabet = [chr(code) for code in (*range(97, 123), 32, 10, 0x4E00, 0x1F600)]
    reply = "".join(draw.choices(alphabet, k=250_000))
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        detector = LoopDetector()
        for piece in pieces(reply, 4):
            detector.push(piece)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert detector.trip is None
    assert after - before < 2 * 1_024 * 1_024
