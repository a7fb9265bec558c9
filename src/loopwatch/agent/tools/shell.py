"""Commands in the working folder, each a process group that ends whole, whatever ends it.

A command runs as the user who runs the agent; what it may do is theirs to decide. Nothing that it starts
outlives it, not even what leaves its process group: such processes are known by a mark in their environment.
"""

import asyncio
import os
import secrets
import signal
from contextlib import suppress
from pathlib import Path

from loopwatch.agent.tools.pipe import piped
from loopwatch.agent.tools.tool import Tool, ToolFailure, in_thread, tool

MOST_OUTPUT = 32 * 1024
"""Bytes of a command's output that are kept: the last ones."""
MARK = "LOOPWATCH_COMMAND"
READ = 64 * 1024


class Shell:
    """The shell of one run. ``timeout_secs`` is the most that a command may take."""

    def __init__(self, folder: Path, environment: dict[str, str], *, timeout_secs: float) -> None:
        """Take the working folder and the environment of its commands."""
        self._folder = folder
        self._environment = environment
        self._timeout = timeout_secs

    def tool(self) -> Tool:
        """The tool."""
        return tool(self.shell, limit_secs=None)

    async def shell(self, command: str) -> str:
        """Run a command with sh in the working folder; its output, errors among it, and its exit status.

        Whatever the command leaves running in the background is ended with it.
        """
        if "\0" in command:
            raise ToolFailure("a command can hold no NUL character", "bad_arguments")
        mark, kept = secrets.token_hex(16), Tail(MOST_OUTPUT)
        async with piped() as output:
            process = await asyncio.create_subprocess_exec(
                *("/bin/sh", "-c", command),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output.inlet,
                stderr=output.inlet,
                cwd=self._folder,
                env=self._environment | {MARK: mark},
                start_new_session=True,
            )
            output.hand_over()
            try:
                async with asyncio.timeout(self._timeout):
                    await _until_exit(process, output.reader, kept)
            except TimeoutError:
                said = f"{kept.text()}[ended: it took longer than {self._timeout:g} s]"
                raise ToolFailure(said, "timeout") from None
            finally:
                end_whole(process, mark)
                await process.wait()
        status = process.returncode or 0
        ended = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
        return f"{kept.text()}[{ended}]"


class Tail:
    """The last bytes of an output, and how many there were."""

    def __init__(self, most: int) -> None:
        """Begin with none."""
        self.size = 0
        self._most = most
        self._kept = bytearray()

    def add(self, data: bytes) -> None:
        """Take more."""
        self.size += len(data)
        self._kept += data
        del self._kept[: -self._most]

    def text(self) -> str:
        """What was kept, with a line before it where that is not all, and ended by a line feed."""
        text = self._kept.decode("utf-8", "replace")
        if self.size > self._most:
            text = f"[… {self.size - self._most} bytes left out]\n{text}"
        return text if not text or text.endswith("\n") else f"{text}\n"


async def _until_exit(process: asyncio.subprocess.Process, output: asyncio.StreamReader, kept: Tail) -> None:
    """Read until the command has ended; what it left running may hold the pipe open, and is not awaited."""

    async def read() -> None:
        while data := await output.read(READ):
            kept.add(data)

    async with asyncio.TaskGroup() as group:
        reading = group.create_task(read())
        with suppress(ChildProcessError):  # asyncio has asked first
            await in_thread(lambda: os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT))
        with suppress(TimeoutError):  # what is in the pipe is there by now
            async with asyncio.timeout(0.1):
                await asyncio.shield(reading)
        reading.cancel()


def end_whole(process: asyncio.subprocess.Process, mark: str) -> None:
    """Kill a process, its group, and whatever else bears its mark."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for pid in _marked(f"{MARK}={mark}".encode()):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _marked(mark: bytes) -> list[int]:
    """Processes with this in their environment; none where the system does not tell."""
    found = []
    with suppress(OSError):
        for process in Path("/proc").iterdir():
            with suppress(OSError):
                if process.name.isdigit() and mark in (process / "environ").read_bytes():
                    found.append(int(process.name))
    return found
