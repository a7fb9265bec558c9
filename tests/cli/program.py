"""Running ``loopwatch`` as whoever types it does, and inside the test."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from loopwatch.cli.main import main


def run(*args: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run ``python -m loopwatch`` to its end, 80 columns wide."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    command = [sys.executable, "-m", "loopwatch", *args]
    return subprocess.run(
        command, text=True, check=False, timeout=60, env=os.environ | {"COLUMNS": "80"}, **options
    )


class Result(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


class Call:
    """Calls ``main`` in this process, which is quicker and lets the test plant a command."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *args: str | Path) -> Result:
        with pytest.raises(SystemExit) as left:
            main([str(arg) for arg in args])
        assert isinstance(left.value.code, int)
        return Result(left.value.code, *self.capsys.readouterr())


def one_line(err: str) -> str:
    """The single line that ``err`` is."""
    assert err.endswith("\n")
    assert len(err.splitlines()) == 1, err
    return err.removesuffix("\n")
