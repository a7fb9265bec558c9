"""What a database's errors mean to whoever asked: wait and ask again, or the row itself cannot be kept."""

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from loopwatch.errors import StoreError, StoreUnavailable

_log = logging.getLogger(__name__)
RETRY_AFTER = 2
"""Seconds that a client is told to wait: a failover takes longer, a lock less."""
DATABASE_ERRORS = (SQLAlchemyError, sqlite3.Error, OSError)
"""What may come out of a transaction: SQLAlchemy's, and SQLite's own where it is asked directly."""

_RACES = ("40001", "40P01", "55P03", "23505")
"""PostgreSQL: serialization failure, deadlock, lock not available, a key that somebody else took first."""
_OUR_ROWS = ("22", "23", "42")
"""Classes of PostgreSQL that are about a value or a statement, not about the server's state."""
_FULL = "53100"
DAMAGED = (
    "is damaged: stop the server and put the last backup in its place "
    "(`loopwatch db backup` makes them; sqlite3's .recover saves what can be read)"
)
_SQLITE = {
    sqlite3.SQLITE_PERM: "may not be used by this user: change its owner or its mode",
    sqlite3.SQLITE_BUSY: "is locked by another process",
    sqlite3.SQLITE_LOCKED: "is locked by another process",
    sqlite3.SQLITE_READONLY: "may not be written: change the owner or mode of the file and its folder",
    sqlite3.SQLITE_IOERR: "cannot be read or written (an I/O error): check the disk that it is on",
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_FULL: "is on a disk that is full: free some space",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: see that its folder is there and may be written",
    sqlite3.SQLITE_PROTOCOL: "is locked by another process",
    sqlite3.SQLITE_NOTADB: DAMAGED,
}
"""SQLite's primary result codes that are about the file, and what they say of it."""


def is_race(error: BaseException) -> bool:
    """Whether the same transaction may succeed at once: another one came first."""
    if isinstance(_cause(error), sqlite3.IntegrityError):
        return "UNIQUE" in str(_cause(error))
    return _sqlstate(error) in _RACES


def is_outage(error: BaseException) -> bool:
    """Whether the database, not what it was asked, is at fault."""
    if isinstance(error, OSError | PoolTimeout | TimeoutError):
        return True
    if isinstance(_cause(error), sqlite3.Error):
        return _sqlite_code(error) in _SQLITE
    if not isinstance(error, DBAPIError):
        return False
    state = _sqlstate(error)
    if state:
        return not state.startswith(_OUR_ROWS)
    return error.connection_invalidated or type(error).__name__ in ("OperationalError", "InterfaceError")


def unavailable(error: BaseException, name: str = "the database") -> StoreUnavailable:
    """The error for whoever asked: what to look at, and neither a statement nor a value.

    ``name`` is what the database is called in it: SQLite's file.
    """
    fault = _SQLITE.get(_sqlite_code(error))
    if fault is None:
        is_full = _sqlstate(error) == _FULL
        fault = (
            _SQLITE[sqlite3.SQLITE_FULL]
            if is_full
            else "does not answer: see that it runs and can be reached"
        )
    return StoreUnavailable(f"{name} {fault}", RETRY_AFTER)


@contextmanager
def translated(name: str, *, logged: bool) -> Iterator[None]:
    """Turn what SQLAlchemy and the drivers raise into errors of ours; the cause is not shown.

    Where the database is at fault the log has a line, if ``logged``: whoever asked may be far away.
    """
    try:
        yield
    except DATABASE_ERRORS as error:
        if is_outage(error):
            reason = unavailable(error, name)
            if logged:
                _log.warning("%s", reason)
            raise reason from None
        raise StoreError(f"the database refused a statement ({type(error).__name__})") from error


def _cause(error: BaseException) -> BaseException:
    """The driver's own error."""
    return getattr(error, "orig", None) or error


def _sqlite_code(error: BaseException) -> int:
    """SQLite's primary result code; 0 where there is none."""
    code = getattr(_cause(error), "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else 0


def _sqlstate(error: BaseException) -> str:
    """PostgreSQL's five characters; "" where there are none."""
    return str(getattr(_cause(error), "sqlstate", None) or "")
