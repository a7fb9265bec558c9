"""Sub-agents: their own profile, their own context, and the ceilings of each."""

from pathlib import Path
from typing import Any

from loopwatch.testing.answers import Answer, answer
from loopwatch.testing.exchange import Request, Stream
from loopwatch.testing.steps import Usage
from tests.agent.runs import Ended, calls, capabilities, finish, profile, run

LEAD = profile(id="lead", name="Lead", capabilities=capabilities("spawn"), subagents=["worker"])
WORKER = profile(id="worker", name="Worker", slug="hand", capabilities=capabilities("files"))
LIST = calls(("list_files", {}))


def spawn(*tasks: str, agent: str = "hand", **fields: Any) -> Answer:
    return calls(*[("spawn", {"agent": agent, "task": task}) for task in tasks], **fields)


def who(request: Request) -> str:
    """Whose request it is."""
    return str(request.body["messages"][0]["content"]).split()[2].rstrip(".")


def by_agent(**scripts: list[Answer]) -> Any:
    """An answer to each agent in its turn, the last one again."""

    def answer_to(request: Request) -> Answer:
        script = scripts[who(request).lower()]
        return script.pop(0) if len(script) > 1 else script[0]

    return answer_to


def tool_results(done: Ended) -> list[str]:
    return [message["content"] for message in done.messages() if message["role"] == "tool"]


async def test_a_sub_agent_does_a_part_and_its_result_comes_back(tmp_path: Path) -> None:
    script = by_agent(
        lead=[spawn("Count.", usage=Usage(1, 1, cost=0.1)), finish("It is 3.")],
        worker=[LIST, finish("3", usage=Usage(1, 1, cost=0.01))],
    )
    done = await run(tmp_path, script, agents=(LEAD, WORKER))
    assert (done.result.status, done.result.result) == ("completed", "It is 3.")
    assert tool_results(done) == ["3"]
    figures = done.summary
    assert (figures["agentsSpawned"], figures["subagentCount"], figures["maxSubagentDepth"]) == (1, 1, 1)
    assert [(slot["profileId"], slot["workCost"]) for slot in figures["slotCosts"]] == [
        ("lead", 0.1),
        ("worker", 0.01),
    ]
    assert done.outcomes("hand-1") == ["progressed", "finished"]
    assert [agent.get("status") for agent in done.of("agent", agent="hand-1")] == [None, "completed"]
    contexts = done.journal.contexts
    assert [message["content"] for message in contexts["hand-1"]][1] == "Count."
    assert set(contexts) == {"lead", "hand-1"}


async def test_sub_agents_side_by_side_need_no_more_places_than_there_are(tmp_path: Path) -> None:
    script = by_agent(lead=[spawn("A.", "B.", "C."), finish()], worker=[finish("x")])
    done = await run(tmp_path, script, agents=(LEAD, WORKER), limits={"maxParallel": 1})
    assert done.result.status == "completed"
    assert tool_results(done) == ["x", "x", "x"]
    assert (done.summary["agentsSpawned"], done.summary["subagentCount"]) == (3, 1)


async def test_no_more_agents_ask_at_the_same_time_than_may(tmp_path: Path) -> None:
    at_work, most = 0, 0

    class Count:
        """Counts how many replies are under way."""

        async def play(self, stream: Stream) -> None:
            nonlocal at_work, most
            at_work += 1
            most = max(most, at_work)
            await stream.sleep(0.1)
            at_work -= 1

    slow = finish("x")
    counted = Answer([Count(), *slow.steps])
    script = by_agent(lead=[spawn(*"ABCDE"), finish()], worker=[counted])
    done = await run(tmp_path, script, agents=(LEAD, WORKER), limits={"maxParallel": 2})
    assert done.result.status == "completed"
    assert most == 2


async def test_t12_a_sub_agent_that_is_stopped_is_a_breach_and_the_root_goes_on(tmp_path: Path) -> None:
    script = by_agent(lead=[spawn("A."), finish("without it")], worker=[answer("Prose.")])
    done = await run(tmp_path, script, agents=(LEAD, WORKER), limits={"maxConsecutiveErrors": 2})
    assert (done.result.status, done.result.exit_code) == ("completed", 3)
    assert (done.summary["limitHit"], done.summary["breaches"]) == (None, 1)
    assert tool_results(done) == ["Error: the agent ended without a result"]
    assert done.errors["maxConsecutive"] == 2


async def test_only_those_of_the_roster_and_no_more_than_allowed(tmp_path: Path) -> None:
    bounded = profile(
        id="lead", name="Lead", capabilities=capabilities("spawn", maxAgents=1), subagents=["worker"]
    )
    script = by_agent(
        lead=[spawn("A.", agent="stranger"), spawn("A."), spawn("B."), spawn(" "), finish()],
        worker=[finish("x")],
    )
    done = await run(tmp_path, script, agents=(bounded, WORKER))
    assert tool_results(done) == [
        "Error: agent must be one of hand, task a text",
        "x",
        "Error: no further agent can be started",
        "Error: agent must be one of hand, task a text",
    ]


async def test_agents_that_start_each_other_come_to_an_end(tmp_path: Path) -> None:
    deep = profile(id="lead", name="Lead", capabilities=capabilities("spawn", maxDepth=3), subagents=["lead"])

    def script(request: Request) -> Answer:
        results = [message for message in request.body["messages"] if message["role"] == "tool"]
        return finish(results[-1]["content"]) if results else spawn("Again.", agent="lead")

    done = await run(tmp_path, script, agents=(deep,))
    assert done.result.result == "Error: no further agent can be started"
    assert done.summary["maxSubagentDepth"] == 3


async def test_a_program_may_start_sub_agents(tmp_path: Path) -> None:
    lead = LEAD | {"capabilities": capabilities("spawn", "responses-as-code")}
    code = answer("```python\nfinish(spawn('hand', 'Count.') + '!')\n```")
    script = by_agent(lead=[code], worker=[finish("3")])
    done = await run(tmp_path, script, agents=(lead, WORKER), limits={"maxParallel": 1})
    assert (done.result.status, done.result.result) == ("completed", "3!")
