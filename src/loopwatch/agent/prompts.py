"""Every word that a model is told, besides its task and what its tools bring back.

Nothing here speaks of ceilings, of errors that are counted, or of repetition that is watched for.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from loopwatch.agent.tools.tool import Tool

CALLING = """\
You are {name}. You carry out the task that the user gives you by calling the tools that you have.
Paths are relative to your working folder. Once the task is done, call finish with the result."""

CODING = """\
You are {name}. You carry out the task that the user gives you by writing programs in Python.
Answer with one program between ```python and ```. It is run, and what it prints is shown to you; then you
answer with the next. A program has Python's standard library, but no files, network or other programs of
its own: for these it calls the functions below, which return text and raise ToolError where they fail.
Variables do not outlive a program. Once the task is done, call finish with the result.

{functions}"""

CALL_REMINDER = "Please continue with a tool call. Once the task is done, call finish with the result."
PROGRAM_REMINDER = (
    "Please continue with a program between ```python and ```. Once the task is done, call finish in it."
)
NOTHING_PRINTED = "The program ran and printed nothing."

_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list"}


def system(name: str, tools: Sequence[Tool], *, codes: bool, instructions: str | None) -> str:
    """The first message of a context."""
    functions = "\n\n".join(signature(tool) for tool in tools) if codes else ""
    text = (CODING if codes else CALLING).format(name=name, functions=functions)
    return f"{text}\n\n{instructions}" if instructions else text


def signature(tool: Tool) -> str:
    """A tool as the function that it is to a program."""
    required = {*tool.parameters.get("required", ())}
    given: list[str] = []
    for name, schema in tool.parameters.get("properties", {}).items():
        default = "" if name in required else f" = {_python(schema.get('default'))}"
        given.append(f"{name}: {_type(schema)}{default}")
    lines = "\n    ".join(tool.description.splitlines())
    return f'def {tool.name}({", ".join(given)}) -> str:\n    """{lines}"""'


def printed(output: str, detail: str) -> str:
    """What became of a program, for its author."""
    parts = [f"Output:\n{output}"] if output else []
    if detail:
        parts.append(f"The program ended with an error:\n{detail}")
    return "\n".join(parts) or NOTHING_PRINTED


def _type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return f"Literal[{', '.join(map(_python, schema['enum']))}]"
    return _TYPES.get(str(schema.get("type")), "dict" if schema.get("type") == "object" else "object")


def _python(value: Any) -> str:
    return repr(value) if value is None or isinstance(value, bool | str) else json.dumps(value)
