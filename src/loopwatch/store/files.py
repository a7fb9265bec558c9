"""SQLite's file before it is opened: what is wrong with it is said here, in one line each.

SQLite itself would tell of most of it late, and in words about its own affairs.
"""

import os
from pathlib import Path

from loopwatch.errors import StoreError

MAGIC = b"SQLite format 3\x00"
"""What every SQLite database begins with."""
RESTORE = "name another file, or put a backup in its place (`loopwatch db backup` makes them)"


def refuse_unusable(path: Path) -> None:
    """Raise StoreError unless ``path`` is a SQLite database or one can be made there; its folder is made."""
    if path.is_dir():
        raise StoreError(f"{path} is a folder: name a file in it")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"the folder {path.parent} cannot be made: {error.strerror}") from None
    if not os.access(path.parent, os.W_OK | os.X_OK):
        reason = "may not be written by this user, and SQLite keeps its log beside the file"
        raise StoreError(f"the folder {path.parent} {reason}: change its owner or its mode")
    if path.exists():
        _refuse_foreign(path)


def _refuse_foreign(path: Path) -> None:
    if not path.is_file():
        raise StoreError(f"{path} is no file: name another")
    if not os.access(path, os.R_OK | os.W_OK):
        reason = "may not be read and written by this user: change its owner or its mode, or name another"
        raise StoreError(f"{path} {reason}")
    try:
        with path.open("rb") as file:
            begins = file.read(len(MAGIC))
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}") from None
    if begins and begins != MAGIC:
        raise StoreError(f"{path} is no SQLite database: {RESTORE}")
