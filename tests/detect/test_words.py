"""The seed's rule against its vectors: words, characters, offenders and runs to the figure."""

import itertools
import os
import random
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwatch.detect.characters import BLANKS
from loopwatch.detect.settings import LoopDetection
from loopwatch.detect.words import WORD_CAP, WordCount, WordCutter, WordSaturation
from tests.detect.texts import grid, novel, pieces, read, seed, tilemap

NO_CEILING = seed(ceiling=0)


def period(words: int) -> str:
    return " ".join(f"w{number}" for number in range(words)) + " "


def test_void_0_trips_on_the_word_and_character_that_the_seed_prints() -> None:
    trip, detector = read("void 0;\n" * 4_000, seed(), size=8)
    assert trip is not None
    assert (trip.rule, trip.offenders, trip.saturated_run) == ("words", 2, 3_000)
    assert (trip.words, trip.chars) == (3_065, 12_261)
    assert (detector.words_seen, detector.chars_seen) == (3_065, 12_261)


def test_void_0_trips_on_push_1533() -> None:
    _, detector = read("", seed())
    pushes = next(number for number in itertools.count(1) if detector.push("void 0;\n"))
    assert pushes == 1_533


@pytest.mark.parametrize(
    ("words", "tripped_at", "chars"),
    [(2, 3_065, 9_195), (4, 3_129, None), (5, 3_161, None), (6, 3_193, None), (7, 3_225, 9_675)],
)
def test_periods_of_two_to_seven_words_trip(words: int, tripped_at: int, chars: int | None) -> None:
    trip, _ = read(period(words) * 3_000, seed(), size=64)
    assert trip is not None
    assert (trip.offenders, trip.saturated_run, trip.words) == (words, 3_000, tripped_at)
    assert chars is None or trip.chars == chars


def test_eight_distinct_words_meet_only_the_backstop() -> None:
    trip, _ = read("Let me think about this step by step. " * 7_000, seed(), size=64)
    assert trip is not None
    assert (trip.rule, trip.chars) == ("length", 250_048)


def test_a_short_sentence_trips() -> None:
    trip, _ = read("Let me try again. " * 1_000, seed())
    assert trip is not None
    assert (trip.offenders, trip.words, trip.chars) == (4, 3_129, 14_080)


def test_one_word_never_saturates() -> None:
    trip, detector = read("ok ok " * 12_000, seed())
    assert (trip, detector.offenders, detector.peak_saturated_run) == (None, 1, 0)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 1_000, 100_000])
def test_the_cut_into_deltas_does_not_matter(size: int) -> None:
    trip, _ = read("alpha beta; gamma\n" * 5_000, seed(), size=size)
    assert trip is not None
    assert (trip.offenders, trip.words, trip.chars) == (3, 3_097, 18_582)


def test_a_literal_of_two_values_is_data_up_to_its_last_word_but_one() -> None:
    trip, detector = read("0, 1, " * 1_532, seed())
    assert (trip, detector.words_seen, detector.peak_saturated_run) == (None, 3_064, 2_999)
    trip, _ = read("0, 1, " * 1_532 + "0, ", seed())
    assert trip is not None
    assert (trip.offenders, trip.words) == (2, 3_065)


def test_the_tail_after_a_literal_counts_too() -> None:
    trip, detector = read("0, 1, " * 1_000 + novel(400), NO_CEILING)
    assert (trip, detector.peak_saturated_run, detector.saturated_run) == (None, 2_125, 0)


def test_the_seeds_tile_map_peaks_at_1409() -> None:
    text = tilemap(47, 32)
    trip, detector = read(text, seed())
    assert text.count(",") == 1_503
    assert trip is None
    assert detector.peak_saturated_run == 1_409
    assert detector.offenders >= 2
    _, detector = read(text + novel(400), seed())
    assert (detector.peak_saturated_run, detector.saturated_run) == (1_550, 0)


def test_a_map_of_55_by_55_is_the_limit() -> None:
    trip, detector = read(tilemap(55, 55), seed())
    assert (trip, detector.peak_saturated_run) == (None, 2_930)
    trip, _ = read(tilemap(55, 55) + novel(400), seed())
    assert trip is not None
    assert (trip.offenders, trip.words) == (2, 3_100)


@pytest.mark.parametrize(
    ("entries", "peak", "peak_after"), [(1_000, 838, None), (2_000, 1_838, 1_977), (2_600, 2_438, 2_556)]
)
def test_grids_of_four_values_are_data(entries: int, peak: int, peak_after: int | None) -> None:
    text = grid(entries, (60, 25, 10, 5))
    trip, detector = read(text, seed())
    assert (trip, detector.peak_saturated_run) == (None, peak)
    if peak_after is not None:
        trip, detector = read(text + novel(400), seed())
        assert (trip, detector.peak_saturated_run, detector.saturated_run) == (None, peak_after, 0)


