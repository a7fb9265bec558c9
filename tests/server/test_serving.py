"""The program itself: started as whoever runs it does, told to stop, and killed under load."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import pytest

from loopwatch.store.opening import open_store
from tests.server.house import House

PROGRAM = [sys.executable, "-m", "loopwatch"]


class Started(NamedTuple):
    """A server in a process of its own."""

    process: subprocess.Popen[str]
    url: str
    project: str
    key: str


def run(*args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *args],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "PYTHONASYNCIODEBUG": "",
            **environment,
        },  # it reports slow steps on standard error
        timeout=60,
    )


def made(database: str, *more: str) -> dict[str, str]:
    done = run("keys", "create", "acme", "--json", "--db", database, *more)
    assert done.returncode == 0, done.stderr
    key: dict[str, str] = json.loads(done.stdout)
    return key


@contextmanager
def started(database: str, *more: str) -> Iterator[Started]:
    """A server on any port; it tells its address in its first log."""
    key = made(database)
    process = subprocess.Popen(
        [*PROGRAM, "serve", "--db", database, "--port", "0", *more],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONASYNCIODEBUG": ""},  # its first line is the address
    )
    try:
        assert process.stderr is not None
        first = json.loads(process.stderr.readline())
        url = first["event"].split()[2].rstrip(",")
        yield Started(process, url, key["project"], key["key"])
    finally:
        process.kill()
        process.wait()
        assert process.stderr is not None
        process.stderr.close()


async def ready(session: aiohttp.ClientSession, url: str) -> None:
    for _ in range(200):
        try:
            async with session.get(f"{url}/readyz") as answer:
                if answer.status == 200:
                    return
        except aiohttp.ClientError:
            pass
        await asyncio.sleep(0.05)
    raise AssertionError("it does not come up")


async def load(
    server: Started, session: aiohttp.ClientSession, answered: set[str], refused: list[int]
) -> None:
    """Log without end, 32 at once, until the server is gone; what was answered for is noted."""

    async def one(task: int) -> None:
        step = 0
        while True:
            step += 1
            event = f"{task}-{step}"
            row = {"userId": f"u{task % 8}", "model": "gpt-4o", "eventId": event, "inputTokens": 10}
            headers = {"x-api-key": server.key}
            try:
                async with session.post(f"{server.url}/api/v1/log", json=row, headers=headers) as answer:
                    if answer.status == 202:
                        answered.add(event)
                    else:
                        refused.append(answer.status)
            except (aiohttp.ClientError, OSError):
                return

    await asyncio.gather(*map(one, range(32)))


async def stored(database: str, project: str) -> set[str]:
    async with open_store(database) as store:
        found: set[str] = set()
        before = None
        while page := await store.reports.recent(project, limit=1_000, before=before):
            fresh = {one.event_id for one in page} - found
            if not fresh:
                return found
            found |= fresh
            before = page[-1].at
        return found


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
async def test_what_was_answered_is_there_however_it_ends(tmp_path: Path, end: signal.Signals) -> None:
    database = f"sqlite:///{tmp_path}/a.db"
    answered: set[str] = set()
    refused: list[int] = []
    with started(database, "--rate", "1000000") as server:
        async with aiohttp.ClientSession() as session:
            await ready(session, server.url)
            loading = asyncio.ensure_future(load(server, session, answered, refused))
            while len(answered) < 500:  # noqa: ASYNC110  the program has no event for it
                await asyncio.sleep(0.01)
            server.process.send_signal(end)
            await loading
        code = await asyncio.to_thread(server.process.wait, 30)
        assert code == (0 if end == signal.SIGTERM else -signal.SIGKILL)
        assert server.process.stderr is not None
        rest = [json.loads(line) for line in server.process.stderr.read().splitlines()]
    assert set(refused) <= {503}
    assert answered <= await stored(database, server.project)
    if end == signal.SIGTERM:
        assert rest[-1]["event"] == "stopped: everything that was answered is stored"


async def test_ctrl_c_ends_it_with_0(tmp_path: Path) -> None:
    with started(f"sqlite:///{tmp_path}/a.db") as server:
        async with aiohttp.ClientSession() as session:
            await ready(session, server.url)
        server.process.send_signal(signal.SIGINT)
        assert await asyncio.to_thread(server.process.wait, 30) == 0


async def test_an_upload_under_way_is_finished_before_it_ends(tmp_path: Path) -> None:
    body = b'{"userId": "u1", "eventId": "late"}'
    with started(f"sqlite:///{tmp_path}/a.db") as server:
        async with aiohttp.ClientSession() as session:
            await ready(session, server.url)
        host, port = server.url.removeprefix("http://").split(":")
        lines = [await asyncio.open_connection(host, int(port)) for _ in range(2)]
        for _, writer in lines:
            head = f"POST /api/v1/log HTTP/1.1\r\nHost: x\r\nx-api-key: {server.key}\r\n"
            writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body[:1])
            await writer.drain()
        await asyncio.sleep(0.5)  # it has both heads
        server.process.send_signal(signal.SIGTERM)
        await asyncio.sleep(0.5)
        (finished, writer), (stalled, other) = lines
        writer.write(body[1:])
        assert (await finished.read()).startswith(b"HTTP/1.1 202")
        assert (await stalled.read()).startswith(b"HTTP/1.1 408")
        assert await asyncio.to_thread(server.process.wait, 60) == 0
        for one in (writer, other):
            one.close()
    assert await stored(f"sqlite:///{tmp_path}/a.db", server.project) == {"late"}


def test_a_port_that_is_taken_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("serve", "--db", f"sqlite:///{tmp_path}/a.db", "--port", str(port))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"loopwatch: 127.0.0.1:{port} cannot be listened on (Address already in use): choose another --host or --port\n"
    )
    assert not (tmp_path / "a.db").exists()


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (("--db", "mysql://x/y"), 2, "sqlite:///PATH or postgresql://"),
        (("--db", "postgresql://u:s3cr3t@127.0.0.1:9/x"), 1, "does not answer"),
        (("--public-url", "example.com"), 2, "http:// or https://"),
        (("--windows", "ftp://x"), 2, "valkey://"),
        (("--port", "99999"), 2, "--port"),
        (("--host", ""), 2, "--host must be an address"),
        (("--host", "nowhere.invalid"), 1, "no such address"),
        (("--db", f"sqlite:///{__file__}"), 1, "is no SQLite database"),
        (("--db", "sqlite:////proc/a.db"), 1, "loopwatch: "),
        (("--rate", "0"), 2, "--rate"),
    ],
)
def test_what_cannot_be_is_one_line(tmp_path: Path, args: tuple[str, ...], code: int, words: str) -> None:
    done = run("serve", "--port", "0", *args, LOOPWATCH_DB=f"sqlite:///{tmp_path}/a.db")
    assert (done.returncode, done.stdout) == (code, "")
    assert words in done.stderr
    assert "s3cr3t" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr


async def test_health_and_metrics_name_nobody(house: House) -> None:
    await house.log(userId="secret-user", feature="secret-feature")
    await house.log(userId="secret-user", inputTokens=-1)
    assert await house.get("/healthz", key="") == {"status": "ok"}
    assert await house.get("/readyz", key="") == {"status": "ready"}
    reply = await house.ask("GET", "/metrics", key="")
    assert reply.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    lines = dict(line.rsplit(" ", 1) for line in reply.text.splitlines() if not line.startswith("#"))
    assert lines["loopwatch_writer_stored_total"] == "1"
    assert lines['loopwatch_http_responses_total{code="400"}'] == "1"
    assert "secret" not in reply.text
    assert house.project not in reply.text


async def test_it_is_not_ready_without_its_database(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    from loopwatch.errors import StoreUnavailable

    async def away(_: Any) -> None:
        raise StoreUnavailable("the database does not answer")

    monkeypatch.setattr(house.server.store.__class__, "ready", away)
    reply = await house.ask("GET", "/readyz", key="")
    assert (reply.status, reply.error) == (503, "the database does not answer")
    assert (await house.ask("GET", "/healthz", key="")).status == 200


async def test_a_defect_of_ours_tells_nothing(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: Any) -> None:
        raise RuntimeError("CANARY")

    monkeypatch.setattr(house.server.store.writer.__class__, "log", broken)
    reply = await house.log(userId="u1")
    assert (reply.status, "CANARY" in reply.text) == (500, False)
    assert reply.error == "a defect of the server: its log has the reason"
