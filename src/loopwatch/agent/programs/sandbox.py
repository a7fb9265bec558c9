"""Runs a program in a process of its own, serves its calls of tools, and says how it ended."""

import asyncio
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec

import loopwatch
from loopwatch.agent.programs.child import OUT_OF_MEMORY
from loopwatch.agent.tools.pipe import piped
from loopwatch.agent.tools.shell import MOST_OUTPUT, Tail
from loopwatch.agent.tools.tool import Tool
from loopwatch.config.capabilities import ProgramParams
from loopwatch.errors import LoopwatchError, one_line
from loopwatch.records.outcome import ERROR_TYPES, ErrorType

SOURCE = str(Path(loopwatch.__file__).parents[1])
BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from loopwatch.agent.programs.child import main; main()"
MOST_LINE = 16 * 1024 * 1024
"""Bytes of one call: the arguments of a tool."""
LOOK_SECS = 0.5
"""How often the scratch folder's size is looked at."""
FOLDERS = 4
"""Times the largest file that all files together may be."""
CHILD_ERRORS: frozenset[str] = frozenset(ERROR_TYPES)

Answer = Callable[[str, Mapping[str, Any]], Awaitable[dict[str, Any]]]
"""Carries out a call: ``{"result": …}``, ``{"error": …}`` or ``{"finished": True}``."""


class NotConfined(LoopwatchError):
    """A program cannot be shut in on this machine, and so does not run."""


class Ended(NamedTuple):
    """How a program ended: its error, if it had one, and the words for it; what it printed and used."""

    error_type: ErrorType | None = None
    detail: str = ""
    output: str = ""
    calls: int = 0
    cpu_secs: float = 0.0


@dataclass(slots=True)
class _Talk:
    """A conversation with the process that runs a program; ``left`` are the seconds that it still has."""

    process: asyncio.subprocess.Process
    words: asyncio.StreamReader
    printed: asyncio.StreamReader
    scratch: Path
    params: ProgramParams
    left: float
    calls: int = 0

    async def hear(self) -> dict[str, Any] | None:
        """The next word; None at the end. Raises _Stopped where the process may not go on."""
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            try:
                async with asyncio.timeout(min(self.left, LOOK_SECS)):
                    line = await self.words.readline()
            except TimeoutError:
                self._check(loop.time() - began)
                continue
            except ValueError:
                raise _Stopped("sandbox_trap", "a call of a tool is too large") from None
            self._check(loop.time() - began)
            return _word(line) if line.endswith(b"\n") else None

    async def say(self, message: Mapping[str, Any]) -> None:
        """Answer, unless nobody is there any more."""
        assert self.process.stdin is not None  # noqa: S101  a pipe was asked for
        with suppress(ConnectionError):
            self.process.stdin.write(msgspec.json.encode(message) + b"\n")
            await self.process.stdin.drain()

    def _check(self, seconds: float) -> None:
        self.left -= seconds
        if self.left <= 0:
            raise _Stopped("sandbox_timeout", f"the program took longer than {self.params.timeout_secs} s")
        most = self.params.file_mb * FOLDERS * 1024 * 1024
        if _size(self.scratch, most) > most:
            raise _Stopped("sandbox_trap", "the program's files take up too much")


class _Stopped(Exception):
    """The process is to be ended."""

    def __init__(self, error_type: ErrorType, detail: str) -> None:
        super().__init__(detail)
        self.error_type: ErrorType = error_type
        self.detail = detail


async def run_program(program: str, tools: Sequence[Tool], answer: Answer, params: ProgramParams) -> Ended:
    """Run a program, in a scratch folder that is gone afterwards. Raises NotConfined."""
    async with _scratch() as scratch, _child(scratch, params) as talk:
        printed = Tail(MOST_OUTPUT)
        reading = asyncio.ensure_future(_keep(talk.printed, printed))
        try:
            ended = await _converse(talk, program, tools, answer)
        except _Stopped as stopped:
            ended = Ended(stopped.error_type, stopped.detail)
        finally:
            _kill(talk.process)
            await reading
        if ended is None:
            ended = _by_status(await talk.process.wait())
        return ended._replace(output=printed.text(), calls=talk.calls)


