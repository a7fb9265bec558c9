"""``scan``: which of these replies are loops, since when, and what cutting them would have saved.

A source is read in flat memory: lines one at a time, streams event by event, text in pieces. A large
file of lines is read by several processes, each a range of its bytes; verdicts come in input order.
"""

import logging
import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from loopwatch.detect.settings import LoopDetection
from loopwatch.errors import LoopwatchError
from loopwatch.offline.lines import Range, ranges
from loopwatch.offline.replies import Options, read_source
from loopwatch.offline.sources import STDIN, Kind, Source, find_sources
from loopwatch.offline.verdict import Problem, Verdict

log = logging.getLogger("loopwatch")

RANGE = 8 << 20
"""Bytes of a file of lines that one process takes at a time."""

SMALL = 32 << 20
"""Packed files of lines up to this are left to another process whole; a larger one is read here, since
its verdicts might be too many to be handed over at once."""

AHEAD = 3
"""Tasks handed out for each process, so that none waits and the answers that wait are few."""

MAX_LINE = 64 << 20


class Task(NamedTuple):
    """A source or a range of it; ``size`` in bytes, as they lie on disk."""

    source: Source
    within: Range | None
    size: int


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a scan has come, in bytes on disk; ``total`` is None for standard input."""

    done: int
    total: int | None


def scan(
    paths: str | Path | Iterable[str | Path],
    preset: str = "balanced",
    *,
    settings: LoopDetection | None = None,
    field: str | None = None,
    kind: Kind | None = None,
    jobs: int = 1,
    max_line: int = MAX_LINE,
    explain: bool = False,
    on_problem: Callable[[Problem], None] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Iterator[Verdict]:
    """Scan files, folders or standard input (``-``); yield a verdict a reply, in input order.

    ``settings`` override ``preset``. ``field`` is the dotted path of the text in each JSON record.
    What cannot be read is handed to ``on_problem`` (by default logged), and the rest goes on. Raises
    InputError for a path that cannot be read at all, SettingsError for an unknown preset.
    """
    chosen = [paths] if isinstance(paths, str | Path) else paths
    options = Options(settings or LoopDetection.preset(preset), field, max_line, explain)
    sources = list(find_sources(map(str, chosen), kind))
    return _scan(sources, options, jobs, on_problem or _log, on_progress)


def _scan(
    sources: list[Source],
    options: Options,
    jobs: int,
    on_problem: Callable[[Problem], None],
    on_progress: Callable[[Progress], None] | None,
) -> Iterator[Verdict]:
    total = None if any(source.name == STDIN for source in sources) else sum(map(_size, sources))
    done = 0
    for results, size in _in_order(sources, options, jobs):
        for result in results:
            if isinstance(result, Problem):
                on_problem(result)
            else:
                yield result
        done += size
        if on_progress is not None:
            on_progress(Progress(done, total))


def _in_order(
    sources: list[Source], options: Options, jobs: int
) -> Iterator[tuple[Iterable[Verdict | Problem], int]]:
    """The results of each task with its size, in input order, some tasks ahead of what is asked for."""
    tasks = (task for source in sources for task in _tasks(source))
    if jobs <= 1:
        for task in tasks:
            yield read_source(task.source, options, task.within), task.size
        return
    context = multiprocessing.get_context("spawn")  # a fork would copy the threads of a progress display
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        waiting: deque[tuple[Future[list[Verdict | Problem]] | None, Task]] = deque()
        try:
            for task in tasks:
                here = task.source.name == STDIN or (task.within is None and task.size > SMALL)
                waiting.append((None if here else pool.submit(_work, task, options), task))
                if len(waiting) > jobs * AHEAD:
                    yield _collect(*waiting.popleft(), options)
            while waiting:
                yield _collect(*waiting.popleft(), options)
        except BrokenProcessPool:
            raise LoopwatchError(
                "a scanning process was ended from outside: scan again, with fewer --jobs"
            ) from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _collect(
    future: "Future[list[Verdict | Problem]] | None", task: Task, options: Options
) -> tuple[Iterable[Verdict | Problem], int]:
    return (read_source(task.source, options) if future is None else future.result()), task.size


def _work(task: Task, options: Options) -> list[Verdict | Problem]:
    """What another process does."""
    return list(read_source(task.source, options, task.within))


def _tasks(source: Source) -> Iterator[Task]:
    """A source whole, or in ranges."""
    if not source.divisible or _size(source) <= RANGE:
        yield Task(source, None, _size(source))
        return
    with Path(source.name).open("rb") as stream:
        for within in ranges(stream, RANGE):
            yield Task(source, within, within.stop - within.start)


def _size(source: Source) -> int:
    try:
        return 0 if source.name == STDIN else Path(source.name).stat().st_size
    except OSError:
        return 0  # reading it will tell why


def _log(problem: Problem) -> None:
    log.warning("%s", problem)
