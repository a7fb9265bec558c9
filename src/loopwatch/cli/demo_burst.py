"""What the demo's server sees of the agent: the loop that was cut, then a burst, and the alert about it."""

import uuid
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loopwatch.cli.demo_attempt import Attempt
    from loopwatch.cli.demo_server import Running
    from loopwatch.cli.demo_story import Narrator

USER = "usr_8f21c9"
FEATURE = "research-agent"
CALLS = 11
"""So many and no fewer cross 50,000 tokens."""
FIRST, MORE = 1_500, 680
"""Tokens of its first call, and by how many each next one is longer."""
PROMPT_TOKENS = 40


async def logged(narrator: "Narrator", server: "Running", model: str, attempts: "list[Attempt]") -> None:
    """Log the call that the attempts were, with what was thrown away."""
    trips = [attempt.trip for attempt in attempts if attempt.trip is not None]
    await server.price(model)
    row = _row(
        model,
        PROMPT_TOKENS,
        attempts[-1].tokens,
        usageSource="estimated",
        loopAborts=len(trips),
        loopAbortWords=sum(trip.words for trip in trips),
        loopAbortChars=sum(trip.chars for trip in trips),
        loopRule=trips[0].rule if trips else None,
    )
    await server.post("/api/v1/calls", [row])
    narrator.say(f"Logged: one call of {USER}, {len(trips)} cut on the way; the dashboard counts both.")


async def burst(narrator: "Narrator", server: "Running", model: str) -> None:
    """Have the agent go round, re-sending its history, until the server's alert has arrived."""
    narrator.title(
        f"\nThen the agent goes round: {CALLS} calls in no time, each with all that was said before."
    )
    whole = 0
    for step in range(CALLS):
        tokens = FIRST + MORE * step
        whole += tokens
        await server.post("/api/v1/log", _row(model, tokens, 20))
    narrator.say(
        f"{whole:,} tokens within 5 minutes; 50,000 alert. The server posts to Slack (here: to a sink):\n"
    )
    message = await server.sink.messages.get()
    for line in str(message["text"]).replace("```\n", "").splitlines():
        narrator.say(f"    {line}", style="yellow")
    await server.post("/api/v1/log", _row(model, FIRST, 20))
    narrator.say(
        f"\nIt goes on, and the number of alerts stays {await server.alerts()}: one a user in 30 minutes."
    )


def _row(model: str, input_tokens: int, output_tokens: int, **more: Any) -> dict[str, Any]:
    return {
        "eventId": str(uuid.uuid4()),
        "userId": USER,
        "feature": FEATURE,
        "provider": "local",
        "model": model,
        "inputTokens": input_tokens,
        "outputTokens": output_tokens,
        **more,
    }
