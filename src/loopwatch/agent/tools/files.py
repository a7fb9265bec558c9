"""Files of the working folder: read, write, edit and list, beneath it and nowhere else."""

import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import ParamSpec

from loopwatch.agent.tools.beneath import holding, opened
from loopwatch.agent.tools.tool import Tool, ToolFailure, tool

P = ParamSpec("P")
MOST_READ = 256 * 1024
"""Bytes of one reading; a longer file is read in parts."""
MOST_WHOLE = 16 * 1024 * 1024
"""Bytes of a file that is edited, or written at once."""
MOST_ENTRIES = 1_000
"""Entries of a listing."""


def _plainly(work: Callable[P, str]) -> Callable[P, str]:
    """``work`` with what the system says about a file told to the model, without our own paths."""

    @wraps(work)
    def plainly(*args: P.args, **kwargs: P.kwargs) -> str:
        try:
            return work(*args, **kwargs)
        except OSError as error:
            raise ToolFailure(error.strerror or "it cannot be read") from None

    return plainly


class Files:
    """The tools of one working folder."""

    def __init__(self, root: Path) -> None:
        """Take the folder."""
        self._root = root

    def tools(self) -> list[Tool]:
        """The four of them."""
        return [
            tool(self.read, name="read_file", parallel=True),
            tool(self.write, name="write_file"),
            tool(self.edit, name="edit_file"),
            tool(self.list, name="list_files", parallel=True),
        ]

    @_plainly
    def read(self, path: str, first_line: int = 1, lines: int = 2_000) -> str:
        """Read a text file of the working folder, from a line on, at most so many lines of it."""
        if first_line < 1 or lines < 1:
            raise ToolFailure("first_line and lines count from 1", "bad_arguments")
        with self._file(path, os.O_RDONLY) as handle, os.fdopen(os.dup(handle), "rb") as file:
            kept: list[bytes] = []
            size = 0
            for number, line in enumerate(file, 1):
                if number < first_line:
                    continue
                if number >= first_line + lines or size + len(line) > MOST_READ:
                    kept.append(line[: MOST_READ - size] if not kept else b"")
                    kept.append(f"[… more from line {number} on]".encode())
                    break
                kept.append(line)
                size += len(line)
        return b"".join(kept).decode("utf-8", "replace")

    @_plainly
    def write(self, path: str, text: str) -> str:
        """Write a text file of the working folder, in place of what it held; folders on the way are made."""
        data = _encoded(text)
        self._make_folders(path)
        self._put(path, data)
        return f"Wrote {len(data)} bytes to {path}."

    @_plainly
    def edit(self, path: str, old: str, new: str) -> str:
        """Replace a piece of a text file, which must stand in it exactly once."""
        with self._file(path, os.O_RDONLY) as handle, os.fdopen(os.dup(handle), "rb") as file:
            data = file.read(MOST_WHOLE + 1)
        if len(data) > MOST_WHOLE:
            raise ToolFailure("the file is too large to be edited")
        found = data.count(_encoded(old)) if old else 0
        if found != 1:
            raise ToolFailure(
                f"the old text stands in the file {found} times: give a piece that stands there once"
            )
        self._put(path, data.replace(_encoded(old), _encoded(new)))
        return f"Edited {path}."

    @_plainly
    def list(self, path: str = ".") -> str:
        """List a folder of the working folder: a name a line, folders with a slash, links with an @."""
        flags = os.O_RDONLY | os.O_DIRECTORY
        with opened(self._root, path, flags) as handle, os.scandir(handle) as entries:
            names = sorted(entry.name + _mark(entry) for entry in entries)
        more = [f"[… {len(names) - MOST_ENTRIES} more]"] if len(names) > MOST_ENTRIES else []
        return "\n".join(names[:MOST_ENTRIES] + more)

    @contextmanager
    def _file(self, path: str, flags: int) -> Iterator[int]:
        """An open, ordinary file."""
        with opened(self._root, path, flags) as handle:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise ToolFailure("it is no ordinary file")
            yield handle

    def _put(self, path: str, data: bytes) -> None:
        """Put a file there whole: whoever reads it meanwhile sees the old one or the new one."""
        with holding(self._root, path) as (folder, name):
            if name == ".":
                raise ToolFailure("it is a folder")
            mode = 0o644
            with suppress(FileNotFoundError):
                before = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if not stat.S_ISREG(before.st_mode):
                    raise ToolFailure("it is no ordinary file")
                mode = stat.S_IMODE(before.st_mode)
            made = f".{secrets.token_hex(8)}.new"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            handle = os.open(made, flags, mode, dir_fd=folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                os.replace(made, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                os.unlink(made, dir_fd=folder)
                raise

    def _make_folders(self, path: str) -> None:
        """Make the folders on the way to a file, each within the one before."""
        parts = path.split("/")[:-1]
        for depth in range(1, len(parts) + 1):
            with holding(self._root, "/".join(parts[:depth])) as (folder, name):
                if name != ".":
                    with suppress(FileExistsError):
                        os.mkdir(name, dir_fd=folder)


def _encoded(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    if len(data) > MOST_WHOLE:
        raise ToolFailure("the text is too large")
    return data


def _mark(entry: "os.DirEntry[str]") -> str:
    if entry.is_symlink():
        return "@"
    return "/" if entry.is_dir(follow_symlinks=False) else ""
