"""OpenAI's Agents SDK with a tracker, against a local server that answers as OpenAI does; no key needed.

python examples/track_openai_agents.py [BASE_URL]
"""

import asyncio
import sys

import openai
from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled

from loopwatch import Tracker
from loopwatch.sdk.openai_agents import TrackerHooks
from loopwatch.testing.answers import document
from loopwatch.testing.provider import scripted_provider


async def greet(base_url: str) -> None:
    """One run of one agent, with a ceiling."""
    set_tracing_disabled(disabled=True)
    tracker = Tracker(local=True)
    async with openai.AsyncOpenAI(base_url=base_url, api_key="none") as client:
        agent = Agent(name="greeter", model=OpenAIChatCompletionsModel("gpt-4o-mini", client))
        with tracker.user("u1"), tracker.agent("greeter", max_iterations=5) as run:
            result = await Runner.run(agent, "Greet me.", hooks=TrackerHooks(tracker))
    print(result.final_output)
    print(f"{run.iterations} call, {run.tokens} tokens")


async def main() -> None:
    """Greet by the server that is named, or by one of our own."""
    if len(sys.argv) > 1:
        await greet(sys.argv[1])
        return
    async with scripted_provider(document("Hello.")) as provider:
        await greet(provider.base_url)


if __name__ == "__main__":
    asyncio.run(main())
