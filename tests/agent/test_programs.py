"""Programs: what they may do, what they may not, and the name of each way to fail."""

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from loopwatch.agent.programs import sandbox
from loopwatch.agent.programs.sandbox import Ended, can_confine, run_program
from loopwatch.agent.programs.source import program_in
from loopwatch.agent.tools.tool import tool
from loopwatch.config.capabilities import ProgramParams
from loopwatch.testing.answers import Answer, answer
from tests.agent.runs import capabilities, finish, profile, run
from tests.processes import ended as ended_by_then

LIMITS = {"timeoutSecs": 20, "cpuSecs": 2, "memoryMb": 128, "fileMb": 1}
CODING = profile(capabilities=capabilities("files", "responses-as-code", **LIMITS))


def program(code: str) -> Answer:
    return answer(f"Here it is:\n```python\n{code}\n```\n")


def shout(text: str, times: int = 1) -> str:
    """Say it loud."""
    return text.upper() * times


WAITING = """
import asyncio
from loopwatch.agent.programs.sandbox import run_program
from loopwatch.agent.tools.tool import tool
from loopwatch.config.capabilities import ProgramParams

def tell(pid: int) -> None:
    print(pid, flush=True)

async def serve(name, arguments):
    tell(**arguments)
    return {"result": ""}

program = "import os, time\\ntell(os.getpid())\\ntime.sleep(600)"
asyncio.run(run_program(program, [tool(tell)], serve, ProgramParams()))
"""


