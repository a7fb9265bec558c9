"""The runs in a folder as documents, read anew only where something has changed."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from loopwatch.errors import InputError, one_line
from loopwatch.query.flatten import finished_run, unfinished_run
from loopwatch.query.values import Document
from loopwatch.records import journal, summary

if TYPE_CHECKING:
    from loopwatch.query.duckdb import Index

INDEX = ".loopwatch-index.duckdb"
"""The index's name in the folder of the runs."""

PAGE = 2_000
"""Runs that are taken into an index at once."""


class RunFolders:
    """The runs in the folder ``path``, at any depth: those of an arm may lie in a folder of their own.

    A run's ``id`` is its place in the folder. ``problems`` names what could not be read. Raises InputError
    where there is no such folder.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.problems: list[str] = []

    def stamps(self) -> dict[str, str]:
        """Each run with what changes when the run does, by its id."""
        if not self._path.is_dir():
            raise InputError(f"{self._path}: there is no such folder; --runs names the folder of the runs")
        return dict(sorted(self._found(self._path)))

    def _found(self, folder: Path) -> Iterator[tuple[str, str]]:
        for name in (summary.FILE, journal.FILE):
            file = folder / name
            if file.is_file():
                facts = file.stat()
                yield folder.relative_to(self._path).as_posix(), f"{name} {facts.st_mtime_ns} {facts.st_size}"
                return
        try:
            inner = [each for each in folder.iterdir() if each.is_dir() and not each.is_symlink()]
        except OSError as error:
            self.problems.append(f"{folder}: {error.strerror}")
            return
        for each in inner:
            yield from self._found(each)

    def documents(self) -> Iterator[Document]:
        """All runs that can be read."""
        for run in self.stamps():
            document = self.document(run)
            if document is not None:
                yield document

    def refresh(self, index: "Index") -> None:
        """Bring an index up to the folder: what is new or has changed is read, what is gone taken out."""
        before, after = index.stamps(), self.stamps()
        index.remove(before.keys() - after.keys())
        changed = [run for run, stamp in after.items() if before.get(run) != stamp]
        for start in range(0, len(changed), PAGE):
            page = {run: self.document(run) for run in changed[start : start + PAGE]}
            index.remove(run for run, document in page.items() if document is None)
            index.add((document for document in page.values() if document is not None), after)

    def document(self, run: str) -> Document | None:
        """One run; None, and a problem, where it cannot be read."""
        folder = self._path / run
        place = (
            {"id": run, "folder": folder.parent.relative_to(self._path).as_posix()}
            if run != "."
            else {"id": run}
        )
        try:
            if (folder / summary.FILE).is_file():
                return finished_run(summary.decode((folder / summary.FILE).read_bytes())) | place
            with (folder / journal.FILE).open("rb") as lines:
                return unfinished_run(journal.fold(lines)) | place
        except OSError as error:
            self.problems.append(f"{folder}: {error.strerror}")
        except InputError as error:
            self.problems.append(f"{folder}: {one_line(str(error))}")
        return None
