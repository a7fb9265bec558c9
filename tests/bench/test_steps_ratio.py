"""What observing a step costs as a run grows, and what a monitor keeps of it: a ratio and a size, printed."""

import gc
import time
import tracemalloc
from collections.abc import Iterator

import pytest

from loopwatch.detect.detector import LoopDetector
from loopwatch.steps.monitor import StepMonitor
from loopwatch.steps.step import Step

SHORT, LONG = 10, 10_000
MEASURED = 400
ROUNDS = 3
BUDGET = 1.5


def healthy(count: int, start: int = 0) -> Iterator[Step]:
    """Work that goes on: three agents read, edit, test and talk, each time of something else."""
    for number in range(start, start + count):
        role = f"agent{number % 3}"
        word = f"{number * 2_654_435_761 % 2**32:08x}"
        letters = word.translate(str.maketrans("0123456789", "ghijklmnop"))
        t = 5.0 * number
        match number % 4:
            case 0:
                text = f"def {letters}(): ..." * 40
                yield Step(role=role, tool="read_file", args={"path": f"src/{letters}.py"}, result=text, t=t)
            case 1:
                args = {"path": f"src/{letters}.py", "old": letters, "new": letters[::-1]}
                yield Step(role=role, tool="edit_file", args=args, result="edited", t=t)
            case 2:
                said = f"{number % 97} failed, {number} passed"
                yield Step(role=role, tool="run_tests", args={"k": letters}, result=said, t=t)
            case _:
                yield Step(role=role, result=f"Now {letters} can go on with {letters[::-1]}.", t=t)


def seconds_a_step(before: int) -> float:
    """The least that a step took of those after ``before`` others."""
    best = float("inf")
    for _ in range(ROUNDS):
        monitor = StepMonitor(text_detector=LoopDetector)
        for step in healthy(before):
            monitor.observe(step)
        steps = list(healthy(MEASURED, before))
        began = time.perf_counter()
        for step in steps:
            monitor.observe(step)
        best = min(best, (time.perf_counter() - began) / MEASURED)
        assert monitor.loop is None
    return best


def test_the_cost_of_a_step_as_a_run_grows(capsys: pytest.CaptureFixture[str]) -> None:
    young, old = seconds_a_step(SHORT), seconds_a_step(LONG)
    said = f"observe, after {LONG:,} steps against after {SHORT}: {old / young:.2f}x (budget {BUDGET}x)"
    with capsys.disabled():
        print(f"\n{said}, {young * 1e6:.0f} µs a step")  # noqa: T201  what `make bench` is for


def kept(count: int) -> int:
    """Bytes that a monitor holds after a run."""
    gc.collect()
    tracemalloc.start()
    monitor = StepMonitor(text_detector=LoopDetector)
    for step in healthy(count):
        monitor.observe(step)
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert monitor.loop is None
    return held


def test_what_a_monitor_keeps_is_bounded(capsys: pytest.CaptureFixture[str]) -> None:
    some, many = kept(LONG), kept(3 * LONG)
    assert many < 1.3 * some  # bytes, not seconds; tables are resized in steps
    said = f"a monitor keeps {some / 1e6:.2f} MB after {LONG:,} steps"
    with capsys.disabled():
        print(f"\n{said}, {many / 1e6:.2f} MB after three times as many")  # noqa: T201  as above
