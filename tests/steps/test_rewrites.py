from itertools import pairwise

from loopwatch.steps.step import Step
from tests.steps.runs import call, rule, verdict

FAILED = "1 failed: test_gate"


def edit(old: int, new: int) -> Step:
    return call("edit_file", "edited", path="gate.py", old=f"timeout={old}", new=f"timeout={new}")


def test_a_value_edited_to_and_fro_is_a_loop() -> None:
    steps = [
        one
        for n in range(6)
        for one in (edit(30 + 30 * (n % 2), 60 - 30 * (n % 2)), call("run_tests", f"{FAILED}_{n}"))
    ]
    loop = verdict(steps)
    assert loop is not None
    assert (loop.rule, loop.repeats) == ("rewrite", 3)


def test_a_bisection_comes_back_once() -> None:
    tried = [8, 64, 32, 48, 40, 44, 42, 40]
    steps = [
        one
        for old, new in pairwise(tried)
        for one in (edit(old, new), call("bench", f"{new * 7} req/s, {new} timeouts"))
    ]
    assert rule(steps) is None


def test_two_variants_measured_in_turn_are_work() -> None:
    steps = [one for n in range(5) for one in (edit(1 + n % 2, 2 - n % 2), call("bench", f"{n * 7} req/s"))]
    assert rule(steps) is None


def test_a_file_written_with_two_contents_in_turn_is_a_loop() -> None:
    steps = [
        one
        for n in range(9)
        for one in (
            call("write_file", "written", path="a", content="xy"[n % 2]),
            call("lint", f"error: {'tabs' if n % 2 else 'blanks'} {n}"),
        )
    ]
    assert rule(steps) in {"rewrite", "stuck"}


def test_many_files_are_followed_and_the_oldest_forgotten() -> None:
    steps = [call("write_file", "written", path=f"{n}", content=f"{n}") for n in range(300)]
    assert rule(steps) is None
