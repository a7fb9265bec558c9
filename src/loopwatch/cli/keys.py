"""``loopwatch keys``: projects and the keys that open them."""

import json
import math
import os
import sys
from collections.abc import Coroutine
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from loopwatch.cli.database import db_option, json_option, opened, project_option, run, the_project
from loopwatch.config.defects import printable
from loopwatch.errors import InputError, LoopwatchError

if TYPE_CHECKING:
    from loopwatch.store.keys import Issued, Key, Show

SHELL = "the command line"
"""Who is noted as having changed something here."""


@click.group(epilog="Example: loopwatch keys create my-product --json")
def keys() -> None:
    """Make, list, replace and revoke project keys."""


@keys.command(epilog="Example: loopwatch keys create my-product --json")
@click.argument("name")
@click.option("--admin", is_flag=True, help="A key that may also change settings and block users.")
@db_option
@json_option
def create(name: str, *, admin: bool, database: str | None, as_json: bool) -> None:
    """Make a key for the project NAME, and the project where there is none of that name.

    The key is shown this once: only its hash is kept.
    """
    _issue(_create(name, database, partial(_show, as_json=as_json), admin=admin), as_json=as_json)


async def _create(name: str, database: str | None, show: "Show", *, admin: bool) -> "Issued":
    async with opened(database) as store:
        named = [one for one in await store.projects.list() if name.strip() in (one.name, one.id)]
        if len(named) > 1:
            raise InputError(f"more than one project is called {name!r}: give its id")
        project = named[0] if named else await store.projects.create(name)
        issued = await store.keys.create(project.id, "admin" if admin else "ingest", admin=admin, show=show)
        await store.audit.note(project.id, SHELL, f"key {issued.key.prefix}… made: {issued.key.name}")
        return issued


def _issue(issuing: Coroutine[Any, Any, "Issued"], *, as_json: bool) -> None:
    """Make a key and show it. Raises InputError, LoopwatchError where nobody could see it."""
    if sys.stdout is None:
        issuing.close()
        raise InputError("standard output is closed: the new key could not be shown")
    run(issuing)
    if not as_json:
        click.echo("Keep the key: it is shown this once.", err=True)


def _show(issued: "Issued", *, as_json: bool) -> None:
    """Print a new key. Raises LoopwatchError where it cannot be: the store takes it back then."""
    try:
        _print(issued, as_json=as_json)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing left to flush at exit
        reason = f"the new key could not be shown ({error.strerror}) and was revoked: ask for another"
        raise LoopwatchError(reason) from None


def _print(issued: "Issued", *, as_json: bool) -> None:
    shown = {"project": issued.key.project_id, "key": issued.secret}
    if as_json:
        click.echo(json.dumps(shown))
    else:
        for label, value in shown.items():
            click.echo(f"{label:9}{value}")
    sys.stdout.flush()  # or a full disk would be noticed after the good news


@keys.command("list", epilog="Example: loopwatch keys list")
@project_option
@db_option
@json_option
def list_keys(project: str | None, database: str | None, *, as_json: bool) -> None:
    """List every key by what is known of it: not the key itself."""
    for key, name in run(_list(project, database)):
        shown = {
            "id": key.id,
            "key": f"{key.prefix}…",
            "project": key.project_id,
            "name": name,
            "admin": key.admin,
            "created": key.created_at.isoformat(timespec="seconds"),
            "state": _state(key),
        }
        if as_json:
            click.echo(json.dumps(shown))
        else:
            kind = "admin" if key.admin else "ingest"
            click.echo(
                f"{key.id}  {shown['key']}  {kind:6}  {shown['state']:8}  {key.project_id}  {printable(name)}"
            )


async def _list(project: str | None, database: str | None) -> "list[tuple[Key, str]]":
    async with opened(database) as store:
        wanted = None if project is None else (await the_project(store, project)).id
        names = {one.id: one.name for one in await store.projects.list()}
        return [(key, names.get(key.project_id, "")) for key in await store.keys.list(wanted)]


def _state(key: "Key") -> str:
    if key.revoked_at is not None:
        return "revoked"
    return "active" if key.expires_at is None else f"until {key.expires_at:%Y-%m-%d %H:%M}"


@keys.command(epilog="Example: loopwatch keys revoke key_0123456789ab")
@click.argument("key")
@db_option
def revoke(key: str, database: str | None) -> None:
    """End a key, given by its id or its first ten characters; other servers notice within five seconds."""
    if not run(_revoke(key, database)):
        raise InputError("there is no such key: see `loopwatch keys list`")
    click.echo("Revoked", err=True)


async def _revoke(key: str, database: str | None) -> bool:
    async with opened(database) as store:
        held = [one for one in await store.keys.list() if key in (one.id, one.prefix)]
        gone = await store.keys.revoke(key)
        if gone and held:
            await store.audit.note(
                held[0].project_id, SHELL, f"key {held[0].prefix}… revoked: {held[0].name}"
            )
        return gone


@keys.command(epilog="Example: loopwatch keys rotate key_0123456789ab --overlap 24")
@click.argument("key")
@click.option(
    "--overlap",
    type=click.FloatRange(0, 8_760),
    default=24.0,
    show_default=True,
    metavar="HOURS",
    help="How long the old key holds yet.",
)
@db_option
@json_option
def rotate(key: str, overlap: float, database: str | None, *, as_json: bool) -> None:
    """Make a new key in place of one, which goes on for a while."""
    if math.isnan(overlap):
        raise InputError("--overlap must be a number of hours")
    show = partial(_show, as_json=as_json)
    _issue(_rotate(key, timedelta(hours=overlap), database, show), as_json=as_json)


async def _rotate(key: str, overlap: timedelta, database: str | None, show: "Show") -> "Issued":
    async with opened(database) as store:
        issued = await store.keys.rotate(key, overlap, show=show)
        await store.audit.note(issued.key.project_id, SHELL, f"key replaced by {issued.key.prefix}…")
        return issued
