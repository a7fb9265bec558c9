"""The process that a program runs in. Started by ``sandbox``, spoken with over two pipes, a JSON line each.

First comes the setup: the program, the tools, the limits. Then the process shuts itself in, says so, and
runs the program, whose calls of tools go out and come back one by one. In the end it says what became of
the program, if it still can; an exit without a word is told from its status.
"""

import builtins
import errno
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

from loopwatch.agent.programs.confinement import confine

OUT_OF_MEMORY = 70
"""Exit status of a process that had no memory left to say anything."""
SHOWN = 4_000
"""Characters of a traceback."""
FILE = "program.py"


class ToolError(Exception):
    """A tool that the program called failed; a program may catch it."""


class Finished(BaseException):
    """The program has called ``finish``: nothing of it runs any more."""


class Bridge:
    """Speaks with the other side: one call at a time, whichever thread makes it."""

    def __init__(self, inward: int, outward: int) -> None:
        self._in = os.fdopen(inward, "rb")
        self._out = os.fdopen(outward, "wb")
        self._lock = threading.Lock()

    def send(self, message: dict[str, Any]) -> None:
        """Say something."""
        self._out.write(json.dumps(message).encode() + b"\n")
        self._out.flush()

    def receive(self) -> dict[str, Any]:
        """Hear something; where nobody is there any more, end."""
        line = self._in.readline()
        if not line:
            os._exit(0)
        message: dict[str, Any] = json.loads(line)
        return message

    def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        """What a tool returns. Raises ToolError; Finished once the work has ended."""
        with self._lock:
            try:
                self.send({"call": tool, "arguments": arguments})
            except (TypeError, ValueError) as error:
                raise ToolError(f"the arguments are no JSON: {error}") from None
            answer = self.receive()
        if answer.get("finished"):
            raise Finished
        if "error" in answer:
            raise ToolError(answer["error"])
        return answer["result"]


def function_of(tool: dict[str, Any], bridge: Bridge) -> Callable[..., Any]:
    """The function by which a program calls a tool; nameless arguments are those of its schema, in turn."""
    names = list(tool["parameters"].get("properties", {}))

    def function(*args: Any, **kwargs: Any) -> Any:
        if len(args) > len(names):
            raise ToolError(f"{tool['name']} takes {len(names)} arguments, not {len(args)}")
        given = dict(zip(names, args, strict=False))
        twice = given.keys() & kwargs.keys()
        if twice:
            raise ToolError(f"{tool['name']} was given {', '.join(sorted(twice))} twice")
        return bridge.call(tool["name"], given | kwargs)

    function.__name__ = function.__qualname__ = tool["name"]
    function.__doc__ = tool["description"]
    return function


def run(source: str, names: dict[str, Any]) -> dict[str, str]:
    """Compile and run a program; the type of the error it ended with, and the words for it."""
    try:
        code = compile(source, FILE, "exec")
    except SyntaxError as error:
        where = f" (line {error.lineno})" if error.lineno else ""
        return {"error": "transpile_syntax", "detail": f"SyntaxError: {error.msg}{where}"}
    except (ValueError, OverflowError, RecursionError, MemoryError) as error:
        return {"error": "transpile_compile", "detail": f"{type(error).__name__}: {error}"}
    error_type, detail = None, ""
    try:
        exec(code, names)  # noqa: S102  what this process is for
    except Finished:
        pass
    except MemoryError:
        names.clear()
        error_type, detail = "sandbox_out_of_memory", "MemoryError"
    except SystemExit as error:
        if error.code not in (None, 0):
            error_type, detail = "program_throw", f"SystemExit: {error}"
    except BaseException as error:  # noqa: BLE001  whatever a program throws is told
        error_type, detail = type_of(error), told(error)
    return {} if error_type is None else {"error": error_type, "detail": detail}


def type_of(error: BaseException) -> str:
    """The record's name for an error that a program did not catch."""
    if isinstance(error, ToolError):
        return "program_api_error"
    if isinstance(error, NameError):
        return "program_unknown_name"
    if isinstance(error, OSError) and error.errno in (errno.EPERM, errno.EACCES, errno.EFBIG, errno.EMFILE):
        return "sandbox_trap"
    return "program_throw"


def told(error: BaseException) -> str:
    """The error with the lines of the program that led to it, and none of ours."""
    frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename == FILE]
    lines = [f"  line {one.lineno}, in {one.name}" for one in frames[-20:]]
    return "\n".join([*lines, "".join(traceback.format_exception_only(error)).strip()])[-SHOWN:]


def main() -> NoReturn:
    """Run one program and end."""
    bridge = Bridge(os.dup(0), int(sys.argv[2]))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    setup = bridge.receive()
    sys.path[:] = [path for path in sys.path if path != sys.argv[1]]  # the program has the standard library
    try:
        confine(".", setup["limits"])
    except OSError as error:
        bridge.send({"refused": str(error)})
        os._exit(0)
    bridge.send({"ready": True})
    names: dict[str, Any] = {"__name__": "__main__", "__builtins__": builtins, "ToolError": ToolError}
    names |= {tool["name"]: function_of(tool, bridge) for tool in setup["tools"]}
    try:
        ended = run(setup["program"], names)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        bridge.send({"done": ended, "cpu": time.process_time()})
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    os._exit(0)  # whatever threads the program has left
