"""Real servers for the tests: PostgreSQL and Valkey (or Redis) on a free port, in a folder of their own.

PostgreSQL refuses to run as root, so there it runs as another user. What is missing is skipped, with a
word on how to get it; ``make test`` installs it where it may.
"""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

INSTALL = "tools/install-servers installs it on Debian and Ubuntu"
SECONDS = 30


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def postgres(*, fsync: bool = False) -> Iterator[str]:
    """A PostgreSQL server; the value is the address of its database ``postgres``.

    Without ``fsync`` it survives our processes but not the machine, which no test pulls the plug of.
    """
    programs = _postgres_programs()
    if programs is None:
        pytest.skip(f"PostgreSQL is not installed: {INSTALL}")
    user = _other_user()
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="loopwatch-pg-", ignore_cleanup_errors=True) as folder:
        data = Path(folder) / "data"
        if user is not None:
            shutil.chown(folder, user)
        initdb: list[str | Path] = [
            programs / "initdb",
            "-D",
            data,
            "-A",
            "trust",
            "-U",
            "loopwatch",
            "-E",
            "UTF8",
            "--locale=C",
            "-N",
        ]
        subprocess.run(initdb, check=True, capture_output=True, user=user, cwd="/")
        options = [
            "-c",
            f"port={port}",
            "-c",
            "listen_addresses=127.0.0.1",
            "-c",
            f"unix_socket_directories={folder}",
        ]
        options += ["-c", "max_connections=60", "-c", f"fsync={'on' if fsync else 'off'}"]
        server: list[str | Path] = [programs / "postgres", "-D", data, *options]
        with _running(server, port, user=user, stop=signal.SIGINT):  # its fast shutdown
            _until_ready([str(programs / "pg_isready"), "-h", "127.0.0.1", "-p", str(port)])
            yield f"postgresql://loopwatch@127.0.0.1:{port}/postgres"


@contextmanager
def valkey(port: int | None = None) -> Iterator[str]:
    """A Valkey server, or a Redis where there is none; the value is its address."""
    program = shutil.which("valkey-server") or shutil.which("redis-server")
    if program is None:
        pytest.skip(f"neither Valkey nor Redis is installed: {INSTALL}")
    port = port or free_port()
    with tempfile.TemporaryDirectory(prefix="loopwatch-valkey-") as folder:
        server = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]
        with _running(server, port):
            yield f"valkey://127.0.0.1:{port}/0"


@contextmanager
def _running(
    command: Sequence[str | Path],
    port: int,
    *,
    user: str | None = None,
    stop: signal.Signals = signal.SIGKILL,
) -> Iterator[None]:
    """Run a server while the block lasts; it answers on its port from the block's beginning on."""
    with tempfile.TemporaryFile() as said:
        server = subprocess.Popen(
            [str(part) for part in command],
            stdout=said,
            stderr=said,
            user=user,
            cwd="/",
            start_new_session=True,
        )
        try:
            deadline = time.monotonic() + SECONDS
            while not _answers(port):
                if server.poll() is not None or time.monotonic() > deadline:
                    said.seek(0)
                    raise RuntimeError(f"{command[0]} did not start: {said.read().decode()[-500:]}")
                time.sleep(0.02)
            yield
        finally:
            server.send_signal(stop)
            server.wait(SECONDS)


def _until_ready(ask: Sequence[str]) -> None:
    """PostgreSQL opens its port before it lets anyone in."""
    deadline = time.monotonic() + SECONDS
    while subprocess.run(ask, capture_output=True, check=False).returncode:
        assert time.monotonic() < deadline, "PostgreSQL lets nobody in"
        time.sleep(0.02)


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), 1):
            return True
    except OSError:
        return False


def _postgres_programs() -> Path | None:
    """Where initdb and postgres are: Debian keeps them off the path."""
    found = [path.parent for path in sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)]
    there = shutil.which("initdb")
    return found[0] if found else Path(there).resolve().parent if there else None


def _other_user() -> str | None:
    """Whom PostgreSQL runs as: us, unless we are root."""
    if os.getuid():
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    pytest.skip("PostgreSQL refuses to run as root, and there is no user postgres or nobody")
