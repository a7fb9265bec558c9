"""``loopwatch settings``: a project's settings from the shell, by the same function as the server's."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from loopwatch.cli.database import db_option, opened, project_option, reach_option, run, the_project
from loopwatch.config.defects import shown
from loopwatch.errors import InputError

if TYPE_CHECKING:
    from loopwatch.config.reach import Reach


@click.group(epilog="Example: loopwatch settings set tokenThreshold=80000")
def settings() -> None:
    """Show or change a project's settings."""


@settings.command(epilog="Example: loopwatch settings get --project my-product")
@project_option
@db_option
def get(project: str | None, database: str | None) -> None:
    """Print all settings as JSON, secrets masked."""
    click.echo(json.dumps(run(_get(project, database)), ensure_ascii=False, indent=2))


async def _get(project: str | None, database: str | None) -> dict[str, Any]:
    async with opened(database) as store:
        found = await the_project(store, project)
        return (await store.projects.settings(found.id)).settings.shown()


@settings.command("set", epilog="Example: loopwatch settings set tokenThreshold=80000 cooldownMinutes=60")
@click.argument("changes", nargs=-1, metavar="KEY=VALUE…")
@click.option(
    "--file",
    "document",
    type=click.File("rb"),
    help="A JSON object of settings to set; - is standard input.",
)
@project_option
@reach_option
@db_option
def set_settings(
    changes: tuple[str, ...],
    document: Any,
    project: str | None,
    database: str | None,
    *,
    allow_private: bool,
) -> None:
    """Set keys of a project's settings; they hold from the next call on, everywhere.

    A VALUE is JSON, or text where it is none; null takes a key back to its default.
    """
    from loopwatch.config.reach import EVERYWHERE, Reach

    wanted = {**_document(document), **dict(_change(one) for one in changes)}
    if not wanted:
        raise InputError("nothing to set: write KEY=VALUE, or --file")
    version = run(_set(wanted, project, database, EVERYWHERE if allow_private else Reach()))
    click.echo(f"Set: {', '.join(sorted(wanted))} (version {version})", err=True)


def _document(file: Any) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        read = json.load(file)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{Path(file.name).name} is not JSON: {error}") from None
    if not isinstance(read, dict):
        raise InputError("the settings must be a JSON object")
    return read


def _change(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise InputError(f"{shown(text)} is no KEY=VALUE")
    try:
        return key, json.loads(value)
    except (ValueError, RecursionError):
        return key, value


async def _set(changes: dict[str, Any], project: str | None, database: str | None, reach: "Reach") -> int:
    from loopwatch.server.settings import change

    async with opened(database) as store:
        found = await the_project(store, project)
        return (await change(store.projects, found.id, changes, "the shell", reach)).version
