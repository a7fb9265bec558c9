import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopwatch.detect.detector import LoopDetector
from loopwatch.errors import SettingsError
from loopwatch.steps.loop import RULES, StepLoop
from loopwatch.steps.monitor import StepMonitor
from loopwatch.steps.reading import read
from loopwatch.steps.settings import STEP_PRESETS, StepSettings
from loopwatch.steps.step import Step
from tests.steps.runs import call, rule, say, verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

FAILS = call("edit", "Error: not unique", path="a.py")


def size(value: Any, seen: set[int]) -> int:
    """Bytes of everything that an object holds."""
    if id(value) in seen or isinstance(value, type):
        return 0
    seen.add(id(value))
    held: Iterator[Any] = iter(())
    if isinstance(value, dict):
        held = (part for pair in value.items() for part in pair)
    elif hasattr(value, "__iter__") and not isinstance(value, str | bytes):
        held = iter(value)
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    fields = [getattr(value, name) for name in slots if hasattr(value, name)]
    return sys.getsizeof(value) + sum(size(one, seen) for one in (*held, *fields))


def test_after_its_verdict_a_monitor_is_inert_and_repeats_it() -> None:
    monitor = StepMonitor()
    answers = [monitor.observe(FAILS) for _ in range(9)]
    assert answers[:4] == [None] * 4
    assert answers[4] is not None
    assert answers[5:] == [answers[4]] * 4
    assert monitor.loop is answers[4]
    assert monitor.steps_seen == 5


def test_a_monitor_that_is_switched_off_says_nothing() -> None:
    assert verdict([FAILS] * 50, enabled=False) is None


def test_the_sentence_holds_no_argument_and_no_result() -> None:
    loop = verdict([FAILS] * 5)
    assert (
        str(loop) == "the same call brought the same result 5 times in a row (from step 0 on, 5 steps read)"
    )


@pytest.mark.parametrize("name", RULES)
def test_every_rule_has_a_sentence(name: Any) -> None:
    assert "{" not in str(StepLoop(name, 3, 9, 2, 3))


def test_a_message_of_the_user_starts_anew() -> None:
    asked = [one for n in range(30) for one in (say("Again?", role="user", t=n * 60.0), *[FAILS] * 4)]
    assert rule(asked) is None


def test_a_program_that_says_the_same_as_a_user_is_no_wish() -> None:
    steps = [
        one
        for n in range(8)
        for one in (say("continue", role="user", t=n + 0.5), call("read", "Error: gone", path="a", t=n + 1.0))
    ]
    assert rule(steps) is not None


def test_an_agent_among_others_is_seen() -> None:
    steps = [
        one
        for n in range(9)
        for one in (
            call("read", f"text {n}", role="scout", path=f"{n}"),
            call("fetch", "an empty page", role="fetcher", url="u"),
            call("write_file", "written", role="coder", path=f"{n}", content=f"c{n}"),
        )
    ]
    loop = verdict(steps)
    assert loop is not None
    assert (loop.rule, loop.repeats) == ("repeat", 6)


def test_one_reply_that_loops_is_seen_by_the_detector_that_is_handed_in() -> None:
    looping = say("The figures follow. " + "and so on and so forth, " * 200)
    assert StepMonitor().observe(looping) is None
    loop = StepMonitor(text_detector=LoopDetector).observe(looping)
    assert loop is not None
    assert (loop.rule, str(loop)) == (
        "text",
        "what one step said became a loop of its own (from step 0 on, 1 steps read)",
    )
    assert StepMonitor(StepSettings(read_texts=False), LoopDetector).observe(looping) is None
    assert StepMonitor(text_detector=LoopDetector).observe(say(looping.result, role="user")) is None
    beside = Step(role="agent", tool="ls", result="a", text=looping.result)
    assert StepMonitor(text_detector=LoopDetector).observe(beside) is not None


@pytest.mark.parametrize("bad", [{"firm": 1}, {"said": True}, {"stuck": 2.5}, {"copies": -3}])
def test_a_figure_that_cannot_be_meant_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="must be a whole number of at least 2"):
        StepSettings(**bad)


