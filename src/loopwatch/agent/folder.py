"""The folder of a run: its journal, its summary, its working folder, and the file that cancels it.

::

    RUNS/SESSION/journal.jsonl    every row, from the first moment on
    RUNS/SESSION/summary.json     the figures, once the run has ended; there whole or not at all
    RUNS/SESSION/work/            where tools work, unless another folder was named
    RUNS/SESSION/cancel           whoever creates it ends the run
"""

import os
import secrets
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from loopwatch.errors import InputError
from loopwatch.records.journal import FILE as JOURNAL
from loopwatch.records.journal import Record, fold
from loopwatch.records.summary import FILE as SUMMARY
from loopwatch.records.summary import RunSummary, decode, encode

WORK = "work"
CANCEL = "cancel"


class RunFolder(NamedTuple):
    """One run's place on disk; ``session_id`` is its name."""

    path: Path

    @property
    def session_id(self) -> str:
        """The run's id."""
        return self.path.name

    @property
    def journal(self) -> Path:
        """The journal."""
        return self.path / JOURNAL

    @property
    def summary(self) -> Path:
        """The summary."""
        return self.path / SUMMARY

    @property
    def work(self) -> Path:
        """The working folder, where none was named."""
        return self.path / WORK

    @property
    def cancel(self) -> Path:
        """The file that cancels."""
        return self.path / CANCEL

    def write_summary(self, summary: RunSummary) -> None:
        """Write the summary, whole or not at all, durable once this returns. Raises OSError."""
        new = self.path / f".{SUMMARY}.new"
        with new.open("wb") as file:
            file.write(encode(summary))
            file.flush()
            os.fsync(file.fileno())
        new.replace(self.summary)
        sync_folder(self.path)

    def read_summary(self) -> RunSummary | None:
        """The summary; None where the run has none. Raises InputError where it cannot be read."""
        try:
            return decode(self.summary.read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InputError(f"{self.summary}: {error.strerror}") from None
        except InputError as error:
            raise InputError(f"{self.summary}: {error}") from None

    def read_journal(self) -> Record:
        """The journal, as far as it goes. Raises InputError where it is none."""
        try:
            with self.journal.open("rb") as lines:
                return fold(lines)
        except OSError as error:
            raise InputError(f"{self.journal}: {error.strerror}") from None
        except InputError as error:
            raise InputError(f"{self.journal}: {error}") from None


def new_folder(runs: Path, at: datetime) -> RunFolder:
    """A folder for a run that begins now, named by its moment so that names sort by age.

    Raises InputError where none can be made.
    """
    name = f"{at:%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
    path = runs / name
    try:
        path.mkdir(parents=True)
        sync_folder(runs)
    except OSError as error:
        raise InputError(f"{runs}: the run's folder cannot be made there: {error.strerror}") from None
    return RunFolder(path.resolve())


def run_folders(runs: Path) -> Iterator[RunFolder]:
    """Every run in a folder, by name; a folder without a journal is none. Raises InputError."""
    try:
        paths = sorted(runs.iterdir())
    except OSError as error:
        raise InputError(f"{runs}: {error.strerror}") from None
    for path in paths:
        if (path / JOURNAL).is_file() or (path / SUMMARY).is_file():
            yield RunFolder(path)


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
