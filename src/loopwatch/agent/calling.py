"""Carries out what a model asks for: calls of tools, from a reply or from a program."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from loopwatch.agent.secrecy import Secrets
from loopwatch.agent.tools.tool import Tool, ToolFailure, clipped, told
from loopwatch.clock import Clock
from loopwatch.records.rows import FailureKind


class Done(NamedTuple):
    """What a call came to: what the model is told, how it failed if it did, and the record's figures."""

    text: str
    failure: FailureKind | None
    seconds: float
    clipped_from: int | None


class Wanted(NamedTuple):
    """A call that a model wants: ``arguments`` as they were written, whatever they are."""

    tool: str
    arguments: Any


@dataclass(frozen=True, slots=True)
class Toolbox:
    """One agent's tools."""

    tools: Mapping[str, Tool]
    secrets: Secrets
    clock: Clock

    async def all(self, wanted: Sequence[Wanted]) -> list[Done]:
        """Carry out the calls of a reply in their order; neighbours that may run side by side do."""
        done: list[Done] = []
        at = 0
        while at < len(wanted):
            end = at + 1
            while end < len(wanted) and self._parallel(wanted[at]) and self._parallel(wanted[end]):
                end += 1
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self.one(call)) for call in wanted[at:end]]
            done += [task.result() for task in tasks]
            at = end
        return done

    async def one(self, wanted: Wanted) -> Done:
        """Carry out one call. Whatever goes wrong in it is told to the model."""
        began = self.clock.monotonic()
        text, failure = await self._carried_out(wanted)
        text, clipped_from = clipped(self.secrets.hide(text.encode("utf-8", "replace").decode()))
        return Done(text, failure, round(self.clock.monotonic() - began, 3), clipped_from)

    async def _carried_out(self, wanted: Wanted) -> tuple[str, FailureKind | None]:
        try:
            return await self._called(wanted), None
        except ToolFailure as failure:
            return f"Error: {failure}", failure.kind
        except Exception as error:  # noqa: BLE001  a tool is anybody's code, and its errors are for the model
            return f"Error: {told(error)}", "failed"

    async def _called(self, wanted: Wanted) -> str:
        """What the tool returns. Raises ToolFailure, and whatever the tool does."""
        tool = self.tools.get(wanted.tool)
        if tool is None:
            there = ", ".join(self.tools)
            raise ToolFailure(f"there is no tool of this name; there are {there}", "unknown_tool")
        if not isinstance(wanted.arguments, Mapping):
            raise ToolFailure("the arguments must be an object", "bad_arguments")
        limit = asyncio.timeout(tool.limit_secs)
        try:
            async with limit:
                return await tool.call(wanted.arguments)
        except TimeoutError:
            if limit.expired():
                raise ToolFailure(f"it took longer than {tool.limit_secs:g} s", "timeout") from None
            raise

    def _parallel(self, wanted: Wanted) -> bool:
        tool = self.tools.get(wanted.tool)
        return tool is not None and tool.parallel
