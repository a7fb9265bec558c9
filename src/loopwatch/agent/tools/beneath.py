"""Opens files beneath a folder and nowhere else, whatever the path says and whoever changes it meanwhile.

A path is walked name by name, each opened within the folder before it and never through a symbolic link; a
link is read and walked in its turn, from where it stands. ``..`` at the top, and a link to an absolute path,
lead nowhere. So there is no moment between a check and a use.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MOST_LINKS = 40
"""Links on the way to one file, as Linux has it."""
ESCAPES = "the path leads out of the working folder"


class Escape(OSError):
    """A path that leads out of the folder."""

    def __init__(self) -> None:
        """Say so."""
        super().__init__(errno.EXDEV, ESCAPES)


@contextmanager
def holding(root: Path, path: str) -> Iterator[tuple[int, str]]:
    """The open folder that holds ``path``, and the last name of it, which need not exist.

    The name is "." for the folder itself, and never that of a link. Raises OSError, Escape among it.
    """
    walk = _Walk(root)
    try:
        yield walk.to(path)
    finally:
        walk.close()


@contextmanager
def opened(root: Path, path: str, flags: int, mode: int = 0o644) -> Iterator[int]:
    """An open file beneath ``root``. Raises OSError, Escape among it."""
    with holding(root, path) as (folder, name):
        handle = os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, mode, dir_fd=folder)
    try:
        yield handle
    finally:
        os.close(handle)


class _Walk:
    """Open folders from the root down to where the walk stands."""

    def __init__(self, root: Path) -> None:
        self._folders = [os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)]
        self._links = 0

    def to(self, path: str) -> tuple[int, str]:
        """Walk to the folder that holds the path's last name."""
        names = self._names(path)
        while names:
            name = names.pop(0)
            if name == "..":
                self._up()
                continue
            link = self._link(name)
            if link is not None:
                names = [*self._names(link), *names]
            elif not names:
                return self._folders[-1], name
            else:
                self._down(name)
        return self._folders[-1], "."

    def close(self) -> None:
        """Close what was opened."""
        for handle in self._folders:
            os.close(handle)
        self._folders = []

    def _names(self, path: str) -> list[str]:
        if path.startswith("/"):
            raise Escape
        if "\0" in path:
            raise OSError(errno.EINVAL, "the path holds a character that no name can have")
        return [name for name in path.split("/") if name not in ("", ".")]

    def _up(self) -> None:
        if len(self._folders) == 1:
            raise Escape
        os.close(self._folders.pop())

    def _down(self, name: str) -> None:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        self._folders.append(os.open(name, flags, dir_fd=self._folders[-1]))

    def _link(self, name: str) -> str | None:
        """Where a link leads; None where the name is none."""
        try:
            target = os.readlink(name, dir_fd=self._folders[-1])
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.ENOENT):
                return None
            raise
        self._links += 1
        if self._links > MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        return target
