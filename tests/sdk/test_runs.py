import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai
import pytest

from loopwatch import StepLoop, StepMonitor
from loopwatch.clock import ManualClock
from loopwatch.errors import AgentLoop, LimitExceeded, SettingsError
from loopwatch.sdk import AgentRun, in_context
from loopwatch.sdk.tracker import Tracker
from tests.sdk.vendors import Vendors

ASK: Any = [{"role": "user", "content": "Go on."}]


@pytest.fixture
def client(vendors: Vendors) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(api_key="sk", base_url=f"{vendors.url}/v1") as made:
        yield made


def call(client: openai.OpenAI, messages: Any = ASK) -> Any:
    return client.chat.completions.create(model="gpt-4o-mini", messages=messages)


def test_the_call_past_the_limit_is_not_made(client: openai.OpenAI, vendors: Vendors) -> None:
    tracker = Tracker(local=True)
    wrapped = tracker.wrap(client)
    with tracker.agent("a", max_iterations=2) as run:
        call(wrapped)
        call(wrapped)
        with pytest.raises(LimitExceeded, match="the run is at 2 of 2 iterations") as caught:
            call(wrapped)
    assert (caught.value.kind, caught.value.value, caught.value.limit) == ("iterations", 2, 2)
    assert (run.iterations, len(vendors.requests), run.tokens) == (2, 2, 240)
    call(wrapped)  # outside there is no limit


def test_of_calls_side_by_side_no_more_begin_than_may(client: openai.OpenAI, vendors: Vendors) -> None:
    tracker = Tracker(local=True)
    wrapped = tracker.wrap(client)

    def attempt(_: int) -> bool:
        try:
            call(wrapped)
        except LimitExceeded:
            return False
        return True

    with tracker.agent("a", max_iterations=5), ThreadPoolExecutor(8) as pool:
        made = list(pool.map(in_context(attempt), range(16)))
    assert (sum(made), len(vendors.requests)) == (5, 5)


def test_cost_ends_a_run(client: openai.OpenAI) -> None:
    tracker = Tracker(local=True, provider="openai")
    wrapped = tracker.wrap(client)
    with tracker.agent("a", max_cost=0.00002) as run:
        call(wrapped)
        assert 0.00001 < run.cost < 0.00003
        with pytest.raises(LimitExceeded, match="cost"):
            call(wrapped)
    assert run.unpriced == 0
    assert "AgentRun('a', 1 calls" in repr(run)


def test_time_ends_a_run(client: openai.OpenAI) -> None:
    clock = ManualClock()
    tracker = Tracker(local=True, clock=clock)
    with tracker.agent("a", max_seconds=10) as run:
        call(tracker.wrap(client))
        clock.advance(10)
        with pytest.raises(LimitExceeded, match="at 10 of 10 seconds"):
            run.check()


def test_an_agent_within_another_spends_its_budget(client: openai.OpenAI) -> None:
    tracker = Tracker(local=True)
    wrapped = tracker.wrap(client)
    with tracker.agent("outer", max_iterations=3) as outer:
        call(wrapped)
        with tracker.agent("inner", max_iterations=50) as inner:
            call(wrapped)
            call(wrapped)
            with pytest.raises(LimitExceeded) as caught:
                call(wrapped)
        assert caught.value.limit == 3
        assert (outer.iterations, inner.iterations) == (3, 2)
        assert outer.tokens == 360


async def test_tasks_belong_to_the_run_they_are_started_in(vendors: Vendors) -> None:
    tracker = Tracker(local=True)
    async with openai.AsyncOpenAI(api_key="sk", base_url=f"{vendors.url}/v1") as client:
        wrapped = tracker.wrap(client)

        async def agent(name: str, times: int) -> int:
            async with tracker.agent(name) as run:
                await asyncio.gather(
                    *(wrapped.chat.completions.create(model="m", messages=ASK) for _ in range(times))
                )
            return run.iterations

        assert tuple(await asyncio.gather(agent("a", 1), agent("b", 3))) == (1, 3)


class ThreeAlike:
    """A monitor that wants no third equal step."""

    def __init__(self) -> None:
        self.steps: list[Any] = []

    def observe(self, step: Any) -> str | None:
        self.steps.append(step)
        alike = [
            one
            for one in self.steps
            if (one.tool, one.args, one.result) == (step.tool, step.args, step.result)
        ]
        return "the same again" if len(alike) == 3 else None


