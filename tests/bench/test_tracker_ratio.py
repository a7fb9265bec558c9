"""What a tracked call costs while the loopwatch server is down, against the bare vendor call: ratios, printed."""

import socket
import time
from collections.abc import Callable
from typing import Any

import openai
import pytest

from loopwatch import Tracker
from tests.sdk.vendors import Vendors

CALLS = 12
ROUNDS = 50
ASK: Any = [{"role": "user", "content": "Why is the sky blue?"}]


def whole(client: openai.OpenAI) -> None:
    client.chat.completions.create(model="gpt-4o-mini", messages=ASK)


def streamed(client: openai.OpenAI) -> None:
    for _ in client.chat.completions.create(
        model="gpt-4o-mini", messages=ASK, stream=True, stream_options={"include_usage": True}
    ):
        pass


def seconds(call: Callable[[openai.OpenAI], None], client: openai.OpenAI) -> float:
    began = time.perf_counter()
    for _ in range(CALLS):
        call(client)
    return (time.perf_counter() - began) / CALLS


@pytest.mark.parametrize("call", [whole, streamed])
def test_a_tracked_call_against_a_bare_one(
    call: Callable[[openai.OpenAI], None], capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{free.getsockname()[1]}"
    tracker = Tracker(api_key="lw_key", endpoint=nowhere, guard="balanced")
    with Vendors().running() as vendors, openai.OpenAI(api_key="sk", base_url=f"{vendors.url}/v1") as bare:
        wrapped = tracker.wrap(bare)
        pairs: list[tuple[float, float]] = []
        with tracker.user("u1", feature="bench", plan="pro"):
            for client in (bare, wrapped):
                seconds(call, client)  # imports, and whatever else comes once
            for turn in range(ROUNDS):
                order = (bare, wrapped) if turn % 2 else (wrapped, bare)
                times = {client is wrapped: seconds(call, client) for client in order}
                pairs.append((times[False], times[True]))
    tracker.close(0)
    plain = min(theirs for theirs, _ in pairs)  # a shared machine only ever adds
    ratio = min(ours for _, ours in pairs) / plain
    said = f"a tracked call, {call.__name__}, server down: {ratio:.3f}x the bare one (budget 1.1x)"
    with capsys.disabled():
        print(f"\n{said}, which takes {plain * 1_000:.2f} ms")  # noqa: T201  what `make bench` is for
