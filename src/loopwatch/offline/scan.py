"""``scan``: which of these replies are loops, since when, and what cutting them would have saved.

A source is read in flat memory: lines one at a time, streams event by event, text in pieces. A large
file of lines is read by several processes, each a range of its bytes; verdicts come in input order.
"""

import logging
import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from loopwatch.detect.settings import LoopDetection
from loopwatch.errors import InputError
from loopwatch.offline.cluster import LOCAL, on_cluster
from loopwatch.offline.lines import ranges
from loopwatch.offline.parquet import row_groups
from loopwatch.offline.replies import Options, Part, read_source
from loopwatch.offline.sources import Kind, Source, find_sources
from loopwatch.offline.verdict import Problem, Verdict
from loopwatch.offline.workers import in_order

log = logging.getLogger("loopwatch")

RANGE = 2 << 20
"""Bytes of a file of lines that one process takes at a time."""

CLUSTER_RANGE = 32 << 20
"""The same on a cluster, where handing out a task costs some milliseconds."""

MAX_LINE = 64 << 20

Runner = Literal["local", "ray"]


class Task(NamedTuple):
    """A source or a range of it; ``size`` in bytes, as they lie on disk."""

    source: Source
    within: Part | None
    size: int


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a scan has come, in bytes on disk; ``total`` is None where it cannot be known."""

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
    runner: Runner = "local",
    cluster: str | None = None,
    max_line: int = MAX_LINE,
    explain: bool = False,
    on_problem: Callable[[Problem], None] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Generator[Verdict, None, None]:
    """Scan files, folders or standard input (``-``); yield a verdict a reply, in input order.

    ``settings`` override ``preset``. ``field`` is the dotted path of the text in each JSON record.
    What cannot be read is handed to ``on_problem`` (by default logged), and the rest goes on. ``jobs``
    processes share the work; with the ``runner`` ``ray`` they are Ray's, of the cluster at the address
    ``cluster`` or, without one, on this machine. Raises
    InputError where none of the paths can be read, SettingsError for an unknown preset, LoopwatchError
    where one of ``jobs`` processes dies; close it to end them before the last verdict.
    """
    chosen = [paths] if isinstance(paths, str | Path) else paths
    options = Options(
        settings or LoopDetection.preset(preset), field, max_line, explain, threads=os.cpu_count() or 1
    )
    found = list(find_sources(map(str, chosen), kind))
    sources = [one for one in found if isinstance(one, Source)]
    problems = [one for one in found if isinstance(one, Problem)]
    if problems and not sources:
        raise InputError("; ".join(map(str, problems)))
    if runner == "ray":
        refused = next((one for one in sources if one.stream is not None), None)
        if refused is not None:
            raise InputError(f"{refused.shown}: only files can be scanned by several machines")
        cluster = cluster or LOCAL
    elif cluster is not None:
        raise InputError("a cluster needs the runner ray")
    return _scan(
        sources, problems, options, jobs, cluster, on_problem=on_problem or _log, on_progress=on_progress
    )


def _scan(
    sources: list[Source],
    problems: list[Problem],
    options: Options,
    jobs: int,
    cluster: str | None,
    *,
    on_problem: Callable[[Problem], None],
    on_progress: Callable[[Progress], None] | None,
) -> Generator[Verdict, None, None]:
    for problem in problems:
        on_problem(problem)
    known = all(source.stream is None for source in sources)
    total = sum(map(_size, sources)) if known else None
    done = 0
    with closing(_in_order(sources, options, jobs, cluster)) as ordered:
        for results, size in ordered:
            for result in results:
                if isinstance(result, Problem):
                    on_problem(result)
                else:
                    yield result
            done += size
            if on_progress is not None:
                on_progress(Progress(done, total))


def _in_order(
    sources: list[Source], options: Options, jobs: int, cluster: str | None
) -> Generator[tuple[Iterable[Verdict | Problem], int], None, None]:
    """The results of each task with its size, in input order."""
    step = RANGE if cluster is None else CLUSTER_RANGE
    tasks = (task for source in sources for task in _tasks(source, step))
    if jobs <= 1 and cluster is None:
        for task in tasks:
            yield _work(task, options), task.size
        return
    # Processes side by side share the cores.
    options = replace(options, threads=max(1, (os.cpu_count() or 1) // jobs) if cluster is None else 1)
    work = partial(_work, options=options)
    if cluster is not None:
        ordered = on_cluster(work, tasks, jobs, cluster)
    else:
        ordered = in_order(work, tasks, jobs, elsewhere=lambda task: task.source.stream is None)
    with closing(ordered) as done:
        for task, results in done:
            yield work(task) if results is None else results, task.size


def _work(task: Task, options: Options) -> Iterator[Verdict | Problem]:
    """What is done of a task, here or in another process."""
    return read_source(task.source, options, task.within)


def _tasks(source: Source, step: int) -> Iterator[Task]:
    """A source whole, or where it is larger than ``step`` bytes in parts."""
    size = _size(source)
    if not source.divisible or size <= step:
        yield Task(source, None, size)
    else:
        yield from _parts_of(source, size, step)


def _parts_of(source: Source, size: int, step: int) -> Iterator[Task]:
    left = size
    try:
        if source.kind == "parquet":
            for groups, part in row_groups(source.name):
                yield Task(source, groups, min(part, left))
                left -= min(part, left)
        else:
            with source.open() as stream:
                for within in ranges(stream, step):
                    yield Task(source, within, min(within.stop, size) - within.start)
    except (OSError, InputError):
        yield Task(source, None, left)  # it cannot be opened: reading it will tell why


def _size(source: Source) -> int:
    try:
        return 0 if source.stream is not None else Path(source.name).stat().st_size
    except OSError:
        return 0  # as above


def _log(problem: Problem) -> None:
    log.warning("%s", problem)
