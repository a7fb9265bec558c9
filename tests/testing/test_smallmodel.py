import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from loopwatch.cli.demo_story import QUESTIONS
from loopwatch.detect.guard import watch
from loopwatch.errors import LoopTripped, LoopwatchError
from loopwatch.testing import smallmodel
from loopwatch.testing.smallmodel import SmallModel, small_model, weights
from loopwatch.wire.openai import DONE, decode_chunk
from loopwatch.wire.sse import SSEDecoder

needs_model = pytest.mark.skipif(
    weights() is None, reason="the small model is not installed: `make demo` installs it"
)


@pytest.fixture(scope="module")
def model() -> Iterator[SmallModel]:
    with small_model() as running:
        yield running


async def pieces(model: SmallModel, question: str, **fields: Any) -> AsyncGenerator[str]:
    """The reply's text at temperature 0, as it streams in."""
    body = {"messages": [{"role": "user", "content": question}], "stream": True, "temperature": 0} | fields
    decoder = SSEDecoder()
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{model.base_url}/chat/completions", json=body, raise_for_status=True) as response,
    ):
        async for data in response.content.iter_any():
            for event in decoder.feed(data):
                if event.data == DONE:
                    continue
                for choice in decode_chunk(event.data).choices or ():
                    if choice.delta is not None and choice.delta.content:
                        yield choice.delta.content


async def loops(model: SmallModel, question: str, preset: str, max_tokens: int) -> bool:
    try:
        async with aclosing(watch(pieces(model, question, max_tokens=max_tokens), preset)) as reply:
            async for _ in reply:
                pass
    except LoopTripped:
        return True
    return False


async def is_generating(model: SmallModel) -> bool:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{model.base_url.removesuffix('/v1')}/slots") as response,
    ):
        (slot,) = await response.json()
    return bool(slot["is_processing"])


@needs_model
async def test_it_answers_under_its_name(model: SmallModel) -> None:
    async with aiohttp.ClientSession() as session, session.get(f"{model.base_url}/models") as response:
        (described,) = (await response.json())["data"]
    assert described["id"] == model.name
    assert [piece async for piece in pieces(model, "Say hello.", max_tokens=5)]


@needs_model
async def test_a_loop_of_the_real_model_is_caught(model: SmallModel) -> None:
    # Whether it loops differs between machines, question by question; not on all of them.
    for question in QUESTIONS:
        if await loops(model, question, "eager", max_tokens=400):
            break
    else:
        pytest.fail("none of the questions made it loop")


@needs_model
async def test_it_stops_when_nobody_reads_any_more(model: SmallModel) -> None:
    reply = pieces(model, QUESTIONS[0], max_tokens=5_000)
    await anext(reply)
    assert await is_generating(model)
    await reply.aclose()
    async with asyncio.timeout(10):
        while await is_generating(model):  # noqa: ASYNC110  a server of another program
            await asyncio.sleep(0.01)


@needs_model
@pytest.mark.slow
async def test_every_question_of_the_demo_makes_it_loop(model: SmallModel) -> None:
    looped = [await loops(model, question, "balanced", max_tokens=2_000) for question in QUESTIONS]
    assert sum(looped) >= 2, "one may not, on another machine"


@needs_model
def test_weights_that_cannot_be_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF, but for the rest")
    monkeypatch.setattr(smallmodel, "weights", lambda: broken)
    with pytest.raises(LoopwatchError, match=r"^the small model ended before it answered: .+"), small_model():
        pass


def test_without_its_wheels_the_error_says_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smallmodel, "find_spec", lambda _: None)
    assert weights() is None
    with pytest.raises(LoopwatchError, match="`make demo`"), small_model():
        pass
