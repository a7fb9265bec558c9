"""What a type checker sees through ``wrap``: the vendors' own types. mypy reads this with the rest."""

from typing import assert_type

import anthropic
import openai
from anthropic.types import Message
from google import genai
from google.genai.types import GenerateContentResponse
from openai.types.chat import ChatCompletion, ChatCompletionChunk, ChatCompletionMessageParam
from openai.types.responses import Response

from loopwatch import Tracker
from loopwatch.sdk import AgentRun


def see_openai(tracker: Tracker, client: openai.OpenAI) -> None:
    wrapped = tracker.wrap(client)
    assert_type(wrapped, openai.OpenAI)
    made = wrapped.chat.completions.create(
        model="m", messages=[{"role": "user", "content": "?"}], extra_headers={"x-loopwatch-user": "u1"}
    )
    assert_type(made, ChatCompletion)
    stream = wrapped.chat.completions.create(
        model="m", messages=[{"role": "user", "content": "?"}], stream=True
    )
    assert_type(stream, openai.Stream[ChatCompletionChunk])
    assert_type(wrapped.with_options(timeout=1).responses.create(model="m", input="?"), Response)


async def see_async(tracker: Tracker, client: openai.AsyncOpenAI, claude: anthropic.AsyncAnthropic) -> None:
    assert_type(tracker.wrap(client), openai.AsyncOpenAI)
    assert_type(await tracker.wrap(client).responses.create(model="m", input="?"), Response)
    assert_type(tracker.wrap(claude), anthropic.AsyncAnthropic)
    async with tracker.agent("a") as run:
        assert_type(run, AgentRun)


def see_the_others(tracker: Tracker, claude: anthropic.Anthropic, gemini: genai.Client) -> None:
    message = tracker.wrap(claude).messages.create(
        model="c", max_tokens=1, messages=[{"role": "user", "content": "?"}]
    )
    assert_type(message, Message)
    assert_type(tracker.wrap(gemini), genai.Client)
    answer = tracker.wrap(gemini).models.generate_content(model="g", contents="?")
    assert_type(answer, GenerateContentResponse)


def see_raw(tracker: Tracker, client: openai.OpenAI, claude: anthropic.Anthropic) -> None:
    ask: list[ChatCompletionMessageParam] = [{"role": "user", "content": "?"}]
    completions = tracker.wrap(client).chat.completions
    assert_type(completions.with_raw_response.create(model="m", messages=ask).parse(), ChatCompletion)
    with completions.with_streaming_response.create(model="m", messages=ask, stream=True) as raw:
        assert_type(raw.parse(), openai.Stream[ChatCompletionChunk])
    assert_type(tracker.wrap(client).copy(), openai.OpenAI)
    with tracker.wrap(claude).messages.stream(
        model="c", max_tokens=1, messages=[{"role": "user", "content": "?"}]
    ) as helped:
        assert_type(helped.get_final_text(), str)


def test_mypy_reads_this_file() -> None:
    assert all((see_openai, see_async, see_the_others, see_raw))
