"""``loopwatch proxy``: the guard for every program that can change its base URL."""

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from loopwatch.cli import options
from loopwatch.cli.database import address, db_option, missing, project_option
from loopwatch.cli.serve import SIGNING_ENV
from loopwatch.cli.terminal import is_terminal
from loopwatch.errors import InputError

if TYPE_CHECKING:
    from loopwatch.proxy.serving import Logging
    from loopwatch.proxy.settings import OnSteps, OnTrip

PORT = 8701
SERVE = "http://127.0.0.1:8700"
MEBIBYTE = 1_048_576


@click.command(epilog="Example: loopwatch proxy --upstream https://api.openai.com/v1")
@click.option(
    "--upstream",
    "upstream",
    multiple=True,
    required=True,
    metavar="[PROVIDER=]URL",
    help="The provider's base URL, version included; or one each: openai=, anthropic=, gemini=, ollama=.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65_535), default=PORT, show_default=True, help="0: any.")
@options.preset
@options.channels
@click.option(
    "--on-trip",
    type=click.Choice(["stop", "error", "retry"]),
    default="stop",
    show_default=True,
    help="End a looping reply cleanly, with an error, or ask again unseen.",
)
@click.option(
    "--hold",
    type=click.IntRange(1),
    default=2_000,
    show_default=True,
    help="Characters that retry holds back; a loop after them is stopped.",
)
@click.option(
    "--retries", type=click.IntRange(0, 100), default=2, show_default=True, help="How often retry asks again."
)
@click.option(
    "--on-steps",
    type=click.Choice(["off", "warn", "block"]),
    default="warn",
    show_default=True,
    help="An agent whose tool calls go in circles: say so, or refuse its next request.",
)
@click.option("--shadow", is_flag=True, help="Cut nothing: only record what would have been cut.")
@click.option("--server", metavar="URL", help="Log calls at this loopwatch server.")
@click.option("--server-key-env", metavar="NAME", help="The variable that holds the server's project key.")
@db_option
@project_option
@click.option("--no-log", is_flag=True, help="Log calls nowhere.")
@click.option("--proxy-key-env", metavar="NAME", help="The variable that holds the key clients must show.")
@click.option(
    "--max-body", type=click.IntRange(1), default=64, show_default=True, help="MiB of a watched request."
)
@click.option(
    "--max-streams", type=click.IntRange(1), default=1_000, show_default=True, help="Requests at a time."
)
@click.option(
    "--idle",
    type=click.FloatRange(0, min_open=True),
    default=300.0,
    show_default=True,
    help="Seconds of silence after which an upstream is given up.",
)
@click.option("--json", "as_json", is_flag=True, help="Each trip as one JSON object on standard output.")
def proxy(
    *,
    upstream: tuple[str, ...],
    host: str,
    port: int,
    preset: str,
    channels: str,
    on_trip: "OnTrip",
    hold: int,
    retries: int,
    on_steps: "OnSteps",
    shadow: bool,
    as_json: bool,
    proxy_key_env: str | None,
    max_body: int,
    max_streams: int,
    idle: float,
    **logs: Any,
) -> None:
    """Relay to a provider, cut what loops, log every call. Ends by SIGTERM or Ctrl-C.

    Programs are told http://HOST:PORT (with /v1 where they want it) instead of the provider's address.
    """
    try:
        import uvloop

        from loopwatch.hosting import logs as voice
        from loopwatch.proxy.serving import serve
        from loopwatch.proxy.settings import ProxySettings
        from loopwatch.proxy.upstreams import upstreams
    except ModuleNotFoundError as error:
        raise missing(error, extra="proxy") from None
    settings = ProxySettings(
        upstreams=upstreams(upstream),
        detection=replace(options.settings(preset, channels), shadow=shadow, stop_on_same_loop=True),
        on_trip=on_trip,
        hold=hold,
        retries=retries,
        on_steps=on_steps,
        max_body=max_body * MEBIBYTE,
        max_streams=max_streams,
        idle_secs=idle,
        key=None if proxy_key_env is None else secret(proxy_key_env, "--proxy-key-env"),
    )
    destination = _destination(**logs)
    voice.configure(people=is_terminal(sys.stderr))
    try:
        uvloop.run(serve(settings, destination, host, port, _print if as_json else _nothing))
    except ModuleNotFoundError as error:
        raise missing(error, extra="proxy") from None


def _destination(
    *, server: str | None, server_key_env: str | None, database: str | None, project: str | None, no_log: bool
) -> "Logging":
    """Where calls are logged. Raises InputError where the options say two things."""
    from loopwatch.proxy.serving import Logging

    places = {"--server": server, "--db": database, "--no-log": no_log}
    given = [name for name, value in places.items() if value]
    if len(given) > 1:
        raise InputError(f"{' and '.join(given)} contradict each other: give one of them")
    if no_log:
        return Logging()
    if server is None:
        if server_key_env is not None:
            raise InputError("--server-key-env needs --server, the address of a loopwatch server")
        public = os.environ.get("LOOPWATCH_PUBLIC_URL") or SERVE
        signing = os.environ.get(SIGNING_ENV, "").encode()
        return Logging(database=address(database), project=project, public_url=public, secret=signing)
    if not server.startswith(("http://", "https://")):
        raise InputError("--server must be an http:// or https:// URL, such as http://127.0.0.1:8700")
    if server_key_env is None:
        raise InputError("--server needs --server-key-env, the variable that holds the project's key")
    return Logging(server=server, server_key=secret(server_key_env, "--server-key-env"))


def secret(variable: str, option: str) -> str:
    """What a variable holds. Raises InputError where it holds nothing."""
    value = os.environ.get(variable, "").strip()
    if not value:
        raise InputError(f"{option} {variable}: that variable is not set, or empty")
    return value


def _print(record: dict[str, Any]) -> None:
    import msgspec

    click.echo(msgspec.json.encode(record).decode())
    sys.stdout.flush()


def _nothing(record: dict[str, Any]) -> None:
    del record
