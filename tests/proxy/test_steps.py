"""An agent that goes in circles, seen in what its requests repeat."""

import json
from typing import Any, get_args

import pytest

from loopwatch.clock import ManualClock
from loopwatch.proxy.conversations import Conversations
from loopwatch.testing.answers import answer
from loopwatch.testing.provider import scripted_provider
from loopwatch.wire.assembly import Format
from tests.proxy.house import lines_of, proxied

FORMATS = get_args(Format)
USER = "Mend the test, please."


def body(spoken: str, rounds: int, *, result: str = "1 failed", vary: bool = False) -> dict[str, Any]:
    """The request of an agent that has run the same tool so many times."""
    args = [{"command": f"pytest {number}" if vary else "pytest"} for number in range(rounds)]
    results = [f"{result} {number}" if vary else result for number in range(rounds)]
    keys = [f"c{number}" for number in range(rounds)]
    every = list(zip(keys, args, results, strict=True))
    if spoken == "responses":
        items: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "input_text", "text": USER}]}]
        for key, arg, said in every:
            call = {"type": "function_call", "call_id": key, "name": "shell", "arguments": json.dumps(arg)}
            items += [call, {"type": "function_call_output", "call_id": key, "output": said}]
        return {"model": "m", "input": items}
    if spoken == "anthropic":
        messages: list[dict[str, Any]] = [{"role": "user", "content": USER}]
        for key, arg, said in every:
            use = {"type": "tool_use", "id": key, "name": "shell", "input": arg}
            answered = {
                "type": "tool_result",
                "tool_use_id": key,
                "content": [{"type": "text", "text": said}],
            }
            reminder = {"type": "text", "text": "<system-reminder>Carry on.</system-reminder>"}
            messages.append({"role": "assistant", "content": [{"type": "text", "text": "Again."}, use]})
            messages.append({"role": "user", "content": [answered, reminder]})
        return {"model": "m", "messages": messages}
    if spoken == "gemini":
        contents: list[dict[str, Any]] = [{"role": "user", "parts": [{"text": USER}]}]
        for _, arg, said in every:
            contents.append({"role": "model", "parts": [{"functionCall": {"name": "shell", "args": arg}}]})
            response = {"functionResponse": {"name": "shell", "response": {"output": said}}}
            contents.append({"role": "user", "parts": [response]})
        return {"contents": contents}
    chat: list[dict[str, Any]] = [{"role": "user", "content": USER}]
    for key, arg, said in every:
        given = arg if spoken == "ollama" else json.dumps(arg)
        used: dict[str, Any] = {"function": {"name": "shell", "arguments": given}}
        identity = {} if spoken == "ollama" else {"id": key}
        chat.append({"role": "assistant", "content": "", "tool_calls": [identity | used]})
        name = {"tool_name": "shell"} if spoken == "ollama" else {"tool_call_id": key}
        chat.append({"role": "tool", "content": said, **name})
    return {"model": "m", "messages": chat}


@pytest.mark.parametrize("spoken", FORMATS)
async def test_the_same_call_again_and_again_is_seen_in_every_format(spoken: Format) -> None:
    clock = ManualClock()
    conversations = Conversations(clock)
    seen = []
    for rounds in range(1, 12):
        clock.advance(3)
        seen.append(conversations.read(spoken, body(spoken, rounds), "u1"))
        conversations.read(spoken, body(spoken, rounds), "u1")  # a client asks again: that is no step
    first = next(found for found in seen if found is not None)
    assert seen.index(first) in range(4, 9)
    assert (first.loop.rule, first.is_news) == ("repeat", True)
    assert all(found is not None and not found.is_news for found in seen[seen.index(first) + 1 :])
    assert len(conversations) == 1


@pytest.mark.parametrize("spoken", FORMATS)
async def test_work_that_goes_on_is_none(spoken: Format) -> None:
    clock = ManualClock()
    conversations = Conversations(clock)
    for rounds in range(1, 30):
        clock.advance(3)
        assert conversations.read(spoken, body(spoken, rounds, result="passed", vary=True), "u1") is None


async def test_callers_are_kept_apart_and_only_so_many_conversations_are_followed() -> None:
    conversations = Conversations(ManualClock(), most=10)
    for number in range(50):
        conversations.read("openai", body("openai", 3, result=f"result {number}"), f"u{number}")
    assert len(conversations) == 10


async def test_a_conversation_begun_before_the_proxy_is_read_with_patience() -> None:
    """Its steps may have been minutes apart: a poll is not called a loop for what we do not know."""
    conversations = Conversations(ManualClock())
    assert conversations.read("openai", body("openai", 9, result="still running"), "u1") is None


def again(rounds: int, more: str | None = None) -> dict[str, Any]:
    asked = body("openai", rounds) | {"stream": True}
    return (
        asked
        if more is None
        else {**asked, "messages": [*asked["messages"], {"role": "user", "content": more}]}
    )


async def test_a_warning_goes_to_the_log_and_a_header_and_never_into_the_conversation(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with scripted_provider(answer("Hm.")) as provider, proxied(provider.base_url) as proxy:
        headers = []
        for rounds in range(1, 12):
            asked = json.dumps(again(rounds)).encode()
            async with proxy.session.post(f"{proxy.v1}/chat/completions", data=asked) as answered:
                assert answered.status == 200
                assert b"loopwatch" not in await answered.read()
                headers.append(answered.headers.get("x-loopwatch-steps"))
            assert provider.requests[-1].raw == asked
        assert headers[0] is None
        assert headers[-1] == "repeat"
        (line,) = lines_of(caplog.records)
        assert "an agent of m goes in circles: the same call brought the same result" in line
        assert [told["event"] for told in proxy.told] == ["steps"]


async def test_a_block_is_an_answer_of_ours_until_the_user_says_something() -> None:
    async with (
        scripted_provider(answer("Hm.")) as provider,
        proxied(provider.base_url, on_steps="block") as proxy,
    ):

        async def ask(asked: dict[str, Any]) -> tuple[int, str]:
            async with proxy.session.post(f"{proxy.v1}/chat/completions", json=asked) as answered:
                return answered.status, (await answered.read()).decode()

        statuses = [(await ask(again(rounds)))[0] for rounds in range(1, 10)]
        assert statuses == sorted(statuses)
        asked = len(provider.requests)
        status, said = await ask(again(10))
        assert (status, json.loads(said)["error"]["code"]) == (422, "agent_loop")
        assert len(provider.requests) == asked
        assert (await ask(again(10, "Then try something else.")))[0] == 200
