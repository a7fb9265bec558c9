"""Agents of real frameworks, with tools, over a local server: steps, caps, ceilings and the guard reach them."""

from collections.abc import Iterator
from typing import Any

import openai
import pytest
from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, convert_to_openai_messages
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from loopwatch import StepMonitor
from loopwatch.errors import AgentLoop, CapReached, LimitExceeded, LoopTripped
from loopwatch.sdk.langchain import TrackerHandler
from loopwatch.sdk.openai_agents import TrackerHooks
from tests.sdk.conftest import Track
from tests.sdk.vendors import TEXT, Collector, Vendors

SAID = "".join(TEXT)
ASKED: dict[str, Any] = {"messages": [("user", "Find the ferry.")]}


@pytest.fixture(autouse=True)
def _no_traces() -> None:
    set_tracing_disabled(disabled=True)


class LocalChat(BaseChatModel):
    """A chat model of LangChain's that asks with OpenAI's client."""

    client: Any

    @property
    def _llm_type(self) -> str:
        return "local"

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        del stop, run_manager, kwargs
        asked: Any = convert_to_openai_messages(messages)
        answer = self.client.chat.completions.create(model="m", messages=asked)
        said = answer.choices[0].message
        wanted: Any = [
            {"id": call.id, "name": call.function.name, "args": {"query": "ferry"}}
            for call in said.tool_calls or ()
        ]
        usage: Any = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120}
        message = AIMessage(said.content or "", tool_calls=wanted, usage_metadata=usage)
        return ChatResult(generations=[ChatGeneration(message=message)])


@tool
def search(query: str) -> str:
    """Look for something."""
    if query == "fail":
        raise ValueError(query)
    return "nothing found"


@pytest.fixture
def graph(vendors: Vendors) -> Iterator[Any]:
    with openai.OpenAI(api_key="sk", base_url=f"{vendors.url}/v1") as client:
        model = LocalChat(client=client)

        def think(state: MessagesState) -> Any:
            return {"messages": [model.invoke(state["messages"])]}

        built = StateGraph(MessagesState)
        built.add_node("think", think)
        built.add_node("tools", ToolNode([search]))
        built.add_edge(START, "think")
        built.add_conditional_edges("think", tools_condition)
        built.add_edge("tools", "think")
        yield built.compile()


def wants(count: int) -> list[dict[str, Any]]:
    return [{"id": f"call_{n}", "name": "search", "args": {"query": "ferry"}} for n in range(count)]


def test_a_graph_s_agent_is_logged_with_its_labels(
    graph: Any, vendors: Vendors, track: Track, collector: Collector
) -> None:
    vendors.tools = wants(2)
    tracker = track()
    config = {"callbacks": [TrackerHandler(tracker)], "metadata": {"user_id": "u1", "feature": "ferries"}}
    answer = graph.invoke(ASKED, config)
    assert answer["messages"][-1].content == SAID
    assert tracker.flush()
    assert [(row["userId"], row["feature"], row["inputTokens"]) for row in collector.rows] == [
        ("u1", "ferries", 100)
    ] * 3


def test_a_graph_that_goes_in_circles_ends(graph: Any, vendors: Vendors, track: Track) -> None:
    vendors.tools = wants(40)
    tracker = track()
    config = {"callbacks": [TrackerHandler(tracker)], "recursion_limit": 99}
    with tracker.agent("finder", steps=StepMonitor()) as run, pytest.raises(AgentLoop):
        graph.invoke(ASKED, config)
    assert 4 <= run.iterations < 12


async def test_a_graph_on_asyncio_ends_alike(graph: Any, vendors: Vendors, track: Track) -> None:
    vendors.tools = wants(40)
    tracker = track()
    config = {"callbacks": [TrackerHandler(tracker)], "recursion_limit": 99}
    with tracker.agent("finder", steps=StepMonitor()), pytest.raises(AgentLoop):
        await graph.ainvoke(ASKED, config)


def test_a_ceiling_and_a_cap_end_a_graph(
    graph: Any, vendors: Vendors, track: Track, collector: Collector
) -> None:
    vendors.tools = wants(40)
    tracker = track()
    config: dict[str, Any] = {"callbacks": [TrackerHandler(tracker)], "recursion_limit": 99}
    with tracker.agent("finder", max_iterations=3), pytest.raises(LimitExceeded):
        graph.invoke(ASKED, config)
    assert len(vendors.requests) == 3
    collector.verdict = {"allowed": False, "currentSpend": 21.0, "cap": 20.0}
    with tracker.user("u1", plan="free"), pytest.raises(CapReached):
        graph.invoke(ASKED, config)
    assert len(vendors.requests) == 3


