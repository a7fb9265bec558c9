"""A scan by several machines: Ray's, the verdicts and their order those of one process.

What starts Ray is slow: it runs in `make test-all`.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from loopwatch.errors import InputError, LoopwatchError
from loopwatch.offline import scan as scanning
from loopwatch.offline.cluster import QUIET
from loopwatch.offline.scan import scan
from loopwatch.offline.verdict import Problem, Verdict
from tests.offline.files import LOOP, SOUND, lines, write
from tests.offline.tables import table

RECORDS = 400


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of many small tasks, with one line that cannot be read."""
    for step in ("RANGE", "CLUSTER_RANGE"):
        monkeypatch.setattr(scanning, step, 20_000)
    folder = tmp_path / "archive"
    records = [{"id": f"j{number}", "text": LOOP if number % 3 else SOUND} for number in range(RECORDS)]
    write(folder / "a.jsonl", lines(*records[:200]) + b"{not JSON\n" + lines(*records[200:]))
    texts = [f"{number} {LOOP}" for number in range(RECORDS)]
    table(
        folder / "b.parquet", {"id": [f"p{number}" for number in range(RECORDS)], "text": texts}, row_group=5
    )
    write(folder / "c.txt", SOUND.encode())
    return folder


def both(archive: Path, **chosen: str | int) -> tuple[list[Verdict], list[Problem], list[scanning.Progress]]:
    """What a scan says, what it could not read, and how it came along."""
    problems: list[Problem] = []
    done: list[scanning.Progress] = []
    found = scan(archive, on_problem=problems.append, on_progress=done.append, **chosen)  # type: ignore[arg-type]
    return list(found), problems, done


def test_without_ray_it_says_what_to_install(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(
        LoopwatchError, match=r"the runner ray is not installed: pip install 'loopwatch\[ray\]'"
    ):
        list(scan(archive, runner="ray"))


def test_a_cluster_without_its_runner_and_a_pipe_for_a_cluster_are_refused(
    archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="a cluster needs the runner ray"):
        scan(archive, cluster="auto")
    with (archive / "c.txt").open("rb") as stream:
        monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": stream}))
        with pytest.raises(InputError, match="-: only files can be scanned by several machines"):
            scan("-", kind="text", runner="ray")


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, value in QUIET.items():
        monkeypatch.setenv(name, value)
    yield
    import ray

    ray.shutdown()


RAY_WARNS = pytest.mark.filterwarnings("ignore")  # of what it does with itself


@RAY_WARNS
@pytest.mark.slow
@pytest.mark.usefixtures("quiet")
def test_on_this_machine_alone_the_verdicts_are_those_of_one_process_and_progress_is_told(
    archive: Path,
) -> None:
    verdicts, problems, done = both(archive, runner="ray", jobs=2)
    expected = both(archive)
    assert (verdicts, problems) == expected[:2]
    assert len(verdicts) == 2 * RECORDS + 1
    assert done == expected[2]


@RAY_WARNS
@pytest.mark.slow
@pytest.mark.usefixtures("quiet")
def test_an_address_where_no_cluster_is_is_one_line(archive: Path) -> None:
    with pytest.raises(LoopwatchError, match=r"^no Ray cluster at auto: [^\n]+$"):
        list(scan(archive, runner="ray", cluster="auto"))


@RAY_WARNS
@pytest.mark.slow
@pytest.mark.usefixtures("quiet")
def test_with_two_workers_of_which_one_is_killed_midway_nothing_is_lost_or_doubled(
    archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ray.cluster_utils import Cluster

    expected = both(archive)[0]
    # The workers import these tests' package as we do.
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    try:
        workers = [cluster.add_node(num_cpus=1) for _ in range(2)]
        cluster.wait_for_nodes()
        killed = []
        verdicts = []
        for verdict in scan(archive, runner="ray", cluster=cluster.address, on_problem=lambda _: None):
            verdicts.append(verdict)
            if len(verdicts) == RECORDS // 4:
                cluster.remove_node(workers[0], allow_graceful=False)
                killed.append(len(verdicts))
    finally:
        cluster.shutdown()  # type: ignore[no-untyped-call]
    assert killed == [RECORDS // 4]
    assert verdicts == expected