def test_presets_are_known_by_name() -> None:
    assert [StepSettings.preset(name).enabled for name in STEP_PRESETS] == [True] * 2
    assert StepSettings.preset("balanced") == StepSettings()
    assert StepSettings.preset("eager").waiting < StepSettings().waiting
    with pytest.raises(SettingsError, match="there is no preset 'seed': choose balanced, eager"):
        StepSettings.preset("seed")


texts = st.text(max_size=30)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | texts, lambda inner: st.lists(inner, max_size=3), max_leaves=4
)
any_step = st.builds(
    Step,
    role=st.sampled_from(["a", "b", "user", "system"]),
    tool=st.none() | texts,
    args=st.dictionaries(texts, plain, max_size=3),
    result=texts,
    error=st.none() | texts,
    text=st.none() | texts,
    t=st.floats(0, 1e9),
)


@given(st.lists(any_step, max_size=30))
def test_any_run_is_read_and_twice_alike(steps: list[Step]) -> None:
    assert verdict(steps) == verdict(steps)


@settings(max_examples=30)
@given(st.integers(0, 40), st.sampled_from(["search", "read_file", "shell"]))
def test_healthy_steps_before_move_the_onset_and_nothing_else(before: int, tool: str) -> None:
    healthy = [call(tool, f"result {n} of a kind", path=f"dir{n}/file") for n in range(before)]
    loop = verdict([*healthy, *[FAILS] * 6])
    assert loop is not None
    assert (loop.rule, loop.onset, loop.steps) == ("repeat", before, before + 5)


@settings(max_examples=30)
@given(st.lists(st.integers(0, 3), min_size=9, max_size=9))
def test_the_work_of_other_agents_and_the_harness_s_remarks_hide_nothing(noise: list[int]) -> None:
    steps: list[Step] = []
    for round_, count in enumerate(noise):
        steps.append(FAILS)
        for n in range(count):
            steps.append(call("read", f"text {round_} {n}", role="other", path=f"{round_}/{n}"))
            steps.append(say(f"{round_ * 9 + n} tokens left", role="system"))
    loop = verdict(steps)
    assert loop is not None
    assert (loop.rule, loop.onset, loop.repeats) == ("repeat", 0, 5)


@settings(max_examples=20)
@given(st.integers(1, 4), st.integers(1, 12))
def test_a_user_who_speaks_often_enough_is_never_cut_off(calls: int, wishes: int) -> None:
    steps = [one for n in range(wishes) for one in (say(f"Again {n}", role="user"), *[FAILS] * calls)]
    assert verdict(steps) is None


def test_memory_is_bounded_whatever_the_run_holds() -> None:
    monitor = StepMonitor()
    sizes = []
    for number in range(9_000):
        tool = f"tool{number % 97}"
        monitor.observe(
            call(
                tool,
                f"Error {number * 7919 % 999_983:x}: " + f"w{number} " * 60,
                role=f"agent{number % 301}",
                path=f"p{number}",
                content=f"{number}",
                page=number,
            )
        )
        monitor.observe(call("write_file", "written", role="w", path=f"p{number}", content=f"c{number}"))
        if number in {4_499, 8_999}:
            sizes.append(size(monitor, set()))
    assert monitor.loop is None
    assert sizes[1] <= 1.1 * sizes[0]
    assert sizes[1] < 24_000_000


def test_deep_and_odd_arguments_are_taken() -> None:
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]
    odd = {"a": deep, "b": object, "c": {1: 2}, "d": float("nan"), "e": b"x", "f": {"é": "\ud800"}}
    assert verdict([Step(role="a", tool="t", args=odd, result=f"{n}") for n in range(9)]) is None


@pytest.mark.parametrize(
    "unit", [" ", "\n", "_", "- ~:.,", "1.", "0123456789ab", "e ", "/var/folders/", "\\n", "no a ", ";"]
)
def test_output_made_to_cost_time_is_read_like_any_other(unit: str) -> None:
    long = unit * (300_000 // len(unit))
    assert verdict([call("sh", f"error: {long}{n}", command=f"{long}{n}") for n in range(3)]) is None


def test_a_step_shows_no_text_of_it() -> None:
    step = Step(
        role="coder", tool="edit", args={"a": "secret"}, result="secret", error="secret", text="secret"
    )
    assert repr(step) == "Step('coder', 'edit', t=0)"
    assert "secret" not in repr(read(step, 0))
    assert "secret" not in repr(read(say("the secret is told"), 0))
