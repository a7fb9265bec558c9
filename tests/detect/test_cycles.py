"""Rule cycle: how long is long enough, by what repeats; and passages repeated with slips."""

import random

import pytest

from loopwatch.detect.cycles import Cycles
from loopwatch.detect.detector import BLOCK
from loopwatch.detect.finding import Finding
from loopwatch.detect.settings import BALANCED_CYCLE, EAGER_CYCLE, CyclePatience
from tests.detect.texts import novel, pieces

HEAD = "The answer begins with a line of sound prose.\n"
SENTENCE = "Let me look at the parser once more and then decide. "


def judge(text: str, patience: CyclePatience = BALANCED_CYCLE) -> tuple[int, Finding] | None:
    """Characters read when the rule speaks, and what it says."""
    rule = Cycles(patience)
    end = 0
    for block in pieces(text, BLOCK):
        if len(block) < BLOCK:
            break
        end += BLOCK
        finding = rule.read(block, end)
        if finding is not None:
            return end, finding
    return None


REPEATED = [
    (SENTENCE, "text"),
    ("  if (err < 0) { goto out; } else { return done; }\n", "code"),
    ("so we do ", "phrase"),
    ("!", "mark"),
    ('{"id": 31, "name": "Quay", "wet": false, "at": null}, ', "record"),
    ("<tr><td></td><td></td></tr>", "markup"),
    ("void 0;\n", "token"),
    ("0, ", "data"),
    ("A", "fill"),
    ("0 0 0 0 0 0 0 1\n", "grid"),
]


@pytest.mark.parametrize(("unit", "kind"), REPEATED)
@pytest.mark.parametrize("patience", [BALANCED_CYCLE, EAGER_CYCLE])
def test_each_class_has_its_patience(unit: str, kind: str, patience: CyclePatience) -> None:
    needed = max(getattr(patience, kind), patience.copies * len(unit))
    verdict = judge(HEAD + unit * (needed * 2 // len(unit)), patience)
    assert verdict is not None
    end, finding = verdict
    assert needed <= end - finding.onset < needed + BLOCK
    assert finding.period == len(unit)
    assert finding.repeats == pytest.approx((end - finding.onset) / len(unit))
    assert finding.onset in range(len(HEAD) - 2, len(HEAD) + 1)
    assert finding.sample == (HEAD + unit * 3)[finding.onset :][: min(len(unit), 200)]
    short = HEAD + unit * ((needed - len(unit)) // len(unit))
    assert judge(short + novel(50), patience) is None


@pytest.mark.parametrize(("sentences", "copies"), [(3, 4), (20, 5)])
def test_a_long_passage_must_come_more_often(sentences: int, copies: int) -> None:
    passage = " ".join(
        f"Sentence {number} of the tale says {word}." for number, word in enumerate(novel(sentences).split())
    )
    passage = passage.translate(str.maketrans("0123456789", "abcdefghij")) + "\n"
    patience = CyclePatience(
        **{
            name: 100
            for name in BALANCED_CYCLE.__slots__
            if name not in {"copies", "long_copies", "long_unit"}
        },
        copies=4,
        long_copies=5,
    )
    assert (len(passage) > patience.long_unit) == (copies == 5)
    verdict = judge(HEAD + passage * 9, patience)
    assert verdict is not None
    end, finding = verdict
    assert copies * len(passage) <= end - finding.onset < copies * len(passage) + BLOCK


def test_a_round_told_three_times_is_no_loop() -> None:
    tale = "".join(
        f"On day {word} the fox went by and the hen said nothing at all to him.\n"
        for word in novel(30).split()
    )
    assert judge(HEAD + tale * 3 + novel(100)) is None


def slipping(copies: int, every: int) -> str:
    draw = random.Random(4)
    words = "The queue is drained before the lock is taken so the second worker finds nothing to do and sleeps.".split()
    said: list[str] = []
    for _ in range(copies * len(words)):
        word = words[len(said) % len(words)]
        said.append(
            draw.choice(["pasture", "visitor", "harbour", "weaver"]) if draw.randrange(every) == 0 else word
        )
    return " ".join(said) + " "


@pytest.mark.parametrize("patience", [BALANCED_CYCLE, EAGER_CYCLE])
def test_a_sentence_with_slips_is_added_up(patience: CyclePatience) -> None:
    verdict = judge(HEAD + slipping(300, 25), patience)
    assert verdict is not None
    _, finding = verdict
    assert len(HEAD) <= finding.onset < 6_000
    assert finding.period in range(95, 105)


def test_too_many_slips_are_not() -> None:
    assert judge(HEAD + slipping(300, 4)) is None


def test_equal_log_lines_side_by_side_by_chance_are_no_slips() -> None:
    draw = random.Random(8)
    lines = [
        "INFO the worker took the next job from the queue and began to read it\n",
        "INFO another worker asked for the lock while somebody else still held it\n",
        "WARN a connection was closed by the peer before the whole answer had arrived\n",
        "INFO nothing left for this minute, going back to sleep until the alarm rings\n",
    ]
    log = "".join(draw.choices(lines, weights=[4, 3, 2, 1], k=600))
    assert judge(log) is None


def test_rows_of_few_kinds_are_no_slips() -> None:
    draw = random.Random(9)
    rows = "".join(
        draw.choices(
            ['  {"tile": "grass", "solid": false},\n', '  {"tile": "rock", "solid": true},\n'], k=900
        )
    )
    assert judge(rows) is None


def test_counting_is_judged_by_its_own_patience() -> None:
    listed = "".join(f"{number}. Review the report and update the log.\n" for number in range(1, 2_000))
    verdict = judge(HEAD + listed)
    assert verdict is not None
    end, finding = verdict
    assert BALANCED_CYCLE.counted_label <= end - finding.onset < BALANCED_CYCLE.counted_label + 256
    assert finding.period in range(40, 46)
    assert 0 < len(finding.sample) <= 200


def test_the_approach_is_the_nearest_so_far() -> None:
    rule = Cycles(BALANCED_CYCLE)
    assert (rule.approach.share, rule.approach.detail) == (0.0, "nothing repeated itself")
    text = HEAD + "0, " * 1_000 + novel(200) + "A" * 1_000
    for number, block in enumerate(pieces(text, BLOCK), 1):
        rule.read(block, number * BLOCK)
    assert rule.approach.share == pytest.approx(3_000 / 25_000, abs=0.01)
    assert rule.approach.detail.startswith("data of 3 characters for ")


def test_many_repetitions_one_after_the_other_are_all_looked_at() -> None:
    text = "".join(chr(0x3B1 + number) * 1_000 + novel(30) for number in range(20))
    assert judge(text) is None
