"""What a database's errors mean to whoever asked: wait and ask again, or the row itself cannot be kept."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from loopwatch.errors import StoreError, StoreUnavailable

RETRY_AFTER = 2
"""Seconds that a client is told to wait: a failover takes longer, a lock less."""

_RACES = ("40001", "40P01", "55P03", "23505")
"""PostgreSQL: serialization failure, deadlock, lock not available, a key that somebody else took first."""
_OUR_ROWS = ("22", "23", "42")
"""Classes of PostgreSQL that are about a value or a statement, not about the server's state."""
_FULL = "full"


def is_race(error: BaseException) -> bool:
    """Whether the same transaction may succeed at once: another one came first."""
    if not isinstance(error, DBAPIError):
        return False
    if isinstance(error, IntegrityError) and "UNIQUE" in str(error.orig):
        return True
    return _sqlstate(error) in _RACES


def is_outage(error: BaseException) -> bool:
    """Whether the database, not what it was asked, is at fault."""
    if isinstance(error, OSError | PoolTimeout | TimeoutError):
        return True
    if not isinstance(error, DBAPIError):
        return False
    state = _sqlstate(error)
    if state:
        return not state.startswith(_OUR_ROWS)
    return error.connection_invalidated or type(error).__name__ in ("OperationalError", "InterfaceError")


def unavailable(error: BaseException) -> StoreUnavailable:
    """The error for whoever asked. It names what to look at, and neither a statement nor a value."""
    said = str(getattr(error, "orig", error)).lower()
    if _FULL in said or "disk i/o" in said or _sqlstate(error) == "53100":
        return StoreUnavailable("the database's disk is full: free some space", RETRY_AFTER)
    if "locked" in said:
        return StoreUnavailable("the database is locked by another process", RETRY_AFTER)
    return StoreUnavailable("the database does not answer: see that it runs and can be reached", RETRY_AFTER)


@contextmanager
def translated() -> Iterator[None]:
    """Turn what SQLAlchemy and the drivers raise into errors of ours; the cause is not shown."""
    try:
        yield
    except (SQLAlchemyError, OSError) as error:
        if is_outage(error):
            raise unavailable(error) from None
        raise StoreError(f"the database refused a statement ({type(error).__name__})") from error


def _sqlstate(error: BaseException) -> str:
    """PostgreSQL's five characters; "" where there are none."""
    return str(getattr(getattr(error, "orig", None), "sqlstate", None) or "")
