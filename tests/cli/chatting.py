"""Running ``loopwatch chat`` against a provider that answers as it is told."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import NamedTuple

from loopwatch.testing.answers import Scripted
from loopwatch.testing.exchange import Request
from loopwatch.testing.provider import scripted_provider
from loopwatch.testing.steps import Usage
from tests.cli.program import Result

CHAT = (sys.executable, "-m", "loopwatch", "chat", "-m", "some-model")
USAGE = Usage(12, 34)
BILL = "loopwatch: 1 attempt; 12 input and 34 output tokens; cost unknown\n"
LOOP = "round and round we go, "


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """Ours, without what would change an answer."""
    theirs = ("OPENAI_", "OPENROUTER_", "PYTHONASYNCIODEBUG")
    mine = {name: value for name, value in os.environ.items() if not name.startswith(theirs)}
    return mine | {"COLUMNS": "80", **more}


async def chat_at(url: str, *args: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> Result:
    """Run it to its end, with pipes for its input and outputs. The last of ``args`` is the prompt."""
    running = await asyncio.create_subprocess_exec(
        *CHAT,
        *("--base-url", url),
        *args,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(env or {}),
    )
    out, err = await running.communicate(stdin)
    assert running.returncode is not None
    return Result(running.returncode, out.decode(), err.decode())


class Chatted(NamedTuple):
    """What a chat left behind, and what it asked."""

    code: int
    out: str
    err: str
    requests: list[Request]


async def chat(
    *answers: Scripted, args: tuple[str, ...] = (), env: Mapping[str, str] | None = None
) -> Chatted:
    """Say hello to a provider with these answers."""
    async with scripted_provider(*answers) as provider:
        done = await chat_at(provider.base_url, *args, "Hello", env=env)
    return Chatted(*done, provider.requests)
