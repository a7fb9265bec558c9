from itertools import pairwise

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopwatch.detect.detector import LoopDetector
from loopwatch.detect.reply import BLOCK, PIECE
from loopwatch.detect.settings import PRESETS, LoopDetection
from loopwatch.offline.verdict import Problem, Reading, Verdict, judge
from tests.offline.files import LOOP, SOUND

BALANCED = LoopDetection.preset("balanced")


def test_a_loop_has_all_its_figures() -> None:
    verdict = judge(SOUND + LOOP, BALANCED, "r1", "a.jsonl")
    assert verdict.tripped
    assert (verdict.id, verdict.source, verdict.rule) == ("r1", "a.jsonl", "cycle")
    assert (verdict.chars, verdict.words) == (len(SOUND + LOOP), len((SOUND + LOOP).split()))
    assert verdict.onset_char == len(SOUND)
    assert verdict.period_chars == len(LOOP) // 100
    assert verdict.at_char is not None
    assert verdict.at_char % PIECE == 0
    assert verdict.saved_chars == verdict.chars - verdict.at_char
    assert verdict.at_word == len((SOUND + LOOP)[: verdict.at_char].split()) - 1  # the last is still open
    assert verdict.repeats == round((verdict.at_char - len(SOUND)) / verdict.period_chars, 1)
    assert verdict.sample.startswith("la la la")


def test_a_sound_reply_has_none_of_them() -> None:
    verdict = judge(SOUND, BALANCED, "r1", "a.jsonl")
    assert verdict == Verdict(id="r1", source="a.jsonl", chars=len(SOUND), words=5, tripped=False)


def test_an_empty_reply_is_one() -> None:
    assert judge("", BALANCED, "r1", "a") == Verdict(id="r1", source="a", chars=0, words=0, tripped=False)


def test_a_trip_without_an_onset_has_none() -> None:
    verdict = judge("0123456789 " * 30_000, LoopDetection(rules=("length",)), "r1", "a")
    assert (verdict.rule, verdict.onset_char, verdict.period_chars, verdict.repeats) == (
        "length",
        None,
        None,
        None,
    )


@pytest.mark.parametrize("text", [SOUND, LOOP])
def test_near_is_there_where_it_was_asked_for(text: str) -> None:
    assert judge(text, BALANCED, "r1", "a").near is msgspec.UNSET
    near = judge(text, BALANCED, "r1", "a", explain=True).near
    assert isinstance(near, list)
    assert [one.rule for one in near] == ["cycle", "phrases", "blank", "length"]
    assert (near[0].share >= 1) == (text is LOOP)


def test_as_json_it_has_the_promised_keys_in_their_order() -> None:
    promised = (
        "id source chars words tripped rule at_char at_word onset_char period_chars repeats saved_chars sample engine"
    ).split()
    sound, explained = (judge(SOUND, BALANCED, "r1", "a", explain=explain) for explain in (False, True))
    assert list(msgspec.json.decode(msgspec.json.encode(sound))) == promised
    assert list(msgspec.json.decode(msgspec.json.encode(explained))) == [*promised, "near"]


@pytest.mark.parametrize("preset", PRESETS)
@settings(deadline=None, max_examples=40)
@given(
    text=st.sampled_from([SOUND, LOOP, SOUND * 3 + LOOP, "void 0; " * 5_000, "é" * 9_000, "x y " * 70_000]),
    places=st.lists(st.integers(0, 300_000), max_size=12),
)
def test_a_verdict_is_the_same_however_the_reply_came(preset: str, text: str, places: list[int]) -> None:
    chosen = LoopDetection.preset(preset)
    reading = Reading(chosen)
    edges = [0, *sorted(min(place, len(text)) for place in places), len(text)]
    for start, stop in pairwise(edges):
        reading.read(text[start:stop])
    assert reading.verdict("r", "a", explain=True) == judge(text, chosen, "r", "a", explain=True)


def test_the_detector_gets_pieces_of_64_characters_and_the_rest_at_the_end() -> None:
    words = LoopDetection(min_saturated_run=10**6, max_response_chars=1_000)
    verdict = judge("ab " * 400, words, "r", "a")
    assert verdict.at_char == 1_024  # the first end of a piece beyond the ceiling
    assert judge("ab " * 334, words, "r", "a").at_char == 1_002  # a reply that ends before that
    detector = LoopDetector(words)
    for start in range(0, 1_200, PIECE):
        detector.push(("ab " * 400)[start : start + PIECE])
    assert detector.trip is not None
    assert detector.trip.chars == verdict.at_char


def test_a_long_reply_is_counted_block_by_block() -> None:
    text = "word and " * (BLOCK // 4)
    verdict = judge(text, BALANCED, "r", "a")
    assert (verdict.chars, verdict.words) == (len(text), len(text.split()))


def test_a_reading_may_be_asked_twice() -> None:
    reading = Reading(BALANCED)
    reading.read(LOOP[:1_000])
    assert reading.verdict("r", "a") == reading.verdict("r", "a")


def test_a_problem_says_where_and_why() -> None:
    assert str(Problem("a.jsonl:7", "not JSON")) == "a.jsonl:7: not JSON"
