"""``loopwatch serve``: the server, until it is told to stop."""

import math
import os
import sys
from urllib.parse import urlsplit

import click

from loopwatch.cli.database import address, db_option, missing, reach_option
from loopwatch.cli.terminal import is_terminal
from loopwatch.errors import InputError

PORT = 8700
MOST_RATE = 1e6
"""Requests a second: more than any machine answers."""
SIGNING_ENV = "LOOPWATCH_SECRET"
"""The variable that holds what signs cookies and links; without it the database has such a secret."""


@click.command(epilog="Example: loopwatch serve --public-url https://watch.example.com")
@db_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65_535), default=PORT, show_default=True, help="0: any.")
@click.option(
    "--public-url",
    envvar="LOOPWATCH_PUBLIC_URL",
    metavar="URL",
    help="What links in alerts begin with; else the address listened on.",
)
@click.option(
    "--windows",
    envvar="LOOPWATCH_WINDOWS",
    metavar="URL",
    help="valkey://… or redis://…: where the rolling windows are summed; else in the database.",
)
@click.option(
    "--rate",
    type=click.FloatRange(0, MOST_RATE, min_open=True),
    default=500.0,
    show_default=True,
    help="Requests a second that one key may make; four times as many at once.",
)
@click.option(
    "--owner-link", is_flag=True, help="Print a one-time link that makes another owner of the console."
)
@reach_option
def serve(
    *,
    database: str | None,
    host: str,
    port: int,
    public_url: str | None,
    windows: str | None,
    rate: float,
    owner_link: bool,
    allow_private: bool,
) -> None:
    """Take calls in, watch users, send alerts. Ends by SIGTERM or Ctrl-C, with nothing lost.

    At the first start it prints a one-time link that makes the owner of the console.
    """
    try:
        import uvloop

        from loopwatch.config.reach import EVERYWHERE, Reach
        from loopwatch.hosting import logs
        from loopwatch.server.serving import Options
        from loopwatch.server.serving import serve as run
    except ModuleNotFoundError as error:
        raise missing(error) from None
    options = Options(
        address(database),
        host,
        port,
        public_url=None if public_url is None else _public(public_url),
        windows=windows,
        reach=EVERYWHERE if allow_private else Reach(),
        rate=rate,
        burst=4 * rate,
        secret=os.environ.get(SIGNING_ENV, "").encode(),
    )
    if not host.strip():
        raise InputError("--host must be an address; 0.0.0.0 is every one of this machine")
    if math.isnan(rate):
        raise InputError("--rate must be a number of requests a second")
    logs.configure(people=is_terminal(sys.stderr))
    try:
        uvloop.run(run(options, _tell_owner, another_owner=owner_link))
    except ModuleNotFoundError as error:
        raise missing(error) from None


def _tell_owner(link: str) -> None:
    click.echo(f"Open this once, within 24 hours, to make an owner's account: {link}")


def _public(url: str) -> str:
    """The public URL. Raises InputError for what cannot be the beginning of a link."""
    try:
        parts = urlsplit(url)
        is_url = parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.query
    except ValueError:
        is_url = False
    if not is_url:
        raise InputError("--public-url must be an http:// or https:// URL, such as https://watch.example.com")
    return url
