"""Rule phrases: nothing new is said any more, and what only looks like it."""

import random

import pytest

from loopwatch.detect.detector import BLOCK
from loopwatch.detect.finding import Finding
from loopwatch.detect.phrases import STRIDE, TOKEN_CAP, Phrases
from loopwatch.detect.settings import BALANCED_PHRASES, EAGER_PHRASES, PhrasePatience
from tests.detect.texts import novel, pieces

PROMISES = [
    "OK, writing the whole answer now.\n",
    "Alright, here comes the final answer.\n",
    "I should just write it down.\n\n",
    "Let me output the complete file. ",
    "No more thinking, only writing. ",
]


def judge(text: str, patience: PhrasePatience = BALANCED_PHRASES) -> tuple[int, Finding] | None:
    """Characters read when the rule speaks, and what it says."""
    rule = Phrases(patience)
    end = 0
    for block in pieces(text, BLOCK):
        end += len(block)
        finding = rule.read(block, end)
        if finding is not None:
            return end, finding
    return None


def shuffled(stock: list[str], count: int, seed: int = 1) -> str:
    return "".join(random.Random(seed).choices(stock, k=count))


@pytest.mark.parametrize("patience", [BALANCED_PHRASES, EAGER_PHRASES])
@pytest.mark.parametrize(
    "loop",
    [
        shuffled(PROMISES, 400),
        shuffled(
            [
                "\\boxed{12} is the final answer to the question. ",
                "$\\boxed{12}$ is the final answer to the question!\n",
                "**So:** the total, again, comes to exactly this value; ",
            ],
            400,
        ),
        shuffled(
            [
                "嗯，没有问题，我再确认一下。",
                "让我重新算一遍，答案不变。",
                "保险起见，再看看结果是否一致。",
                "等等，这里确实是正确的，继续。",
            ],
            800,
        ),
    ],
)
def test_a_small_stock_of_sentences_in_any_order_is_a_loop(loop: str, patience: PhrasePatience) -> None:
    head = novel(120)
    verdict = judge(head + loop, patience)
    assert verdict is not None
    end, finding = verdict
    assert end - len(head) < 12_000
    assert abs(finding.onset - len(head)) < 2 * STRIDE


@pytest.mark.parametrize("patience", [BALANCED_PHRASES, EAGER_PHRASES])
def test_the_same_words_under_shifting_marks_are_a_loop(patience: PhrasePatience) -> None:
    draw = random.Random(2)
    words = "so the final answer that I will give after all of this checking is exactly twelve".split()
    marks = [" ", " ", " ", ", ", "\n", "! ", " - ", " **", "; "]
    head = novel(150)
    verdict = judge(head + "".join(word + draw.choice(marks) for _ in range(300) for word in words), patience)
    assert verdict is not None
    end, finding = verdict
    assert end - len(head) < 3_000
    assert abs(finding.onset - len(head)) < 2 * STRIDE


def test_rows_of_few_names_under_shifting_marks_are_cells() -> None:
    draw = random.Random(2)
    names = ["grass"] * 20 + ["water"] * 9 + ["sand"] * 5 + ["rock"] * 6
    assert judge("".join(name + draw.choice([", ", " ", "\n"]) for _ in range(60) for name in names)) is None


