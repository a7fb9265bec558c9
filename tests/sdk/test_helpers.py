"""What the vendors build on their clients goes on working on a tracked one, and is logged."""

from typing import Any

import anthropic
import openai
from pydantic import BaseModel

from tests.sdk.conftest import Track
from tests.sdk.vendors import TEXT, Collector, Vendors

ASK: Any = [{"role": "user", "content": "Why is the sky blue?"}]
SAID = "".join(TEXT)
CLAUDE: dict[str, Any] = {"model": "claude-haiku-4-5", "max_tokens": 9, "messages": ASK}


class Weather(BaseModel):
    sunny: bool


def logged(collector: Collector, tracker: Any) -> int:
    assert tracker.flush()
    assert all(row.get("usageSource", "provider") == "provider" for row in collector.rows)
    return len(collector.rows)


def test_openai_s_helpers(vendors: Vendors, track: Track, collector: Collector) -> None:
    tracker = track()
    with tracker.wrap(openai.OpenAI(api_key="sk", base_url=f"{vendors.url}/v1")) as client:
        vendors.says = '{"sunny": true}'
        parsed = client.chat.completions.parse(model="m", messages=ASK, response_format=Weather)
        assert parsed.choices[0].message.parsed == Weather(sunny=True)
        answer = client.responses.parse(model="m", input="Weather?", text_format=Weather)
        assert answer.output_parsed == Weather(sunny=True)
        vendors.says = None
        with client.beta.chat.completions.stream(model="m", messages=ASK) as stream:
            assert stream.get_final_completion().choices[0].message.content == SAID
        with client.responses.stream(model="m", input="Why?") as events:
            assert events.get_final_response().output_text == SAID
        for copy in (client.copy(timeout=3), client.with_options(max_retries=1), client.copy().copy()):
            assert isinstance(copy, openai.OpenAI)
            assert copy.chat.completions.create(model="m", messages=ASK).choices[0].message.content == SAID
        assert client.embeddings.create(model="e", input="x").data
    assert client.is_closed()
    assert logged(collector, tracker) == 7


async def test_the_async_helpers(vendors: Vendors, track: Track, collector: Collector) -> None:
    tracker = track()
    async with tracker.wrap(openai.AsyncOpenAI(api_key="sk", base_url=f"{vendors.url}/v1")) as client:
        vendors.says = '{"sunny": true}'
        parsed = await client.chat.completions.parse(model="m", messages=ASK, response_format=Weather)
        assert parsed.choices[0].message.parsed == Weather(sunny=True)
        vendors.says = None
        async with client.chat.completions.stream(model="m", messages=ASK) as stream:
            assert (await stream.get_final_completion()).choices[0].message.content == SAID
        copy = client.copy(timeout=3)
        assert (await copy.chat.completions.create(model="m", messages=ASK)).model
        assert (await client.embeddings.create(model="e", input="x")).data
    assert client.is_closed()
    async with tracker.wrap(anthropic.AsyncAnthropic(api_key="sk", base_url=vendors.url)) as claude:
        async with claude.messages.stream(**CLAUDE) as helped:
            assert await helped.get_final_text() == SAID
        async with claude.beta.messages.stream(**CLAUDE) as helped_beta:
            assert (await helped_beta.get_final_message()).usage.output_tokens == 20
        assert (await claude.copy().messages.create(**CLAUDE)).content
    assert logged(collector, tracker) == 6


def test_anthropic_s_helpers(vendors: Vendors, track: Track, collector: Collector) -> None:
    tracker = track()
    with tracker.wrap(anthropic.Anthropic(api_key="sk", base_url=vendors.url)) as client:
        with client.messages.stream(**CLAUDE) as helped:
            assert "".join(helped.text_stream) == SAID
            assert helped.get_final_message().usage.output_tokens == 20
        with client.beta.messages.stream(**CLAUDE) as helped_beta:
            assert helped_beta.get_final_message().usage.output_tokens == 20
        assert client.copy(timeout=2).messages.create(**CLAUDE).content
        assert client.messages.count_tokens(model="m", messages=ASK).input_tokens == 7
    assert client.is_closed()
    assert logged(collector, tracker) == 3
