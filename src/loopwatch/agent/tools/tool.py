"""A tool, made of a function: its signature becomes the schema, and every call is checked against it."""

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar, get_type_hints

import msgspec
from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic.json_schema import GenerateJsonSchema

from loopwatch.errors import InputError, one_line
from loopwatch.records.rows import FailureKind

T = TypeVar("T")
MOST_BYTES = 256 * 1024
"""A result longer than this is cut: its end is kept, which is where errors and totals stand."""
SHOWN = 300
"""Characters of an error that a model is told."""


class ToolFailure(Exception):
    """A call failed, and the model is told so: ``kind`` for the record, the message for the model."""

    def __init__(self, message: str, kind: FailureKind = "failed") -> None:
        """Take both."""
        super().__init__(message)
        self.kind: FailureKind = kind


@dataclass(frozen=True, slots=True)
class Tool:
    """What a model may call. ``call`` takes the arguments by name and returns what the model is told.

    ``parameters`` is the JSON Schema of the arguments; calls of ``parallel`` tools that stand side by side
    in a reply run at the same time. ``limit_secs`` ends a call, None where the tool sees to that itself.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    call: Callable[[Mapping[str, Any]], Awaitable[str]] = field(repr=False)
    parallel: bool = False
    limit_secs: float | None = 300

    @property
    def document(self) -> dict[str, Any]:
        """The tool as a request has it."""
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": dict(self.parameters),
        }
        return {"type": "function", "function": function}


def tool(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    parallel: bool = False,
    limit_secs: float | None = 300,
) -> Tool:
    """A tool that calls ``function``, sync or async, with the arguments that its signature names.

    Its docstring is the description. Whatever it returns is text, or is written as JSON; what it raises is
    told to the model. A sync one runs in a thread of its own. Raises InputError where the signature says
    too little: every argument needs a type that JSON can carry.
    """
    called = name or str(getattr(function, "__name__", "tool"))
    arguments = _arguments(function, called)
    schema = arguments.model_json_schema(schema_generator=_Untitled)
    schema.pop("title", None)
    is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004  an object may be called asynchronously
    )

    async def call(given: Mapping[str, Any]) -> str:
        values = _validated(arguments, given)
        found = await (function(**values) if is_async else in_thread(lambda: function(**values)))
        return text_of(found)

    return Tool(
        called, inspect.getdoc(function) or "", schema, call, parallel=parallel, limit_secs=limit_secs
    )


def text_of(value: Any) -> str:
    """A result as the model is told it."""
    if isinstance(value, str):
        return value
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        return str(value)


def clipped(text: str, most: int = MOST_BYTES) -> tuple[str, int | None]:
    """The text, or its end with a line before it; and the size of the whole where it was cut."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= most:
        return text, None
    kept = data[-most:].decode("utf-8", "ignore")
    return f"[… {len(data) - most} bytes left out]\n{kept}", len(data)


def told(error: BaseException) -> str:
    """An error of a tool in a line for the model."""
    said = one_line(str(error))[:SHOWN]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


class _Untitled(GenerateJsonSchema):
    """As pydantic's own, without the titles that repeat each name."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        del schema
        return False


def _arguments(function: Callable[..., Any], name: str) -> type[BaseModel]:
    """The model of a function's arguments."""
    try:
        hints = get_type_hints(function, include_extras=True)
        parameters = inspect.signature(function).parameters.values()
    except (NameError, TypeError, ValueError) as error:
        raise InputError(f"tool {name!r}: its signature cannot be read ({error})") from None
    found: dict[str, Any] = {}
    for one in parameters:
        if one.kind not in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY) or one.name not in hints:
            raise InputError(f"tool {name!r}: give its argument {one.name} a name and a type")
        found[one.name] = (hints[one.name], ... if one.default is one.empty else one.default)
    try:
        model: type[BaseModel] = create_model(
            f"{name}_arguments", __config__=ConfigDict(extra="forbid"), **found
        )
        model.model_json_schema()
    except Exception as error:  # noqa: BLE001  pydantic raises many kinds for a type that it does not know
        raise InputError(f"tool {name!r}: a type of its arguments cannot be JSON ({told(error)})") from None
    return model


def _validated(model: type[BaseModel], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the function takes them. Raises ToolFailure."""
    try:
        values = model.model_validate(dict(given))
    except ValidationError as error:
        lines = [
            f"{'.'.join(map(str, one['loc'])) or 'arguments'}: {one['msg']}"
            for one in error.errors(include_url=False, include_input=False, include_context=False)
        ]
        raise ToolFailure(f"the arguments are wrong: {'; '.join(lines)}", "bad_arguments") from None
    return {name: getattr(values, name) for name in model.model_fields}


async def in_thread(work: Callable[[], T]) -> T:
    """What ``work`` returns, from a thread that keeps nobody waiting: not even the end of the program."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(outcome: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop has ended, and nobody waits
            loop.call_soon_threadsafe(lambda: None if done.done() else outcome())

    def run() -> None:
        try:
            value = work()
        except BaseException as raised:  # noqa: BLE001  raised again where it is awaited
            error = raised
            settle(lambda: done.set_exception(error))
        else:
            settle(lambda: done.set_result(value))

    threading.Thread(target=run, daemon=True).start()
    return await done
