"""What the twin in Rust is worth: its rules against ours, and against each other; ratios within one run, printed.

One core, whole replies, read to their end: no rule may trip.
"""

import platform
import time
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import pytest

from loopwatch.detect import reply
from loopwatch.detect.settings import CyclePatience, LoopDetection
from loopwatch.offline.corpus import read_corpus
from tests.detect.conftest import MISSING
from tests.detect.texts import tilemap

native = pytest.importorskip("loopwatch.detect.native", reason=MISSING)

CORPUS = Path(__file__).parents[2] / "corpus"
CHARS = 60_000
ROUNDS = 7
NEVER = 10**9


def prose() -> str:
    """The corpus' prose, each text once."""
    texts = [case.text for case in read_corpus(CORPUS) if case.family == "prose" and case.label == "legit"]
    return "\n".join(texts)


TEXTS: dict[str, Callable[[], str]] = {
    "prose": prose,
    "tile map": lambda: tilemap(160, 160),
    "loop": lambda: "void 0; " * CHARS,
}
BALANCED = LoopDetection.preset("balanced")
WORDS = LoopDetection(rules=("words",), min_saturated_run=NEVER)
PATIENT = replace(
    BALANCED,
    max_response_chars=0,
    blank_chars=NEVER,
    cycle=CyclePatience(**{field.name: NEVER for field in fields(CyclePatience)}),
    phrases=replace(BALANCED.phrases, lasting=NEVER, refrain_chars=NEVER),
)
Judge = Callable[..., list[reply.Judged]]


def nanoseconds(judge: Judge, text: str, settings: LoopDetection) -> float:
    """CPU time a character, of the fastest of a few rounds."""
    rounds = []
    for _ in range(ROUNDS):
        start = time.process_time_ns()
        (judged,) = judge([text], settings, explain=False, threads=1)
        rounds.append(time.process_time_ns() - start)
        assert judged.trip is None
    return min(rounds) / len(text)


@pytest.mark.parametrize("name", TEXTS)
def test_native_against_pure_python(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = TEXTS[name]()[:CHARS]
    figures = []
    for rules, settings in (("words", WORDS), ("balanced", PATIENT)):
        slow, fast = (nanoseconds(judge, text, settings) for judge in (reply.judge_all, native.judge_all))
        figures.append(f"{rules} {slow / fast:.0f}x ({fast:.1f} ns a character against {slow:.0f})")
    with capsys.disabled():
        print(f"\n{name:10} native against Python, one core: {', '.join(figures)}")  # noqa: T201


def test_balanced_against_the_rule_words(capsys: pytest.CaptureFixture[str]) -> None:
    text = prose()[:CHARS]
    words, balanced = (nanoseconds(native.judge_all, text, settings) for settings in (WORDS, PATIENT))
    with capsys.disabled():
        print(f"\nprose      native balanced reads at {words / balanced:.2f} of the speed of native words")  # noqa: T201
        print(f"           ({platform.machine()}, Python {platform.python_version()})")  # noqa: T201