def test_a_tool_that_fails_is_a_step_that_failed(track: Track) -> None:
    steps: list[Any] = []

    class Notes:
        def observe(self, step: Any, /) -> None:
            steps.append(step)

    tracker = track()
    with tracker.agent("finder", steps=Notes()):
        with pytest.raises(ValueError, match="fail"):
            search.invoke({"query": "fail"}, {"callbacks": [TrackerHandler(tracker)]})
        search.invoke({"query": "x"}, {"callbacks": [TrackerHandler(tracker)]})
    assert [(step.tool, step.args, step.error) for step in steps] == [
        ("search", {"query": "fail"}, "ValueError: fail"),
        ("search", {"query": "x"}, None),
    ]


@function_tool
def look(query: str) -> str:
    """Look for something."""
    return f"nothing found for {query}"


def looks(count: int) -> list[dict[str, Any]]:
    return [{"id": f"call_{n}", "name": "look", "args": {"query": "ferry"}} for n in range(count)]


async def test_an_agent_of_openai_s_that_goes_in_circles_ends(vendors: Vendors, track: Track) -> None:
    vendors.tools = looks(40)
    tracker = track()
    async with openai.AsyncOpenAI(api_key="sk", base_url=f"{vendors.url}/v1") as client:
        model = OpenAIChatCompletionsModel("m", client)
        agent = Agent(name="finder", model=model, tools=[look])
        with tracker.agent("finder", steps=StepMonitor()) as run, pytest.raises(AgentLoop):
            await Runner.run(agent, "Find it.", hooks=TrackerHooks(tracker), max_turns=40)
    assert 4 <= run.iterations < 12


async def test_a_cap_ends_an_agent_of_openai_s(vendors: Vendors, track: Track, collector: Collector) -> None:
    collector.verdict = {"allowed": False, "currentSpend": 21.0, "cap": 20.0}
    tracker = track()
    async with openai.AsyncOpenAI(api_key="sk", base_url=f"{vendors.url}/v1") as client:
        agent = Agent(name="finder", model=OpenAIChatCompletionsModel("m", client))
        with tracker.user("u1", plan="free"), pytest.raises(CapReached):
            await Runner.run(agent, "Find it.", hooks=TrackerHooks(tracker))
    assert not vendors.requests


async def test_the_events_of_an_agent_s_stream_are_guarded(
    vendors: Vendors, track: Track, collector: Collector
) -> None:
    tracker = track(guard="balanced")
    hooks = TrackerHooks(tracker)
    async with openai.AsyncOpenAI(api_key="sk", base_url=f"{vendors.url}/v1") as client:
        agent = Agent(name="finder", model=OpenAIChatCompletionsModel("m", client))
        streamed = Runner.run_streamed(agent, "Find it.", hooks=hooks)
        assert [event async for event in hooks.events(streamed)]
        assert streamed.final_output == SAID
        vendors.loops = True
        streamed = Runner.run_streamed(agent, "Find it.", hooks=hooks)
        with pytest.raises(LoopTripped):
            async for _ in hooks.events(streamed):
                pass
    assert tracker.flush()
    assert [row.get("loopAborts", 0) for row in collector.rows] == [0, 1]


@pytest.mark.parametrize("model", [OpenAIChatCompletionsModel, OpenAIResponsesModel])
async def test_a_model_with_a_wrapped_client_has_it_all(
    vendors: Vendors, track: Track, collector: Collector, model: Any
) -> None:
    collector.verdict = {"allowed": False, "action": "downgrade", "alternativeModel": "small"}
    tracker = track(guard="balanced")
    async with openai.AsyncOpenAI(api_key="sk", base_url=f"{vendors.url}/v1") as client:
        agent = Agent(name="finder", model=model("m", tracker.wrap(client)), tools=[look])
        with tracker.user("u1", plan="pro"):
            assert (await Runner.run(agent, "Find it.")).final_output == SAID
        assert vendors.requests[0]["model"] == "small"
        vendors.loops = True
        with pytest.raises(LoopTripped):
            async for _ in Runner.run_streamed(agent, "Find it.").stream_events():
                pass
        vendors.loops, vendors.tools = False, looks(40)
        if model is OpenAIChatCompletionsModel:
            with tracker.agent("finder", steps=StepMonitor()), pytest.raises(AgentLoop):
                await Runner.run(agent, "Find it.", max_turns=40)
    assert tracker.flush()
    assert [row.get("loopAborts", 0) for row in collector.rows][:2] == [0, 1]
