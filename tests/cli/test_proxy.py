"""The program itself: started, told to stop, refused."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import pytest

from loopwatch.testing.answers import Answer, answer, looping
from loopwatch.testing.provider import scripted_provider
from loopwatch.testing.steps import Done, Finish, Pause, Role, Say
from tests.proxy.house import LOOP, events

ROOT = Path(__file__).parents[2]
PROGRAM = (sys.executable, "-m", "loopwatch")
ASK = {"model": "m", "messages": [{"role": "user", "content": "Hello?"}], "stream": True}


class Started(NamedTuple):
    """A proxy in a process of its own."""

    process: subprocess.Popen[str]
    url: str

    def said(self) -> dict[str, Any]:
        """The next object on standard output."""
        assert self.process.stdout is not None
        line: dict[str, Any] = json.loads(self.process.stdout.readline())
        return line


@contextmanager
def started(*args: str, **environment: str) -> Iterator[Started]:
    """A proxy on any port, which ends with the block."""
    process = subprocess.Popen(
        [*PROGRAM, "proxy", "--port", "0", "--json", *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONASYNCIODEBUG": "", **environment},
    )
    try:
        assert process.stdout is not None
        yield Started(process, json.loads(process.stdout.readline())["url"])
    finally:
        process.kill()
        process.communicate()


async def test_a_trip_is_a_line_for_people_and_an_object_for_programs() -> None:
    async with scripted_provider(looping(LOOP)) as provider, aiohttp.ClientSession() as session:
        with started("--upstream", provider.base_url, "--no-log") as proxy:
            async with session.post(f"{proxy.url}/u/ann/v1/chat/completions", json=ASK) as answered:
                assert (await answered.read()).endswith(b"data: [DONE]\n\n")
            told = proxy.said()
            assert (told["event"], told["rule"], told["user"]) == ("trip", "cycle", "ann")
            proxy.process.send_signal(signal.SIGTERM)
            _, err = await asyncio.to_thread(proxy.process.communicate, timeout=20)
        assert proxy.process.returncode == 0
        assert "cut (stop) m at /chat/completions, user ann: content: a passage of 49 characters" in err
        assert LOOP.strip() not in err
        assert "Traceback" not in err


async def test_what_streams_is_brought_to_its_end_before_the_proxy_ends() -> None:
    slow = Answer([Role(), Say("It "), Pause(1.0), Say("scatters."), Finish(), Done()])
    async with scripted_provider(slow) as provider, aiohttp.ClientSession() as session:
        with started("--upstream", provider.base_url, "--no-log") as proxy:
            async with session.post(f"{proxy.url}/v1/chat/completions", json=ASK) as answered:
                first = await answered.content.readany()
                proxy.process.send_signal(signal.SIGTERM)
                body = first + await answered.read()
            assert (
                "".join(one["choices"][0]["delta"].get("content") or "" for one in events(body))
                == "It scatters."
            )
            await asyncio.to_thread(proxy.process.communicate, timeout=20)
            assert proxy.process.returncode == 0


async def test_the_database_that_serve_opens_has_the_calls(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path / 'loopwatch.db'}"
    async with scripted_provider(answer("Hi.")) as provider, aiohttp.ClientSession() as session:
        with started("--upstream", provider.base_url, LOOPWATCH_DB=database) as proxy:
            async with session.post(f"{proxy.url}/v1/chat/completions", json=ASK) as answered:
                await answered.read()
            proxy.process.send_signal(signal.SIGTERM)
            await asyncio.to_thread(proxy.process.communicate, timeout=20)
    listed = run("keys", "list", "--json", "--db", database)
    assert listed.returncode == 0


def run(*args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *args],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "PYTHONASYNCIODEBUG": "", **environment},
    )


@pytest.mark.parametrize(
    ("args", "wanted"),
    [
        ((), "Missing option '--upstream'"),
        (("--upstream", "nothing"), "invalid base URL"),
        (("--upstream", "mistral=https://x/v1"), "the providers are openai, anthropic, gemini, ollama"),
        (("--upstream", "http://127.0.0.1:8701/v1"), "is this proxy's own address"),
        (("--upstream", "http://x/v1", "--no-log", "--db", "sqlite:////tmp/x"), "contradict each other"),
        (("--upstream", "http://x/v1", "--server", "http://y"), "--server needs --server-key-env"),
        (("--upstream", "http://x/v1", "--server-key-env", "K"), "--server-key-env needs --server"),
        (("--upstream", "http://x/v1", "--server", "y", "--server-key-env", "K"), "--server must be an http"),
        (("--upstream", "http://x/v1", "--proxy-key-env", "NO_SUCH"), "NO_SUCH: that variable is not set"),
        (("--upstream", "http://x/v1", "--channels", "smell"), "smell"),
    ],
)
def test_what_cannot_be_is_one_line_and_code_2(args: tuple[str, ...], wanted: str) -> None:
    done = run("proxy", *args)
    assert (done.returncode, done.stdout) == (2, "")
    assert wanted in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is missing: apt-get install curl")
async def test_the_example_runs(tmp_path: Path) -> None:
    binary = tmp_path / "loopwatch"
    binary.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m loopwatch "$@"\n', encoding="utf-8")
    binary.chmod(0o755)
    async with scripted_provider(answer("It scatters.")) as provider:
        with started("--upstream", provider.base_url, "--no-log") as proxy:
            port = str(int(proxy.url.rpartition(":")[2]))
        running = await asyncio.create_subprocess_exec(
            *(ROOT / "examples" / "guard_any_program.sh", provider.base_url, "m"),
            stdout=subprocess.PIPE,
            env={
                **os.environ,
                "PATH": f"{tmp_path}:{os.environ['PATH']}",
                "PORT": port,
                "PYTHONASYNCIODEBUG": "",
            },
        )
        out, _ = await running.communicate()
        assert running.returncode == 0
        assert b"scatters" in out
