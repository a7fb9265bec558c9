import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import openai
import pytest
from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from agents.exceptions import AgentsException
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from loopwatch.errors import LimitExceeded, LoopTripped, MissingPackage, NotAClient
from loopwatch.sdk.langchain import TrackerHandler
from loopwatch.sdk.litellm import callback
from loopwatch.sdk.openai_agents import TrackerHooks
from loopwatch.sdk.tracker import Tracker
from tests.sdk.conftest import Track
from tests.sdk.vendors import LOOP, TEXT, Collector, Vendors

ROOT = Path(__file__).parents[2]
SAID = "".join(TEXT)


def model(text: str = SAID) -> GenericFakeChatModel:
    usage: Any = {
        "input_tokens": 100,
        "output_tokens": 20,
        "total_tokens": 120,
        "input_token_details": {"cache_read": 40},
        "output_token_details": {"reasoning": 5},
    }
    said = AIMessage(text, usage_metadata=usage, response_metadata={"model_name": "m-1"})
    return GenericFakeChatModel(messages=iter([said] * 9))


def test_langchain(track: Track, collector: Collector) -> None:
    tracker = track()
    handler = TrackerHandler(tracker)
    with tracker.user("u1"), tracker.agent("a", max_iterations=2) as run:
        model().invoke("Why?", {"callbacks": [handler], "metadata": {"feature": "research"}})
        pieces = list(model().stream("Why?", {"callbacks": [handler]}))
        assert "".join(str(piece.content) for piece in pieces) == SAID
        with pytest.raises(LimitExceeded):
            model().invoke("Why?", {"callbacks": [handler]})
    assert run.iterations == 2
    assert tracker.flush()
    first, second = collector.rows
    expected = {"userId": "u1", "feature": "research", "inputTokens": 100, "cacheReadInputTokens": 40}
    assert first.items() >= (expected | {"outputTokens": 20, "responseModel": "m-1"}).items()
    assert second["feature"] == "a"
    assert second["usageSource"] == "estimated"  # this fake model streams no usage


async def test_langchain_async_and_a_loop(track: Track, collector: Collector) -> None:
    tracker = track(guard="balanced")
    handler = TrackerHandler(tracker)
    await model().ainvoke("Why?", {"callbacks": [handler]})
    with pytest.raises(LoopTripped):
        async for _ in model(LOOP * 99).astream("Why?", {"callbacks": [handler]}):
            pass
    assert tracker.flush()
    assert [row.get("loopAborts", 0) for row in collector.rows] == [0, 1]


def test_langchain_s_failure_is_logged(track: Track, collector: Collector) -> None:
    tracker = track()
    with pytest.raises(StopIteration):
        GenericFakeChatModel(messages=iter([])).invoke("Why?", {"callbacks": [TrackerHandler(tracker)]})
    assert tracker.flush()
    assert collector.rows[0]["usageSource"] == "unknown"


def test_a_model_of_langchain_s_is_told_where_to_go() -> None:
    with pytest.raises(NotAClient, match=r"give LangChain the handler of loopwatch.sdk.langchain"):
        Tracker(local=True).wrap(model())


async def test_openai_agents(vendors: Vendors, track: Track, collector: Collector) -> None:
    set_tracing_disabled(disabled=True)
    tracker = track()
    async with openai.AsyncOpenAI(api_key="sk", base_url=f"{vendors.url}/v1") as client:
        agent = Agent(name="greeter", model=OpenAIChatCompletionsModel("gpt-4o-mini", client))
        hooks = TrackerHooks(tracker)
        with tracker.user("u1"), tracker.agent("outer", max_iterations=1):
            result = await Runner.run(agent, "Why?", hooks=hooks)
            assert result.final_output == SAID
            with pytest.raises((LimitExceeded, AgentsException)):
                await Runner.run(agent, "Why?", hooks=hooks)
        await Runner.run(agent, "Why?", hooks=hooks)
    assert len(vendors.requests) == 2
    assert tracker.flush()
    first, second = collector.rows
    expected = {"userId": "u1", "feature": "outer", "requestModel": "gpt-4o-mini", "inputTokens": 100}
    assert first.items() >= (expected | {"outputTokens": 20, "cacheReadInputTokens": 40}).items()
    assert second["feature"] == "greeter"


@pytest.fixture
def litellm() -> Iterator[None]:
    """A stub of LiteLLM's documented interface: the package itself is not among our tools."""
    names = ("litellm", "litellm.integrations", "litellm.integrations.custom_logger")
    for name in names:
        sys.modules[name] = ModuleType(name)
    setattr(sys.modules[names[2]], "CustomLogger", type("CustomLogger", (), {}))  # noqa: B010  not known to mypy
    yield
    for name in names:
        del sys.modules[name]


@pytest.mark.usefixtures("litellm")
async def test_litellm(track: Track, collector: Collector) -> None:
    tracker = track()
    told = callback(tracker)
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 40}}
    params = {"metadata": {"user_id": "u1", "feature": "f"}}
    call = {"model": "gpt-4o", "custom_llm_provider": "openai", "litellm_params": params}
    response = {"model": "gpt-4o-2024-08-06", "usage": usage}
    rest = {"start_time": None, "end_time": None}
    told.log_success_event(call | {"litellm_call_id": "1"}, response, None, None)
    again = call | {"litellm_call_id": "1"}
    await told.async_log_success_event(kwargs=again, response_obj=response, **rest)
    with tracker.user("u2"):
        failed = {"model": "x", "litellm_call_id": "2"}
        await told.async_log_failure_event(kwargs=failed, response_obj=None, **rest)
    assert tracker.flush()
    first, second = collector.rows
    expected = {"userId": "u1", "feature": "f", "provider": "openai", "inputTokens": 100, "outputTokens": 20}
    assert first.items() >= expected.items()
    assert (second["userId"], second["usageSource"]) == ("u2", "unknown")


def test_litellm_that_is_not_installed_is_named() -> None:
    with pytest.raises(MissingPackage, match="pip install litellm"):
        callback(Tracker(local=True))


def test_the_program_of_the_how_to_runs(vendors: Vendors) -> None:
    page = (ROOT / "docs/howto/track-your-calls.md").read_text(encoding="utf-8")
    program = page.partition("```python\n")[2].partition("```")[0]
    env = os.environ | {"OPENAI_BASE_URL": f"{vendors.url}/v1", "OPENAI_API_KEY": "none"}
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=env)
    assert (done.returncode, done.stdout, done.stderr) == (0, SAID, "")


@pytest.mark.parametrize(
    ("example", "said"),
    [
        ("track_langchain.py", "the run is at 2 of 2 iterations"),
        ("track_openai_agents.py", "1 call, "),
    ],
)
def test_an_example_runs(example: str, said: str) -> None:
    command = [sys.executable, str(ROOT / "examples" / example)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr  # LangChain logs what a handler raises
    assert said in done.stdout
    assert "Hello." in done.stdout
