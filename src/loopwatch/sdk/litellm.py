"""LiteLLM: a callback, ``litellm.callbacks = [callback(tracker)]``.

LiteLLM itself is not among our tools, since two of its releases stole credentials: a slow test has one of its
own, pinned (requirements/litellm.txt). It calls its callbacks by the names of their arguments, and swallows
what they raise, so calls are logged here and nothing is refused: caps and ceilings need the wrapped client,
or the proxy.
"""

from collections import OrderedDict
from importlib import import_module
from typing import Any

from loopwatch.errors import LoopwatchError, MissingPackage
from loopwatch.sdk.labels import labels_in
from loopwatch.sdk.reporting import Reported
from loopwatch.sdk.tracker import Tracker
from loopwatch.wire.usage import Usage, of_openai

REMEMBERED = 1_000
"""Calls that are known to be logged: LiteLLM may tell of one twice, as a sync and as an async call."""


def callback(tracker: Tracker) -> Any:
    """An object for ``litellm.callbacks`` that logs every call.

    The labels are those of ``tracker.user`` around the call, or the keys ``user_id``, ``feature`` and
    ``plan`` of its ``metadata``. Raises MissingPackage.
    """
    try:
        CustomLogger: Any = import_module("litellm.integrations.custom_logger").CustomLogger  # noqa: N806
    except ImportError:
        raise MissingPackage("LiteLLM is not installed: pip install litellm") from None
    log = _Log(tracker)

    def on_success(_self: Any, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
        del start_time, end_time
        log.add(kwargs, response_obj)

    def on_failure(_self: Any, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
        del response_obj, start_time, end_time
        log.add(kwargs, None)

    async def on_success_async(
        _self: Any, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        on_success(_self, kwargs, response_obj, start_time, end_time)

    async def on_failure_async(
        _self: Any, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        on_failure(_self, kwargs, response_obj, start_time, end_time)

    methods = {
        "log_success_event": on_success,
        "log_failure_event": on_failure,
        "async_log_success_event": on_success_async,
        "async_log_failure_event": on_failure_async,
    }
    return type("TrackerCallback", (CustomLogger,), methods)()


class _Log:
    def __init__(self, tracker: Tracker) -> None:
        self._tracker = tracker
        self._seen: OrderedDict[str, None] = OrderedDict()

    def add(self, kwargs: dict[str, Any], response: Any) -> None:
        """Log a call that LiteLLM tells of; its answer is None where it failed."""
        key = str(kwargs.get("litellm_call_id") or "")
        if key and key in self._seen:
            return
        self._seen[key] = None
        if len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)
        metadata = (kwargs.get("litellm_params") or {}).get("metadata") or {}
        try:
            question = self._tracker.admission.question(
                format="openai",
                base_url="",
                model=str(kwargs.get("model") or "unknown"),
                labels=labels_in(metadata),
                body={},
                streams=False,
            )
        except LoopwatchError as error:  # a plan that is unknown, say: LiteLLM would swallow it
            self._tracker.admission.desk.lost(error)
            return
        question.provider = str(kwargs.get("custom_llm_provider") or "unknown")
        call = Reported(question, self._tracker.admission.desk)
        if response is None:
            call.fail()
        else:
            call.report(_figures(response), _get(response, "model"))


def _figures(response: Any) -> Usage | None:
    """LiteLLM's usage, which has OpenAI's names whoever answered."""
    usage = _get(response, "usage")
    dump = getattr(usage, "model_dump", None)
    figures = dump() if callable(dump) else usage
    return of_openai(figures) if isinstance(figures, dict) else None


def _get(response: Any, name: str) -> Any:
    return response.get(name) if isinstance(response, dict) else getattr(response, name, None)