async def execute(code: str, **limits: Any) -> Ended:
    tools = [tool(shout)]

    async def serve(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        if name != "shout" or "text" not in arguments:
            return {"error": "no"}
        return {"result": await tools[0].call(arguments)}

    return await run_program(code, tools, serve, ProgramParams.model_validate(LIMITS | limits))


async def test_a_program_computes_prints_and_calls() -> None:
    ended = await execute("import json\nprint(json.dumps({'a': shout('hi', times=2)}), shout('x', 3))")
    assert (ended.error_type, ended.output, ended.calls) == (None, '{"a": "HIHI"} XXX\n', 2)


@pytest.mark.parametrize(
    ("code", "error_type"),
    [
        ("print('hi", "transpile_syntax"),
        ("await thing()", "transpile_syntax"),
        ("(" * 150 + ")" * 150 + "\nx = " + "-" * 60_000 + "1", "transpile_compile"),
        ("print(unheard_of)", "program_unknown_name"),
        ("1 / 0", "program_throw"),
        ("import no_such_module", "program_throw"),
        ("raise SystemExit(3)", "program_throw"),
        ("import os\nos._exit(3)", "program_throw"),
        ("shout()", "program_api_error"),
        ("shout('a', 1, 2)", "program_api_error"),
        ("shout(text={1})", "program_api_error"),
        ("while True: pass", "sandbox_timeout"),
        ("x = bytearray(10**9)", "sandbox_out_of_memory"),
        ("x = []\nwhile True: x.append('a' * 10**6)", "sandbox_out_of_memory"),
        ("import ctypes\nctypes.string_at(0)", "sandbox_trap"),
        ("open('big', 'w').write('x' * 10**7)", "sandbox_trap"),
    ],
)
async def test_every_way_to_fail_has_its_name(code: str, error_type: str) -> None:
    ended = await execute(code)
    assert ended.error_type == error_type, ended
    assert ended.detail


@pytest.mark.parametrize(
    "code",
    [
        "import socket\nsocket.create_connection(('127.0.0.1', 9))",
        "import socket\nsocket.socketpair()",
        "open('/etc/passwd').read()",
        "open('/tmp/loopwatch-was-here', 'w')",
        "import os\nos.listdir('/proc')",
        "import os\nos.listdir('..')",
        "import os\nos.symlink('/etc/passwd', 'p')\nopen('p')",
        "import os\nwhile True: os.fork()",
        "import subprocess\nsubprocess.run(['id'])",
        "import os\nos.kill(os.getppid(), 9)",
        "import os\nos.posix_spawn('/bin/sh', ['sh'], {})",
        "import os\nos.execv('/bin/sh', ['sh'])",
    ],
)
async def test_there_is_no_way_out(code: str) -> None:
    ended = await execute(code)
    assert ended.error_type == "sandbox_trap", ended
    assert not Path("/tmp/loopwatch-was-here").exists()  # noqa: ASYNC240, S108


async def test_a_raw_system_call_gets_no_further() -> None:
    ended = await execute(
        "import ctypes\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "for number in (41, 56, 57, 59, 101, 165, 272, 425, 435, 41 | 0x40000000):\n"
        "    print(number, libc.syscall(number, 17, 0, 0, 0, 0))\n"
    )
    assert ended.error_type is None, ended
    assert {line.split()[1] for line in ended.output.splitlines()} == {"-1"}


async def test_files_of_its_own_are_bounded_all_together() -> None:
    ended = await execute("n = 0\nwhile True:\n    open(str(n), 'w').write('x' * 900_000)\n    n += 1")
    assert (ended.error_type, ended.detail) == ("sandbox_trap", "the program's files take up too much")


async def test_a_program_that_waits_is_ended_and_what_it_printed_is_kept() -> None:
    ended = await execute("import time\nprint(1)\ntime.sleep(600)", timeoutSecs=1)
    assert ended.output == "1\n"
    assert (ended.error_type, ended.detail) == ("sandbox_timeout", "the program took longer than 1 s")


async def test_a_program_that_speaks_out_of_turn_is_ended() -> None:
    ended = await execute(
        "import os\nfor fd in range(3, 64):\n    try: os.write(fd, b'?\\n')\n    except OSError: pass"
    )
    assert ended.error_type == "sandbox_trap"


async def test_only_the_end_of_what_it_prints_is_kept() -> None:
    ended = await execute("print('y' * 10**6)\nprint('the end')")
    assert ended.output.endswith("the end\n")
    assert len(ended.output) < 40_000


async def test_time_in_tools_is_not_the_programs_own() -> None:
    async def serve(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(1.5)
        return {"result": f"{name} {len(arguments)}"}

    params = ProgramParams.model_validate(LIMITS | {"timeoutSecs": 1})
    ended = await run_program("print(shout('x'))", [tool(shout)], serve, params)
    assert (ended.error_type, ended.output) == (None, "shout 1\n")


async def test_a_program_ends_with_whoever_runs_it() -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", WAITING), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    pid = int(await process.stdout.readline())
    process.kill()
    await process.wait()
    assert ended_by_then(pid)


async def test_threads_are_its_own_affair() -> None:
    ended = await execute(
        "import threading\nt = threading.Thread(target=print, args=('t',))\nt.start()\nt.join()"
    )
    assert (ended.error_type, ended.output) == (None, "t\n")


async def test_programs_can_be_shut_in_here() -> None:
    assert await can_confine(ProgramParams()) is None


def test_the_program_in_a_reply() -> None:
    assert program_in("```python\na\n```\nand\n~~~py\nb\n~~~").text == "a\n\nb\n"
    assert program_in("```\na\n").text == "a\n"
    assert program_in("````python\n```\n````").text == "```\n"
    assert program_in("No.").error_type == "missing_completion_no_program"
    assert program_in("a = 1").error_type == "missing_completion_no_program"
    assert program_in("```js\na\n```").error_type == "transpile_unsupported"


# In whole runs.


async def test_a_run_of_programs(tmp_path: Path) -> None:
    done = await run(
        tmp_path,
        program("write_file('a.txt', 'one')\nprint(read_file('a.txt'))"),
        program("try:\n    read_file('b.txt')\nexcept ToolError as error:\n    print('no:', error)"),
        program("read_file('b.txt')"),
        answer("I am done."),
        answer("```js\n1\n```"),
        program("nothing = 1"),
        program("finish('all of it')\nprint('never')"),
        agents=(CODING,),
    )
    assert (done.result.status, done.result.result) == ("completed", "all of it")
    assert done.outcomes() == [
        *("progressed", "progressed", "program_api_error", "missing_completion_no_program"),
        *("transpile_unsupported", "progressed", "finished"),
    ]
    told = [message["content"] for message in done.messages() if message["role"] == "user"]
    assert told[1:3] == ["Output:\none\n", "Output:\nno: No such file or directory\n"]
    assert "No such file or directory" in told[3]
    assert "line 1" in told[3]
    assert told[-1] == "The program ran and printed nothing."
    assert "tools" not in done.provider.requests[0].body
    assert "def read_file(path: str, first_line: int = 1" in done.messages(0)[0]["content"]
    figures = done.summary
    assert (figures["executionMode"], figures["programLanguage"]) == ("responses_as_code", "python")
    assert figures["callsByTool"] == {"finish": 1, "read_file": 3, "write_file": 1}
    assert done.raw.count('"type":"program_call"') == 5


async def test_a_run_that_answers_with_tool_calls_instead_is_asked_for_a_program(tmp_path: Path) -> None:
    done = await run(tmp_path, finish(), program("finish()"), agents=(CODING,))
    assert done.outcomes() == ["missing_completion_no_program", "finished"]


@pytest.mark.parametrize("network", [False, True])
async def test_without_namespaces_the_other_walls_hold(
    monkeypatch: pytest.MonkeyPatch,
    network: bool,  # noqa: FBT001
) -> None:
    no_namespaces = "import loopwatch.agent.programs.kernel as k; k.NEW_USER = k.NEW_NET = -1; "
    first, path, rest = sandbox.BOOT.split("; ", 2)
    monkeypatch.setattr(sandbox, "BOOT", "; ".join([first, path, no_namespaces + rest]))
    ended = await execute("import socket\nsocket.socket()\nprint('open')", network=network)
    assert (ended.error_type, ended.output) == ((None, "open\n") if network else ("sandbox_trap", ""))
    assert (await execute("open('/etc/passwd')", network=network)).error_type == "sandbox_trap"
    assert (await execute("import os\nos.fork()", network=network)).error_type == "sandbox_trap"
