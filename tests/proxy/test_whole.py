"""Answers that are asked for whole: guarded on the way, and equal to what the provider would have sent."""

import gzip
import json
from dataclasses import replace
from typing import Any

import pytest

from loopwatch.testing.answers import Answer, answer, document, looping, status
from loopwatch.testing.exchange import Request
from loopwatch.testing.provider import scripted_provider
from loopwatch.testing.steps import CallTool, Finish, Raw, Role
from tests.proxy.house import GUARD, LOOP, proxied
from tests.proxy.replies import EVERY, SSE, TEXT, Spoken, sse

ASK = {"model": "m", "messages": [{"role": "user", "content": "Hello?"}]}


@pytest.mark.parametrize("spoken", EVERY, ids=lambda spoken: spoken.name)
async def test_a_document_is_what_the_provider_would_have_sent(spoken: Spoken) -> None:
    async with scripted_provider(spoken.answers) as provider:
        base = provider.base_url
        async with (
            proxied(base) as proxy,
            proxy.session.post(proxy.url + spoken.path, json=spoken.ask) as answered,
        ):
            assert answered.status == 200
            assert answered.content_type == "application/json"
            assert json.loads(await answered.read()) == spoken.document
        (request,) = provider.requests
        assert request.body.get("stream") is True or request.query == {"alt": "sse"}
        (row,) = proxy.rows
        assert (row.input_tokens, row.output_tokens, row.usage_source) == (
            11 if spoken.name == "anthropic" else 9,
            4,
            "provider",
        )


@pytest.mark.parametrize(
    "more", [{"n": 2}, {"modalities": ["text", "audio"], "audio": {"voice": "x", "format": "wav"}}]
)
async def test_what_does_not_stream_alike_goes_through_untouched(more: dict[str, Any]) -> None:
    async with scripted_provider(document("Two.")) as provider, proxied(provider.base_url) as proxy:
        body = json.dumps(ASK | more).encode()
        async with proxy.session.post(f"{proxy.v1}/chat/completions", data=body) as answered:
            assert json.loads(await answered.read())["choices"][0]["message"]["content"] == "Two."
        assert provider.requests[0].raw == body


async def test_a_loop_ends_the_document_where_it_was_cut() -> None:
    async with scripted_provider(looping(LOOP)) as provider, proxied(provider.base_url) as proxy:
        async with proxy.session.post(f"{proxy.v1}/chat/completions", json=ASK) as answered:
            said = json.loads(await answered.read())
            assert answered.headers["x-loopwatch-trip"].startswith(
                "cycle; onset=0; chars=896; channel=content"
            )
        assert said["choices"][0]["finish_reason"] == "stop"
        assert said["choices"][0]["message"]["content"].startswith(LOOP * 5)
        await provider.requests[0].over()
        assert provider.requests[0].ended == "dropped"
        (row,) = proxy.rows
        assert (row.loop_aborts, row.loop_rule, row.usage_source) == (1, "cycle", "estimated")
        assert said["usage"]["completion_tokens"] == row.output_tokens > 0


async def test_a_loop_can_be_an_error() -> None:
    async with (
        scripted_provider(looping(LOOP)) as provider,
        proxied(provider.base_url, on_trip="error") as proxy,
        proxy.session.post(f"{proxy.v1}/chat/completions", json=ASK) as answered,
    ):
        assert answered.status == 502
        error = json.loads(await answered.read())["error"]
        assert (error["type"], error["code"]) == ("server_error", "model_response_loop")
        assert LOOP.strip() not in error["message"]


async def test_half_a_tool_call_is_never_handed_over() -> None:
    """The arguments loop: whatever the setting, the client must not run what came of them."""
    half = Answer([Role(), CallTool(id="c1", name="write", arguments=[LOOP] * 200), Finish("tool_calls")])
    async with (
        scripted_provider(half) as provider,
        proxied(provider.base_url, detection=replace(GUARD, channels=("content", "tools"))) as proxy,
        proxy.session.post(f"{proxy.v1}/chat/completions", json=ASK) as answered,
    ):
        assert answered.status == 502
        assert "tools" in json.loads(await answered.read())["error"]["message"]


async def test_a_gateway_that_will_not_stream_is_asked_as_the_client_asked_and_remembered() -> None:
    def gateway(request: Request) -> Answer:
        if request.body.get("stream"):
            return status(400, {"error": {"message": "Unknown field stream_options"}})
        return document("Whole.")

    async with scripted_provider(gateway) as provider, proxied(provider.base_url) as proxy:
        for _ in range(2):
            async with proxy.session.post(f"{proxy.v1}/chat/completions", json=ASK) as answered:
                assert json.loads(await answered.read())["choices"][0]["message"]["content"] == "Whole."
        assert [request.body.get("stream") for request in provider.requests] == [True, None, None]


async def test_a_refusal_is_the_providers_own() -> None:
    refused = status(400, {"error": {"message": "no such model", "type": "invalid_request_error"}})
    async with scripted_provider(refused) as provider, proxied(provider.base_url) as proxy:
        async with proxy.session.post(f"{proxy.v1}/chat/completions", json=ASK) as answered:
            assert answered.status == 400
            assert json.loads(await answered.read())["error"]["message"] == "no such model"
        assert len(provider.requests) == 1


@pytest.mark.parametrize(
    ("sent", "wanted"),
    [
        (
            Answer([Raw(sse({"error": {"message": "slow down", "code": 429}}))], headers=SSE),
            (429, "slow down"),
        ),
        (Answer([Raw(sse(TEXT.events[0]))], headers=SSE), (502, "before the reply was complete")),
        (Answer([Raw(b"data: {nonsense\n\n")], headers=SSE), (502, "before the reply was complete")),
    ],
)
async def test_a_stream_that_fails_is_an_error(sent: Answer, wanted: tuple[int, str]) -> None:
    async with (
        scripted_provider(sent) as provider,
        proxied(provider.base_url) as proxy,
        proxy.session.post(f"{proxy.v1}/chat/completions", json=ASK) as answered,
    ):
        assert answered.status == wanted[0]
        assert wanted[1] in json.loads(await answered.read())["error"]["message"]


async def test_a_provider_that_answers_whole_all_the_same_is_handed_on() -> None:
    async with scripted_provider(document("Whole.")) as provider, proxied(provider.base_url) as proxy:
        async with proxy.session.post(f"{proxy.v1}/chat/completions", json=ASK) as answered:
            assert json.loads(await answered.read())["choices"][0]["message"]["content"] == "Whole."
        assert len(provider.requests) == 1


@pytest.mark.parametrize("packing", ["gzip", "snappy"])
async def test_a_packed_stream_still_makes_a_document(packing: str) -> None:
    sent = Answer([Raw(gzip.compress(TEXT.stream()))], headers=SSE | {"Content-Encoding": packing})
    async with (
        scripted_provider(sent) as provider,
        proxied(provider.base_url) as proxy,
        proxy.session.post(f"{proxy.v1}/chat/completions", json=ASK) as answered,
    ):
        assert answered.status == (200 if packing == "gzip" else 502)
        if packing == "gzip":
            assert json.loads(await answered.read()) == TEXT.document


async def test_other_answers_count_no_tokens_twice() -> None:
    async with scripted_provider(answer("Hi.")) as provider, proxied(provider.base_url) as proxy:
        async with proxy.session.post(f"{proxy.v1}/chat/completions", json=ASK) as answered:
            await answered.read()
        assert [row.usage_source for row in proxy.rows] == ["estimated"]
