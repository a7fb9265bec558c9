"""The twin in Rust against this package's own rules: verdict, place, onset, counts and nearness are equal.

On the whole corpus, on arbitrary text and settings, and however a reply is cut.
"""

import random
import re
import sys
from collections.abc import Iterable
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from loopwatch.detect import characters, reply
from loopwatch.detect.detector import LoopDetector as Python
from loopwatch.detect.engine import RULES
from loopwatch.detect.settings import PRESETS, CyclePatience, LoopDetection, PhrasePatience
from loopwatch.detect.trip import RULES as NAMES
from loopwatch.offline.corpus import read_corpus
from tests.detect.conftest import MISSING

rust = pytest.importorskip("loopwatch_native", reason=MISSING)
native = pytest.importorskip("loopwatch.detect.native", reason=MISSING)

CORPUS = Path(__file__).parents[2] / "corpus"
FILES = ("replies.jsonl.gz", "added.jsonl.gz", "real.jsonl.gz")
SETTINGS: dict[str, LoopDetection] = {name: LoopDetection.preset(name) for name in PRESETS}
SETTINGS["everything"] = replace(SETTINGS["eager"], rules=NAMES)


def state(detector: Any) -> tuple[Any, ...]:
    """All that a detector tells, the sample of its trip too, which no comparison of trips looks at."""
    trip = detector.trip
    return (
        trip,
        trip and trip.sample,
        detector.words_seen,
        detector.chars_seen,
        detector.offenders,
        detector.saturated_run,
        detector.peak_saturated_run,
        detector.approaches,
    )


def assert_equal(text: str, settings: LoopDetection, cuts: Iterable[int]) -> None:
    ours, theirs = Python(settings), native.LoopDetector(settings)
    for start, stop in pairwise([0, *cuts, len(text)]):
        assert ours.push(text[start:stop]) == theirs.push(text[start:stop])
        if ours.trip:
            break
    assert state(ours) == state(theirs)


@pytest.mark.parametrize("preset", SETTINGS)
@pytest.mark.parametrize("file", FILES)
def test_the_whole_corpus_is_judged_alike(file: str, preset: str) -> None:
    for case in read_corpus(CORPUS / file):
        assert_equal(case.text, SETTINGS[preset], range(64, len(case.text), 64))


@pytest.mark.parametrize("preset", SETTINGS)
@pytest.mark.parametrize("explain", [True, False])
def test_whole_replies_are_judged_alike_on_any_number_of_threads(preset: str, *, explain: bool) -> None:
    draw = random.Random(5)
    texts = ["", "\ud800 \udfff", *(case.text[: draw.randrange(30_000)] for case in read_corpus(CORPUS)[::3])]
    expected = reply.judge_all(texts, SETTINGS[preset], explain=explain, threads=1)
    for threads in (0, 1, 2, 64):
        judged = native.judge_all(texts, SETTINGS[preset], explain=explain, threads=threads)
        assert judged == expected
        assert [one.trip and one.trip.sample for one in judged] == [
            one.trip and one.trip.sample for one in expected
        ]


# What the rules look for, and what could be cut, counted or classified in two ways.
PARTS = [
    "Let me look at the parser once more, step by step. ",
    "void 0; ",
    "0, ",
    "&nbsp;",
    "\\n",
    "\\",
    " ",
    "\n",
    "\x1c",
    "\x85",
    "\u3000",
    "鶴",
    "é",
    "😀",
    "ภาษาไทย ",
    "မြန်မာ။ ",
    "\ud800",
    "Step 7: go on.\n",
    "1:02:03.456 ",
    "99999999999999999999 ",
    "one two three four five six seven eight nine ten. ",
    "<tr><td></td></tr>",
]
COUNTED = [
    "Step {}: add a feedback form to the page.\n",
    "{}. Review it all again please now\n",
    "00:{:02}:05,123 --> 00:{:02}:09 hello there\n",
    "<a x='{}' y='{}'/>\n  <b x='{}' y='8'/>\n",
]


def counted(form: str, first: int, step: int, count: int) -> str:
    """A passage in which the numbers count on, together or one after the other."""
    return "".join(
        form.format(*(first + step * (number + place) for place in range(4))) for number in range(count)
    )


def shuffled(lines: list[str], seed: int, count: int) -> str:
    draw = random.Random(seed)
    return "".join(draw.choice(lines) for _ in range(count))


