"""The real llama.cpp behind the proxy: a small model that loops, asked by OpenAI's own client."""

import openai
import pytest

from loopwatch.testing.smallmodel import INSTALL, small_model, weights
from tests.proxy.house import proxied

PROMPT = "Write one very long URL with 200 query parameters."


@pytest.mark.slow
@pytest.mark.skipif(weights() is None, reason=f"the small model is missing: {INSTALL}")
async def test_a_real_loop_is_cut_streamed_and_whole() -> None:
    with small_model() as model:
        async with (
            proxied(model.base_url) as proxy,
            openai.AsyncOpenAI(base_url=proxy.v1, api_key="none", max_retries=0) as client,
        ):
            listed = await client.models.list()
            assert [one.id for one in listed.data] == [model.name]
            stream = await client.chat.completions.create(
                model=model.name,
                messages=[{"role": "user", "content": PROMPT}],
                temperature=0,
                max_tokens=3_000,
                stream=True,
            )
            chunks = [chunk async for chunk in stream]
            assert chunks[-1].choices[0].finish_reason == "stop"
            whole = await client.chat.completions.create(
                model=model.name,
                messages=[{"role": "user", "content": PROMPT}],
                temperature=0,
                max_tokens=3_000,
            )
            assert whole.choices[0].finish_reason == "stop"
            assert whole.usage is not None
        assert [told["action"] for told in proxy.told] == ["stop", "stop"]
        assert [row.usage_source for row in proxy.rows] == ["estimated", "estimated"]
        assert all(row.output_tokens < 3_000 for row in proxy.rows)