def work(client: openai.OpenAI, times: int = 9) -> None:
    messages = list(ASK)
    for _ in range(times):
        reply = call(client, messages).choices[0].message
        messages += [reply, {"role": "tool", "tool_call_id": reply.tool_calls[0].id, "content": "nothing"}]


def test_a_monitor_reads_the_steps_that_calls_show(client: openai.OpenAI, vendors: Vendors) -> None:
    vendors.tools = [{"id": f"call_{n}", "name": "search", "args": {"q": "x"}} for n in range(9)]
    tracker, monitor = Tracker(local=True), ThreeAlike()
    wrapped = tracker.wrap(client)
    run = tracker.agent("researcher", max_iterations=9, steps=monitor)
    with run, pytest.raises(AgentLoop, match="the same again"):
        work(wrapped)
    assert len(vendors.requests) == 3
    (step, *_) = monitor.steps
    assert (step.role, step.tool, step.args, step.result) == ("researcher", "search", {"q": "x"}, "nothing")
    assert "nothing" not in repr(step)


def test_the_step_monitor_ends_a_run_that_goes_in_circles(client: openai.OpenAI, vendors: Vendors) -> None:
    vendors.tools = [{"id": f"call_{n}", "name": "search", "args": {"q": "x"}} for n in range(30)]
    tracker = Tracker(local=True)
    wrapped = tracker.wrap(client)
    with tracker.agent("researcher", steps=StepMonitor()), pytest.raises(AgentLoop) as caught:
        work(wrapped, 30)
    assert isinstance(caught.value.loop, StepLoop)
    assert caught.value.loop.rule == "repeat"
    assert 4 <= len(vendors.requests) < 12


def test_a_run_is_entered_once_and_limits_are_numbers() -> None:
    tracker = Tracker(local=True)
    run = tracker.agent("a")
    with run, pytest.raises(SettingsError, match="begun already"):
        run.__enter__()
    with pytest.raises(SettingsError, match="max_cost is -1"):
        tracker.agent("a", max_cost=-1)


def test_labels_reach_threads_that_are_started_in_context(client: openai.OpenAI) -> None:
    seen: list[Any] = []
    tracker = Tracker(local=True, on_velocity=seen.append, token_threshold=1)
    wrapped = tracker.wrap(client)
    with tracker.user("u1", feature="f"):
        thread = threading.Thread(target=in_context(call), args=(wrapped,))
    thread.start()
    thread.join()
    assert [(one.user_id, one.feature) for one in seen] == [("u1", "f")]


def forget_answers(client: openai.OpenAI) -> None:
    """A program that never hands on what its tools answer."""
    for _ in range(30):
        call(client)


def search_on(client: openai.OpenAI, run: AgentRun) -> None:
    for _ in range(9):
        call(client)
        run.observe_tool("search", {"q": "x"}, "nothing found")


def test_a_call_that_is_made_again_for_want_of_an_answer_is_a_step_without_one(
    client: openai.OpenAI, vendors: Vendors
) -> None:
    vendors.tools = [{"id": f"call_{n}", "name": "fetch", "args": {"q": "x"}} for n in range(30)]
    tracker = Tracker(local=True)
    wrapped = tracker.wrap(client)
    with tracker.agent("forgetful", steps=StepMonitor()) as run, pytest.raises(AgentLoop):
        forget_answers(wrapped)
    assert 5 <= run.iterations < 12


def test_the_same_call_of_agents_side_by_side_is_no_call_made_again(
    client: openai.OpenAI, vendors: Vendors
) -> None:
    vendors.tools = [{"id": f"call_{n}", "name": "read_style", "args": {}} for n in range(16)]
    vendors.answer_pause = 0.05
    tracker = Tracker(local=True)
    wrapped = tracker.wrap(client)

    def ask(_: int) -> Any:
        return call(wrapped)

    with tracker.agent("lead", steps=StepMonitor()) as run, ThreadPoolExecutor(8) as pool:
        assert len(list(pool.map(in_context(ask), range(16)))) == 16
    assert run.iterations == 16


def test_a_tool_that_no_request_shows_is_told(client: openai.OpenAI) -> None:
    tracker = Tracker(local=True)
    wrapped = tracker.wrap(client)
    run = tracker.agent("finder", steps=StepMonitor())
    with run, pytest.raises(AgentLoop):
        search_on(wrapped, run)
    with tracker.agent("unwatched") as unwatched:
        unwatched.observe_tool("search", {}, "nothing")
