"""Work done by the machines of a Ray cluster, its results in the order of the tasks.

Ray Data hands the tasks out, does a task of a machine that was lost once more, and keeps their order; each
comes back whole. Ray is imported when it is first used.
"""

import logging
import os
import pickle
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from loopwatch.errors import LoopwatchError, one_line

if TYPE_CHECKING:
    from ray.data import Dataset

T = TypeVar("T")
R = TypeVar("R")

LOCAL = "local"
"""The address of a cluster that is this machine alone, and ends with us."""

QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",  # what is scanned here is nobody else's business
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # its default is announced to be about to change
}


def on_cluster(
    work: Callable[[T], Iterable[R]], tasks: Iterable[T], jobs: int, address: str
) -> Generator[tuple[T, Iterator[R] | None], None, None]:
    """Each task with the results that ``work`` has of it on the cluster at ``address``, in their order.

    At an address of Ray's (``auto``, ``host:port``, ``ray://…``) as many run at a time as its cores allow,
    at ``LOCAL`` ``jobs`` of them. Raises LoopwatchError where the cluster cannot be reached or gives up.
    """
    listed = list(tasks)
    with _connected(jobs, address):
        try:
            rows = _dataset(work, listed).iter_rows()
            for task, row in zip(listed, rows, strict=True):
                yield task, iter(pickle.loads(row["results"]))  # noqa: S301  our own work's
        except _ray_errors() as error:
            raise LoopwatchError(f"the cluster gave up: {_said(error)}") from None


@contextmanager
def _connected(jobs: int, address: str) -> Iterator[None]:
    """Be connected to a cluster; one that was there before stays connected."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ModuleNotFoundError:
        raise LoopwatchError("the runner ray is not installed: pip install 'loopwatch[ray]'") from None
    if ray.is_initialized():
        yield
        return
    here: dict[str, Any] = {"num_cpus": jobs, "include_dashboard": False} if address == LOCAL else {}
    try:
        ray.init(address, log_to_driver=False, logging_level=logging.ERROR, **here)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise LoopwatchError(f"no Ray cluster at {address}: {_said(error)}") from None
    try:
        yield
    finally:
        ray.shutdown()


def _dataset(work: Callable[[T], Iterable[R]], tasks: list[T]) -> "Dataset":
    """A row a task, with what it came to."""
    from ray.data import DataContext, from_items

    context = DataContext.get_current()
    context.execution_options.preserve_order = True
    context.enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    rows = [{"task": pickle.dumps(task)} for task in tasks]
    # A block a task: what is done once more after a loss is one task.
    return from_items(rows, override_num_blocks=max(1, len(rows))).map(_Worker(work), num_cpus=1)


class _Worker:
    """What a machine does of a task."""

    def __init__(self, work: Callable[[Any], Iterable[Any]]) -> None:
        self._work = work

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        return {"results": pickle.dumps(list(self._work(pickle.loads(row["task"]))))}  # noqa: S301  our own


def _ray_errors() -> type[Exception]:
    from ray.exceptions import RayError

    return RayError


def _said(error: Exception) -> str:
    """The last line of what Ray says, which is mostly a stack."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return one_line(lines[-1])