@pytest.mark.parametrize("patience", [BALANCED_PHRASES, EAGER_PHRASES])
@pytest.mark.parametrize(
    "name",
    ["form", "cells", "numbers in words", "placeholder", "numbers", "letters", "three times", "puzzle"],
)
def test_what_must_not_be_confused(name: str, patience: PhrasePatience) -> None:
    draw = random.Random(5)
    letters = "abcdefghijklmnopqrstuvwxyz"
    ones = "one two three four five six seven eight nine".split()
    tens = "twenty thirty forty fifty sixty seventy eighty ninety".split()
    legitimate = {
        "form": "".join(
            f"### {first} {second}\n- [ ] Windows shut and locked\n- [ ] Radiator set to two\n- [ ] Smoke alarm tested\n"
            for first in novel(12).split()
            for second in ["north", "south", "east", "west"]
        ),
        "cells": ", ".join(
            draw.choice(["grass", "water", "sand", "rock", "tree", "path", "wall"]) for _ in range(5_000)
        ),
        "numbers in words": ", ".join(
            f"{hundred} hundred and {ten} {one}" for hundred in ones for ten in tens for one in ones
        ),
        "placeholder": " ".join(
            draw.choices(
                "lorem ipsum dolor sit amet elit sed do eiusmod tempor ut labore et magna".split(), k=5_000
            )
        ),
        "numbers": " ".join(str(draw.randrange(12)) for _ in range(9_000)),
        "letters": " ".join(draw.choice(letters[:4]) for _ in range(9_000)),
        "three times": (novel(400) * 3),
        "puzzle": "".join(
            draw.choice([f"Move the disk from peg {a} to peg {b}.\n" for a in "ABC" for b in "ABC"])
            for _ in range(900)
        ),
    }
    assert judge(legitimate[name] + novel(200), patience) is None


SCRIPTS = {
    "Hindi": [
        "मोहन ने कहा कि अब उत्तर लिखना है।",
        "मैं फिर से जाँच करता हूँ और देखता हूँ।",
        "परिणाम वही रहता है जो पहले था।",
        "अब मैं पूरा उत्तर यहाँ लिखूँगा।",
    ],
    "Arabic": [
        "سأكتب الآن الجواب النهائي كاملا؟",
        "دعني أتحقق من النتيجة مرة أخرى،",
        "النتيجة هي نفسها كما كانت من قبل؛",
        "حسنا، هذا هو الجواب الأخير هنا۔",
    ],
    "Burmese": ["ငါအခုအဖြေကိုရေးမယ်။", "ရလဒ်ကအရင်အတိုင်းပဲရှိတယ်။", "နောက်တစ်ခါစစ်ကြည့်မယ်။", "အဖြေအပြည့်အစုံကဒီမှာပါ။"],
    "Thai": [
        "ตอนนี้ฉันจะเขียนคำตอบสุดท้าย ",
        "ขอตรวจสอบผลลัพธ์อีกครั้งหนึ่ง ",
        "ผลลัพธ์ยังคงเหมือนเดิมทุกอย่าง ",
        "คำตอบทั้งหมดอยู่ตรงนี้แล้ว ",
    ],
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_clauses_end_in_every_script(script: str) -> None:
    said = [clause if clause.endswith(" ") else clause + " " for clause in SCRIPTS[script]]
    assert judge(shuffled(said, 900)) is not None


def test_numbers_of_two_digits_are_no_words() -> None:
    draw = random.Random(4)
    assert judge("".join(f"user {draw.randint(1, 99)} logged in\n" for _ in range(3_000))) is None


def test_text_without_any_word_is_not_remembered() -> None:
    rule = Phrases(BALANCED_PHRASES)
    for number in range(1, 4_000):
        rule.read("░▒▓█" * (BLOCK // 4), number * BLOCK)
    assert len(rule._window) == 0


def test_the_approach_says_what_held_it_back() -> None:
    rule = Phrases(BALANCED_PHRASES)
    assert rule.approach.detail == "no phrase came back"
    for number, block in enumerate(pieces(", ".join(["false"] * 2_000), BLOCK), 1):
        rule.read(block, number * BLOCK)
    assert rule.approach.share == pytest.approx(0.99)
    assert "0 new" in rule.approach.detail


def test_words_without_end_are_read_in_bounded_memory() -> None:
    rule = Phrases(BALANCED_PHRASES)
    for number in range(1, 2_000):
        assert rule.read("x" * BLOCK, number * BLOCK) is None
    assert len(rule._text) <= STRIDE + TOKEN_CAP
    assert rule._size <= BALANCED_PHRASES.window + STRIDE


def test_lone_surrogates_are_no_words() -> None:
    assert judge("\ud800 and \udfff " * 500) is None


def test_a_clause_without_marks_is_cut() -> None:
    said = " ".join(
        ["the very same sixteen words are said again and again by this model until it stops"] * 400
    )
    verdict = judge(said)
    assert verdict is not None
