"""LangChain and LangGraph: a callback handler, ``graph.invoke(…, config={"callbacks": [handler]})``.

Every chat model and LLM below it is logged, whoever's it is, counted in the agent run around it, and
cut where a ``guard`` is set and its tokens stream in. Do not wrap the same model's client besides: it
would be logged twice.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple
from uuid import UUID

from loopwatch.errors import LoopTripped, MissingPackage
from loopwatch.sdk.labels import labels_in
from loopwatch.sdk.reporting import Reported, begin
from loopwatch.sdk.runs import AgentRun, current_run
from loopwatch.sdk.steps import arguments_of
from loopwatch.sdk.tracker import Tracker
from loopwatch.wire.usage import Usage

try:
    from langchain_core.callbacks import BaseCallbackHandler
    from langchain_core.messages import BaseMessage
    from langchain_core.outputs import LLMResult
except ImportError:
    raise MissingPackage("LangChain is not installed: pip install langchain-core") from None


class _Tool(NamedTuple):
    """One use of a tool, under way."""

    run: AgentRun
    name: str
    args: Mapping[str, Any]


class TrackerHandler(BaseCallbackHandler):
    """Tells a tracker of LangChain's calls.

    The labels are those of ``tracker.user`` around the call, or the keys ``user_id``, ``feature`` and
    ``plan`` of the run's ``metadata``. What tools are called with and answer is shown to the step monitor
    of the agent run around it. CapReached, LimitExceeded, AgentLoop and LoopTripped end the run.
    """

    raise_error = True
    run_inline = True

    def __init__(self, tracker: Tracker) -> None:
        self._tracker = tracker
        self._calls: dict[UUID, Reported] = {}
        self._tools: dict[UUID, _Tool] = {}

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """A chat model is about to be asked."""
        texts = [{"content": str(message.text)} for batch in messages for message in batch]
        self._begin(run_id, metadata or {}, serialized, kwargs, texts)

    def on_llm_start(
        self,
        serialized: dict[str, Any],
        prompts: list[str],
        *,
        run_id: UUID,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """A text model is about to be asked."""
        self._begin(run_id, metadata or {}, serialized, kwargs, [{"content": prompt} for prompt in prompts])

    def on_llm_new_token(self, token: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """A piece of the reply has come. Raises LoopTripped."""
        del kwargs
        call = self._calls.get(run_id)
        if call is None or not isinstance(token, str):
            return
        try:
            call.say(token)
        except LoopTripped:
            self._calls.pop(run_id, None)
            raise

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        """The reply is complete."""
        del kwargs
        call = self._calls.pop(run_id, None)
        if call is not None:
            call.report(*_figures(response))

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """There is no reply."""
        del error, kwargs
        call = self._calls.pop(run_id, None)
        if call is not None:
            call.fail()

    def on_tool_start(
        self,
        serialized: dict[str, Any] | None,
        input_str: str,
        *,
        run_id: UUID,
        inputs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """A tool is about to be used."""
        name = str(kwargs.get("name") or (serialized or {}).get("name") or "tool")
        run = current_run()
        if run is not None:
            self._tools[run_id] = _Tool(run, name, inputs if inputs is not None else arguments_of(input_str))

    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """A tool has answered. Raises AgentLoop."""
        del kwargs
        used = self._tools.pop(run_id, None)
        if used is not None:
            result = str(getattr(output, "content", output))
            failed = getattr(output, "status", None) == "error"
            used.run.observe_tool(used.name, used.args, result, error=result if failed else None)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """A tool has failed. Raises AgentLoop."""
        del kwargs
        used = self._tools.pop(run_id, None)
        if used is not None:
            said = f"{type(error).__name__}: {error}"
            used.run.observe_tool(used.name, used.args, said, error=said)

    def _begin(
        self,
        run_id: UUID,
        metadata: dict[str, Any],
        serialized: dict[str, Any] | None,
        more: dict[str, Any],
        texts: list[dict[str, str]],
    ) -> None:
        params = more.get("invocation_params") or {}
        named = metadata.get("ls_model_name") or params.get("model") or params.get("model_name")
        model = named or (serialized or {}).get("name") or "unknown"
        self._calls[run_id] = begin(
            self._tracker,
            provider=str(metadata.get("ls_provider") or "unknown"),
            model=str(model),
            labels=labels_in(metadata),
            request={"messages": texts},
        )


def _figures(response: LLMResult) -> tuple[Usage | None, str | None]:
    """The usage and the model that a result tells of; LangChain's input includes what a cache gave."""
    for generations in response.generations:
        for generation in generations:
            message = getattr(generation, "message", None)
            usage = getattr(message, "usage_metadata", None)
            if usage:
                told = getattr(message, "response_metadata", None) or {}
                inputs = usage.get("input_token_details") or {}
                outputs = usage.get("output_token_details") or {}
                figures = Usage(
                    input_tokens=usage.get("input_tokens"),
                    cache_read_input_tokens=inputs.get("cache_read"),
                    cache_creation_input_tokens=inputs.get("cache_creation"),
                    output_tokens=usage.get("output_tokens"),
                    reasoning_output_tokens=outputs.get("reasoning"),
                )
                return figures, told.get("model_name") or told.get("model")
    return None, None
