import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from loopwatch.errors import LoopwatchError
from loopwatch.offline.workers import AHEAD, PART, PARTS, _Worker, in_order
from tests.processes import ended

HERE = "here"


def counted(task: int) -> Iterator[int]:
    """So many results; the fewer, the later."""
    time.sleep(0.02 / (task + 1))
    yield from range(task)


def failing(task: int) -> Iterator[int]:
    yield from range(task)
    raise ZeroDivisionError(f"after {task}")


def unpicklable(task: int) -> Iterator[Any]:
    yield from (threading.Lock() for _ in range(task))


def dying(task: int) -> Iterator[int]:
    if task == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    yield task


def stubborn(task: Any) -> Iterator[int]:
    """Touch a file, then work for a long time."""
    Path(task).write_text(str(os.getpid()), encoding="ascii")
    time.sleep(600)
    yield 1


def pid_in(path: Path) -> int:
    """The process that a stubborn task runs in."""
    for _ in range(2_000):
        if path.exists() and path.read_text(encoding="ascii"):
            return int(path.read_text(encoding="ascii"))
        time.sleep(0.01)
    raise AssertionError("it never began")


def read_all(done: Iterable[tuple[Any, Iterator[Any] | None]]) -> list[tuple[Any, list[Any] | None]]:
    """Each task with all its results."""
    return [(task, None if results is None else [*results]) for task, results in done]


def everywhere(task: object) -> bool:
    return task != HERE


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_results_come_in_the_order_of_the_tasks(jobs: int) -> None:
    tasks = [*range(10), 0, 3]
    done = [
        (task, [*results])
        for task, results in in_order(counted, tasks, jobs, elsewhere=everywhere)
        if results
    ]
    assert done == [(task, [*range(task)]) for task in tasks]


def test_without_tasks_there_is_nothing_to_do() -> None:
    assert list(in_order(counted, [], 2, elsewhere=everywhere)) == []


def test_what_is_not_to_be_done_elsewhere_comes_in_its_turn() -> None:
    tasks: list[Any] = [1, HERE, 2, HERE]
    done = read_all(in_order(counted, tasks, 2, elsewhere=everywhere))
    assert done == [(1, [0]), (HERE, None), (2, [0, 1]), (HERE, None)]


def test_only_so_many_tasks_are_taken_ahead() -> None:
    taken = []

    def tasks() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield 1

    ahead = 0
    for turn, (_, results) in enumerate(in_order(counted, tasks(), 2, elsewhere=everywhere)):
        assert results is not None
        assert [*results] == [0]
        ahead = max(ahead, len(taken) - turn)
    assert ahead == 2 * AHEAD + 1


def test_many_results_come_in_parts_and_only_some_of_them_wait_here() -> None:
    many = PART * (PARTS + 3) + 7
    tasks = [1, many, many, PART, 0, PART * 2]
    done = [results for _, results in read_all(in_order(counted, tasks, 2, elsewhere=everywhere))]
    assert done == [[*range(task)] for task in tasks]


def test_what_work_raises_is_raised_after_its_results_with_its_traceback() -> None:
    done = in_order(failing, [3], 1, elsewhere=everywhere)
    _, results = next(done)
    assert results is not None
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ZeroDivisionError, match="after 3") as raised:
        next(results)
    done.close()
    assert "in failing" in "".join(raised.value.__notes__)


def test_a_process_that_is_killed_is_one_clear_error() -> None:
    with pytest.raises(LoopwatchError, match=r"^a scanning process was killed by signal 9: "):
        read_all(in_order(dying, range(20), 2, elsewhere=everywhere))


def test_a_process_that_is_killed_before_it_is_told_is_the_same_error(tmp_path: Path) -> None:
    worker = _Worker(stubborn)
    worker.tell(0, tmp_path / "a")
    os.kill(pid_in(tmp_path / "a"), signal.SIGKILL)
    with pytest.raises(LoopwatchError, match=r"^a scanning process was killed by signal 9: "):
        tell_on_and_on(worker)
    worker.end()


def tell_on_and_on(worker: _Worker) -> None:
    """Tell until it can be told no more; a process that was killed takes a moment to die."""
    for number in range(1, 500):
        worker.tell(number, "one more")
        time.sleep(0.01)


def test_a_process_that_is_killed_in_the_middle_of_its_work_is_the_same_error(tmp_path: Path) -> None:
    worker = _Worker(stubborn)
    worker.tell(0, tmp_path / "a")
    os.kill(pid_in(tmp_path / "a"), signal.SIGKILL)
    with pytest.raises(LoopwatchError, match=r"^a scanning process was killed by signal 9: "):
        worker.answer()
    worker.end()


def talkative(task: Any) -> Iterator[int]:
    """More results than may wait, from one; nothing for a long time from the other."""
    Path(task).write_text(str(os.getpid()), encoding="ascii")
    if Path(task).name == "a":
        time.sleep(600)
    yield from range(PART * (PARTS + 2))


def test_a_death_is_noticed_before_its_turn(tmp_path: Path) -> None:
    files = [tmp_path / "a", tmp_path / "b"]
    killer = threading.Timer(1.0, lambda: os.kill(pid_in(files[1]), signal.SIGKILL))
    killer.start()
    with pytest.raises(LoopwatchError, match=r"^a scanning process was killed by signal 9: "):
        read_all(in_order(talkative, files, 2, elsewhere=everywhere))
    killer.join()


def test_results_that_cannot_be_sent_are_an_error_and_no_hang(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(LoopwatchError, match=r"^a scanning process ended with code 1: "):
        read_all(in_order(unpicklable, [1], 1, elsewhere=everywhere))
    assert "cannot pickle" in capfd.readouterr().err


def test_closing_it_ends_the_processes_in_the_middle_of_their_work(tmp_path: Path) -> None:
    files = [tmp_path / "a", tmp_path / "b"]
    done = in_order(stubborn, [HERE, *files], 2, elsewhere=everywhere)
    assert next(done) == (HERE, None)
    pids = [pid_in(file) for file in files]
    done.close()
    assert all(map(ended, pids))


PROGRAM = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from loopwatch.offline.workers import in_order
from tests.offline.test_workers import stubborn, everywhere
if __name__ == "__main__":
    for _, results in in_order(stubborn, map(Path, sys.argv[2:]), 2, elsewhere=everywhere):
        list(results)
"""


@pytest.mark.parametrize("kill", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda kill: kill.name)
def test_processes_end_with_the_one_that_started_them(tmp_path: Path, kill: signal.Signals) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM, encoding="utf-8")
    files = [tmp_path / "a", tmp_path / "b"]
    command = [sys.executable, str(script), str(Path(__file__).parents[2]), *map(str, files)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as program:
        pids = [pid_in(file) for file in files]
        if kill is signal.SIGINT:
            os.killpg(program.pid, kill)  # as a terminal does: to all of them
        else:
            program.send_signal(kill)
        _, err = program.communicate(timeout=60)
    assert all(map(ended, pids))
    assert err.count("Traceback") == (kill is signal.SIGINT)  # this program's own
    assert err.rstrip().endswith("KeyboardInterrupt" if kill is signal.SIGINT else "")