def test_one_dominant_value_is_one_offender() -> None:
    _, detector = read(grid(3_200, (96, 2, 1, 1)), seed())
    assert detector.peak_saturated_run == 0


def test_four_even_values_trip() -> None:
    trip, _ = read(grid(3_200, (25, 25, 25, 25)), seed())
    assert trip is not None
    assert (trip.offenders, trip.words) == (4, 3_133)


def test_rows_of_points_trip_from_532_on() -> None:
    rows = [f'{{ "x": {number}, "y": {number} }},\n' for number in range(532)]
    head = "const points = [\n"
    trip, detector = read(head + "".join(rows[:500]) + novel(400), seed())
    assert (trip, detector.peak_saturated_run) == (None, 2_868)
    trip, _ = read(head + "".join(rows) + "end ", seed())
    assert trip is not None
    assert (trip.offenders, trip.words) == (4, 3_197)


@pytest.mark.parametrize(("width", "words"), [(76, 843), (None, 500)])
def test_base64_never_saturates(width: int | None, words: int) -> None:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    text = "".join(random.Random(1).choices(alphabet, k=64_000))
    if width:
        text = "\n".join(pieces(text, width))
    _, detector = read(text + "\n", seed())
    assert (detector.peak_saturated_run, detector.words_seen) == (0, words)


def test_a_palette_of_distinct_colours_never_saturates() -> None:
    _, detector = read("".join(f"#{number:06x}\n" for number in range(2_000)), seed())
    assert detector.peak_saturated_run == 0


def test_text_without_blanks_is_read_in_slices_of_128() -> None:
    trip, _ = read("void0;" * 600, seed(16, 4, 2, 8, 0), size=5)
    assert trip is not None
    assert (trip.offenders, trip.saturated_run, trip.words, trip.chars) == (3, 8, 21, 2_688)
    trip, _ = read("void0;" * 70_000, NO_CEILING, size=1_000)
    assert trip is not None
    assert (trip.offenders, trip.words, trip.chars) == (3, 3_097, 396_416)
    trip, _ = read("void0;" * 70_000, seed(), size=6)
    assert trip is not None
    assert (trip.rule, trip.chars) == ("length", 250_002)