def slipping(unit: str, seed: int, count: int) -> str:
    draw = random.Random(seed)
    text = list(unit * count)
    for _ in range(count // 3):
        text[draw.randrange(len(text))] = draw.choice("ab ,.0é")
    return "".join(text)


some = st.sampled_from(PARTS)
units = st.lists(some | st.text(max_size=12), min_size=1, max_size=8).map("".join).filter(bool)
steps = st.sampled_from([1, 2, 10, 10**13])
passages = st.one_of(
    st.builds(lambda unit, count: unit * count, units, st.integers(1, 60)),
    st.builds(counted, st.sampled_from(COUNTED), st.sampled_from([0, 9, 10**14]), steps, st.integers(2, 150)),
    st.builds(shuffled, st.lists(units, min_size=1, max_size=5), st.integers(0, 99), st.integers(5, 120)),
    st.builds(slipping, units, st.integers(0, 99), st.integers(3, 40)),
    st.text(max_size=300),
)
texts = st.lists(passages, max_size=6).map("".join)

small = st.integers(1, 40)
figure = st.one_of(small, st.integers(1, 3_000), st.just(2**53))
share = st.floats(0.01, 2)
cycles = st.builds(
    CyclePatience,
    **{one.name: figure for one in fields(CyclePatience)} | {"copies": small, "long_copies": small},
)
phrases = st.builds(
    PhrasePatience,
    window=st.integers(1, 300),
    recycled=share,
    new_phrases=share,
    lasting=st.integers(0, 300),
    clauses=small,
    new_clauses=share,
    refrain_chars=figure,
    lexical=share,
    distinct=small,
    clause_words=share,
)
chosen = st.one_of(
    st.sampled_from(list(SETTINGS.values())),
    st.builds(
        LoopDetection,
        enabled=st.sampled_from([True, True, True, False]),
        window_words=figure,
        repeat_threshold=small,
        min_offenders=st.integers(1, 5),
        min_saturated_run=st.integers(0, 500),
        max_response_chars=st.one_of(st.just(0), figure),
        rules=st.lists(st.sampled_from(NAMES), unique=True).map(tuple),
        blank_chars=figure,
        cycle=st.one_of(cycles, st.just(SETTINGS["eager"].cycle)),
        phrases=st.one_of(phrases, st.just(SETTINGS["eager"].phrases)),
    ),
)


@examples(max_examples=300, deadline=None)
@given(texts, chosen, st.data())
def test_any_reply_is_judged_alike_under_any_settings_however_it_is_cut(
    text: str, settings: LoopDetection, data: st.DataObject
) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=12)))
    assert_equal(text, settings, cuts)
    assert_equal(text, settings, range(1, len(text), 61))


@examples(max_examples=60, deadline=None)
@given(st.lists(texts, max_size=5), chosen)
def test_any_batch_is_judged_alike(batch: list[str], settings: LoopDetection) -> None:
    expected = reply.judge_all(batch, settings, explain=True, threads=1)
    assert native.judge_all(batch, settings, explain=True, threads=2) == expected


def test_every_character_is_of_the_same_class() -> None:
    """Whatever Unicode version the interpreter and the compiler have: both read the ranges written here."""
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    expected = bytearray(len(every))
    classes = (characters.SPACED, characters.UNSPACED, characters.PICTOGRAPHS, "0-9")
    parting = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
    for mark, ranges in [*enumerate(classes, 1), (16, characters.BLANKS), (64, parting)]:
        for found in re.finditer(f"[{ranges}]", every):
            expected[found.start()] |= mark
    for code, character in enumerate(every):
        if characters.clause_mark.fullmatch(character):
            expected[code] |= 32
    assert rust.character_classes() == bytes(expected)
    assert f"(?<=[{parting}]) " in characters.clause_mark.pattern


def test_both_have_the_same_revision_of_the_rules() -> None:
    assert rust.RULES == RULES


def test_figures_beyond_any_reply_are_as_good_as_none() -> None:
    settings = LoopDetection(max_response_chars=10**30, min_saturated_run=2**64, rules=("words", "length"))
    detector = native.LoopDetector(settings)
    assert detector.push("void 0; " * 5_000) is None


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(TypeError):
        native.LoopDetector().push(b"bytes")
    with pytest.raises(TypeError):
        native.judge_all([None], SETTINGS["seed"], explain=False, threads=1)
    with pytest.raises(AttributeError):
        rust.Figures(object())


# Texts that make a search, a table or a count do its worst: they cost about as much as any other.
HOSTILE = {
    "one letter": "a" * 400_000,
    "a late difference": ("a" * 1_023 + "b") * 400,
    "nearly a lag": ("a" * 23 + "b" + "a" * 500 + "c") * 700,
    "two letters": "".join(random.Random(1).choices("ab", k=400_000)),
    "no blank": "x1" * 200_000,
    "all blanks": " \n" * 200_000,
    "all different words": " ".join(map(str, range(60_000))),
    "equal checksums": " ".join(["plumless", "buckeroo"] * 22_000),  # CRC-32 does not tell them apart
    "numbers without end": "9" * 400_000,
    "times": "1:11:11:11." * 36_000,
    "marks": ".,;:" * 100_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_read_to_its_end_and_judged_alike(name: str) -> None:
    patient = LoopDetection(
        rules=NAMES,
        max_response_chars=0,
        min_saturated_run=10**9,
        blank_chars=10**9,
        cycle=CyclePatience(**{one.name: 10**9 for one in fields(CyclePatience)}),
        phrases=replace(SETTINGS["balanced"].phrases, lasting=10**9, refrain_chars=10**9),
    )
    text = HOSTILE[name][:60_000]
    assert_equal(text, patient, [])
    (judged,) = native.judge_all([HOSTILE[name]], patient, explain=False, threads=1)
    assert (judged.chars, judged.trip) == (len(HOSTILE[name]), None)
