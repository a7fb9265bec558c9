"""OpenAI's Agents SDK: hooks for a run, ``Runner.run(agent, "…", hooks=TrackerHooks(tracker))``.

Every model call of the run is logged and counted in the agent run around it, handoffs included; its step
monitor is shown what tools are called with and answer. Hooks hear no reply while it streams: ``events`` does.

A model that is given a wrapped client needs no hooks, and has a downgrade besides. Not both: the calls
would be logged twice.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from loopwatch.errors import AgentLoop, LoopTripped, MissingPackage
from loopwatch.sdk.labels import Labels, current
from loopwatch.sdk.reporting import Reported, begin
from loopwatch.sdk.runs import current_run
from loopwatch.sdk.steps import arguments_of
from loopwatch.sdk.tracker import Tracker
from loopwatch.wire.usage import Usage

try:
    from agents import RunHooks
except ImportError:
    raise MissingPackage("the Agents SDK is not installed: pip install openai-agents") from None


class TrackerHooks(RunHooks[Any]):
    """Tells a tracker of a run's model calls; the feature is the agent's name where none is said.

    CapReached, LimitExceeded and AgentLoop are raised out of the run.
    """

    def __init__(self, tracker: Tracker, *, provider: str = "openai") -> None:
        self._tracker = tracker
        self._provider = provider
        self._calls: dict[tuple[int, int], Reported] = {}
        self._loops: dict[int, AgentLoop] = {}

    async def on_llm_start(self, context: Any, agent: Any, system_prompt: Any, input_items: Any) -> None:
        """A model is about to be asked; a call of this agent that never ended has failed.

        Raises AgentLoop, and what admission raises.
        """
        loop = self._loops.pop(id(context.usage), None)
        if loop is not None:
            raise loop
        before = self._calls.pop((id(context.usage), id(agent)), None)
        if before is not None:
            before.fail()
        model = agent.model if isinstance(agent.model, str) else getattr(agent.model, "model", None)
        request = {"instructions": system_prompt, "input": input_items}
        said = Labels(feature=None if _feature_is_said() else agent.name)
        self._calls[id(context.usage), id(agent)] = await asyncio.to_thread(
            begin,
            self._tracker,
            provider=self._provider,
            model=str(model or "default"),
            labels=said,
            request=request,
        )

    async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: object) -> None:
        """A tool has answered; a loop is raised by the next call of the model, unwrapped."""
        del agent
        run = current_run()
        if run is None:
            return
        args = arguments_of(str(getattr(context, "tool_arguments", None) or "{}"))
        try:
            run.observe_tool(str(tool.name), args, str(result))
        except AgentLoop as error:
            self._loops[id(context.usage)] = error

    async def events(self, streamed: Any) -> AsyncIterator[Any]:
        """The events of ``Runner.run_streamed(…, hooks=these)``, guarded. Raises LoopTripped.

        The run is cancelled then.
        """
        async for event in streamed.stream_events():
            if getattr(getattr(event, "data", None), "type", None) == "response.output_text.delta":
                place = (id(streamed.context_wrapper.usage), id(streamed.current_agent))
                call = self._calls.get(place)
                try:
                    if call is not None:
                        call.say(str(event.data.delta))
                except LoopTripped:
                    self._calls.pop(place, None)
                    streamed.cancel()
                    raise
            yield event

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
        """The reply is complete."""
        call = self._calls.pop((id(context.usage), id(agent)), None)
        if call is not None:
            call.report(_figures(response.usage))


def _feature_is_said() -> bool:
    return current().feature is not None or current_run() is not None


def _figures(usage: Any) -> Usage | None:
    if usage is None or not usage.total_tokens:
        return None
    return Usage(
        input_tokens=usage.input_tokens,
        cache_read_input_tokens=getattr(usage.input_tokens_details, "cached_tokens", None),
        output_tokens=usage.output_tokens,
        reasoning_output_tokens=getattr(usage.output_tokens_details, "reasoning_tokens", None),
    )