@pytest.mark.parametrize(
    ("length", "words"),
    [(3, 3_097), (5, 3_161), (6, 3_097), (7, 3_225), (12, 3_097), (24, 3_097), (160, 3_161), (384, 3_097)]
    + [(length, None) for length in (1, 2, 8, 30, 100, 127, 129)],
)
def test_periods_without_blanks(length: int, words: int | None) -> None:
    unit = "".join(chr(0x4E00 + number) for number in range(length))
    trip, _ = read(unit * (128 * 3_300 // length), NO_CEILING, size=4_096)
    assert (trip.words if trip else None) == words


@pytest.mark.parametrize(
    ("knobs", "text", "size", "expected"),
    [
        ((8, 2, 2, 0, 0), "a b " * 50, 3, (2, 3, 8, 16)),
        ((8, 3, 2, 6, 0), "void 0; " * 40, 320, (2, 6, 13, 53)),
        ((8, 2, 2, 0, 5), "a b " * 1_000, 4_000, (2, 3, 8, 16)),
        ((12, 3, 3, 0, 0), "p q r " * 50, 7, (3, 1, 12, 24)),
    ],
)
def test_small_windows(
    knobs: tuple[int, int, int, int, int], text: str, size: int, expected: tuple[int, ...]
) -> None:
    trip, _ = read(text, seed(*knobs), size)
    assert trip is not None
    assert (trip.offenders, trip.saturated_run, trip.words, trip.chars) == expected


@pytest.mark.parametrize(
    ("knobs", "text"),
    [((10, 3, 2, 5, 0), "p q r " * 50), ((1, 1, 1, 0, 0), "ha " * 50), ((64, 1, 2, 0, 0), "a b a b a b ")],
)
def test_windows_that_never_saturate_or_fill(knobs: tuple[int, int, int, int, int], text: str) -> None:
    trip, detector = read(text, seed(*knobs))
    assert trip is None
    assert detector.words_seen == text.count(" ")


def test_offenders_go_with_the_words_that_leave_the_window() -> None:
    _, detector = read("a b a b ", seed(4, 1, 2, 1_000, 0))
    assert (detector.offenders, detector.saturated_run) == (2, 1)
    detector.push("c d e f ")
    assert (detector.offenders, detector.saturated_run) == (0, 0)


def test_the_window_holds_the_last_words_and_no_others() -> None:
    rule = WordSaturation(LoopDetection(window_words=4, min_offenders=100))
    rule.read(period(10))
    assert (rule.words_seen, rule.window_length, rule.tracked) == (10, 4, 4)
    assert [rule.occurrences(f"w{number}") for number in range(10)] == [0] * 6 + [1] * 4


def test_a_real_break_resets_the_run_and_a_stray_word_does_not() -> None:
    trip, detector = read("x y " * 1_000 + novel(300) + "x y " * 1_000, NO_CEILING)
    assert (trip, detector.peak_saturated_run, detector.saturated_run) == (None, 2_125, 1_935)
    trip, _ = read("x y " * 1_499 + "z " + "x y " * 100, NO_CEILING)
    assert trip is not None
    assert trip.words == 3_065


def test_words_of_exactly_the_cap_are_not_counted_twice() -> None:
    cutter = WordCutter()
    assert list(cutter.cut("y" * 127)) == []
    assert list(cutter.cut("y")) == [("y" * 128, 1)]
    assert list(cutter.cut(" ")) == []
    assert [len(word) for word, _ in WordCutter().cut("z" * 256 + " ")] == [128, 128]


def test_the_separators_of_ascii_are_no_white_space() -> None:
    assert [word for word, _ in WordCutter().cut("a\x1cb c\u200bd\ufeffe ")] == ["a\x1cb", "c\u200bd\ufeffe"]


def test_every_white_space_ends_a_word_and_indentation_makes_none() -> None:
    assert len(BLANKS) == 25
    assert [word for word, _ in WordCutter().cut("".join(f"a{blank}" for blank in BLANKS))] == ["a"] * 25
    _, detector = read("        \n\t\n   \n", seed())
    assert (detector.words_seen, detector.chars_seen) == (0, 15)
    detector.push("    const x = 1;\n")
    assert detector.words_seen == 4


def test_the_count_knows_of_a_word_that_has_not_ended() -> None:
    counter = WordCount()
    counter.read("one two")
    assert (counter.total, counter.open) == (1, True)
    counter.read(" ")
    assert (counter.total, counter.open) == (2, False)


def test_a_final_partial_word_is_not_counted() -> None:
    _, detector = read("one two", seed())
    assert detector.words_seen == 1


def test_lone_surrogates_are_read_like_any_other_character() -> None:
    trip, _ = read("\ud800 \udfff " * 2_000, seed())
    assert trip is not None
    assert trip.words == 3_065


@pytest.mark.parametrize("salt", ["0", "1", "20261130"])
def test_the_verdict_does_not_depend_on_the_salt_of_the_process(salt: str) -> None:
    program = (
        "from loopwatch import LoopDetection, LoopDetector;"
        " trip = LoopDetector(LoopDetection()).push('void 0;\\n' * 2_000); print(trip.words, trip.chars)"
    )
    environment = os.environ | {"PYTHONHASHSEED": salt}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=True)
    assert done.stdout.split() == [b"3065", b"12261"]


def test_many_words_are_told_apart() -> None:
    rule = WordSaturation(LoopDetection(window_words=5_000))
    rule.read(novel(3_000))
    assert rule.tracked == 3_000


def test_the_approach_names_the_longest_saturated_run() -> None:
    _, detector = read("0, 1, " * 1_000, seed())
    near = detector.approaches[0]
    assert near.rule == "words"
    assert near.share == pytest.approx(1_935 / 3_000)
    assert "1935 saturated words in a row of 3000" in near.detail
    _, detector = read("0, 1, ", seed(run=0))
    assert detector.approaches[0].share == 0.0


def reference_words(text: str) -> list[str]:
    words, pending = [], ""
    for character in text:
        if character in BLANKS:
            words += [pending] if pending else []
            pending = ""
            continue
        pending += character
        if len(pending) == WORD_CAP:
            words.append(pending)
            pending = ""
    return words


texts = st.lists(
    st.sampled_from(
        ["a", "void", " ", "\n", "\u3000", "\x1c", "\x1f", "z" * 63, "z" * 127, "z" * 128, "z" * 300]
    ),
    max_size=40,
).map("".join)


@given(texts, st.lists(st.integers(0, 400), max_size=8))
def test_cutter_and_counter_agree_with_the_obvious_reading(text: str, cuts: list[int]) -> None:
    cutter, counter = WordCutter(), WordCount()
    words: list[str] = []
    places = [0, *sorted(cuts), len(text)]
    for start, stop in itertools.pairwise(places):
        piece = text[start:stop]
        found = list(cutter.cut(piece))
        assert all(0 < offset <= len(piece) for _, offset in found)
        words += [word for word, _ in found]
        counter.read(piece)
    assert words == reference_words(text)
    assert counter.total == len(words)
