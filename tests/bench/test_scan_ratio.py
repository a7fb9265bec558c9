"""What a second process brings to a scan of 200 MB of transcripts, and what it takes: printed, never asserted.

The transcripts are batch output: beginnings of the corpus' replies, one in each record.
"""

import json
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple, get_args

import pytest

from loopwatch.detect.engine import VARIABLE, Engine
from loopwatch.offline.corpus import read_corpus
from tests.detect.conftest import MISSING

CORPUS = Path(__file__).parents[2] / "corpus"
MEGABYTES = (50, 200)
LOOK = 0.1
"""Seconds between two looks at how much memory is in use."""


class Run(NamedTuple):
    """One scan: its seconds, and the peak of all its processes together."""

    seconds: float
    mebibytes: float


def record(number: int, text: str) -> bytes:
    """A line of batch output."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    body = {"id": f"chatcmpl-{number}", "object": "chat.completion", "choices": [choice]}
    line = {"custom_id": f"request-{number}", "response": {"status_code": 200, "body": body}, "error": None}
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"


@pytest.fixture(scope="module")
def transcripts(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """A file of each size, the smaller one the beginning of the larger."""
    folder = tmp_path_factory.mktemp("transcripts")
    texts = [case.text for case in read_corpus(CORPUS)]
    chance = random.Random(200)
    files = {size: folder / f"{size}.jsonl" for size in MEGABYTES}
    written = number = 0
    with files[50].open("wb") as small, files[200].open("wb") as large:
        while written < max(MEGABYTES) * 1_000_000:
            line = record(number, chance.choice(texts)[: chance.randrange(500, 20_000)])
            large.write(line)
            if written < min(MEGABYTES) * 1_000_000:
                small.write(line)
            written += len(line)
            number += 1
    return files


def memory_of(pid: int) -> int:
    """The peak so far of a process and of all that it started, in KiB; 0 where the system does not say."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:
        return 0
    peak = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    return (int(peak[1]) if peak else 0) + sum(memory_of(int(child)) for child in children)


def scan(path: Path, jobs: int, engine: str) -> Run:
    """Run the command, as whoever types it does."""
    command = [sys.executable, "-m", "loopwatch", "scan", str(path), "--json", "--jobs", str(jobs)]
    began = time.perf_counter()
    most = 0
    environment = os.environ | {VARIABLE: engine}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment) as program:
        while program.poll() is None:
            most = max(most, memory_of(program.pid))
            time.sleep(LOOK)
    assert program.returncode == 0
    return Run(time.perf_counter() - began, most / 1_024)


@pytest.mark.parametrize("engine", get_args(Engine))
def test_two_processes_against_one(
    engine: str, transcripts: dict[int, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """The native engine uses all cores in one process already."""
    if engine == "native":
        pytest.importorskip("loopwatch_native", reason=MISSING)
    runs = {(size, jobs): scan(transcripts[size], jobs, engine) for size in MEGABYTES for jobs in (1, 2)}
    seconds = [runs[200, jobs].seconds for jobs in (1, 2)]
    speeds = f"{200 / seconds[0]:.0f} and {200 / seconds[1]:.0f} MB a second"
    ratio = seconds[0] / seconds[1]
    lines = [f"200 MB of transcripts, engine {engine}, 2 processes against 1: {ratio:.2f}x ({speeds})"]
    for jobs in (1, 2):
        small, large = (runs[size, jobs].mebibytes for size in MEGABYTES)
        lines.append(f"peak memory with {jobs}: {small:.0f} MiB at 50 MB, {large:.0f} MiB at 200 MB")
    with capsys.disabled():
        print("\n" + "\n".join(lines))  # noqa: T201  what `make bench` is for
