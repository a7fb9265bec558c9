"""What commands over a database share: which one, how it is opened, and what is said where it cannot be."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from loopwatch.errors import InputError, LoopwatchError

if TYPE_CHECKING:
    from loopwatch.store.opening import Store
    from loopwatch.store.projects import Project

T = TypeVar("T")
Command = TypeVar("Command", bound=Callable[..., Any])

_EXTRAS = {"asyncpg": "postgres", "valkey": "valkey"}
"""Modules that come with an extra of their own; all others with ``server``."""

db_option = click.option(
    "--db",
    "database",
    metavar="URL",
    help="sqlite:///PATH or postgresql://…; else $LOOPWATCH_DB, else a SQLite file in the data folder.",
)
project_option = click.option(
    "--project", metavar="ID", help="Which project, by its id or name; not needed where there is one."
)
reach_option = click.option(
    "--allow-private",
    is_flag=True,
    envvar="LOOPWATCH_ALLOW_PRIVATE",
    help="Let webhooks lead to private addresses, and without TLS.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")


def data_folder() -> Path:
    """Where the database goes by default."""
    base = os.environ.get("XDG_DATA_HOME", "")
    if not os.path.isabs(base):  # noqa: PTH117  one that is relative does not count, says the standard
        base = os.path.expanduser("~/.local/share")  # noqa: PTH111  unlike Path.home, it never raises
    return Path(base) / "loopwatch"


def address(database: str | None) -> str:
    """The database that is meant."""
    return database or os.environ.get("LOOPWATCH_DB") or f"sqlite:///{data_folder() / 'loopwatch.db'}"


def run(work: Coroutine[Any, Any, T]) -> T:
    """Do it, to its end. Raises LoopwatchError where an extra is missing, naming it."""
    try:
        return asyncio.run(work)
    except ModuleNotFoundError as error:
        raise missing(error) from None


def missing(error: ModuleNotFoundError, extra: str = "server") -> LoopwatchError:
    """What to install, for a module that is not there: its own ``extra``, where it has one."""
    module = (error.name or "").partition(".")[0]
    return LoopwatchError(f"{module} is not installed: pip install 'loopwatch[{_EXTRAS.get(module, extra)}]'")


@asynccontextmanager
async def opened(database: str | None) -> "AsyncIterator[Store]":
    """The store, for a command."""
    from loopwatch.store.opening import open_store

    async with open_store(address(database)) as store:
        yield store


async def the_project(store: "Store", wanted: str | None) -> "Project":
    """The project of that id or name; without one, the only one there is. Raises InputError."""
    every = await store.projects.list()
    found = [one for one in every if wanted is None or wanted in (one.id, one.name)]
    if len(found) == 1:
        return found[0]
    if not every:
        raise InputError("there is no project yet: `loopwatch keys create NAME` makes one")
    if wanted is None:
        names = ", ".join(f"{one.id} ({one.name})" for one in every)
        raise InputError(f"there are several projects, name one by --project: {names}")
    reason = "there is no project" if not found else "more than one project is called"
    raise InputError(f"{reason} {wanted!r}: give an id of `loopwatch keys list`")