async def can_confine(params: ProgramParams) -> str | None:
    """Why programs cannot be shut in here; None where they can."""

    async def nothing(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {"error": f"{name} is not here, whatever it is told ({len(arguments)})"}

    try:
        ended = await run_program("", [], nothing, params)
    except NotConfined as error:
        return str(error)
    return ended.detail if ended.error_type is not None else None


async def _converse(talk: _Talk, program: str, tools: Sequence[Tool], answer: Answer) -> Ended | None:
    """Set the process up and serve it to its last word; None where it ended without one."""
    described = [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in tools
    ]
    limits = talk.params.model_dump(by_alias=True)
    await talk.say({"program": program, "tools": described, "limits": limits})
    while (word := await talk.hear()) is not None:
        if "refused" in word:
            raise NotConfined(f"programs cannot be shut in on this machine: {one_line(str(word['refused']))}")
        if "call" in word:
            talk.calls += 1
            await talk.say(await answer(str(word["call"]), _object(word.get("arguments"))))
        elif "done" in word:
            return _done(word)
    return None


def _done(word: Mapping[str, Any]) -> Ended:
    """What the process says became of its program."""
    said, cpu = _object(word.get("done")), word.get("cpu")
    error = said.get("error")
    return Ended(
        cast("ErrorType", error) if error in CHILD_ERRORS else None,
        str(said.get("detail", "")),
        cpu_secs=float(cpu) if isinstance(cpu, int | float) else 0.0,
    )


def _by_status(status: int) -> Ended:
    """How a process ended that did not say."""
    if status == -signal.SIGXCPU:
        return Ended("sandbox_timeout", "the program used up its processor time")
    if status in (OUT_OF_MEMORY, -signal.SIGKILL):
        return Ended("sandbox_out_of_memory", "the program used up its memory")
    if status < 0:
        return Ended("sandbox_trap", f"the program was ended by {signal.Signals(-status).name}")
    return Ended() if status == 0 else Ended("program_throw", f"the program left with exit status {status}")


@asynccontextmanager
async def _scratch() -> AsyncIterator[Path]:
    """A folder that is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="loopwatch-"))
    try:
        yield folder
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


@asynccontextmanager
async def _child(scratch: Path, params: ProgramParams) -> AsyncIterator[_Talk]:
    """The process, ended whatever happens."""
    async with piped(MOST_LINE) as words, piped() as printed:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", "-u", "-c", BOOT, SOURCE, str(words.inlet)),
            stdin=asyncio.subprocess.PIPE,
            stdout=printed.inlet,
            stderr=printed.inlet,
            cwd=scratch,
            env={"LANG": "C.UTF-8", "PYTHONIOENCODING": "utf-8:backslashreplace"},
            pass_fds=(words.inlet,),
            start_new_session=True,
        )
        words.hand_over()
        printed.hand_over()
        try:
            yield _Talk(process, words.reader, printed.reader, scratch, params, float(params.timeout_secs))
        finally:
            _kill(process)
            await process.wait()


def _kill(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


async def _keep(output: asyncio.StreamReader, printed: Tail) -> None:
    while data := await output.read(64 * 1024):
        printed.add(data)


def _word(line: bytes) -> dict[str, Any]:
    """A word of the process. It is the program's as well, which may say anything."""
    try:
        return _object(msgspec.json.decode(line))
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise _Stopped("sandbox_trap", "the program spoke out of turn") from None


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _size(folder: Path, most: int) -> int:
    """Bytes that the files of a folder take up, counted to a little more than ``most``."""
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(where, name)).st_blocks * 512  # noqa: PTH118  many of them
            if total > most:
                return total
    return total
