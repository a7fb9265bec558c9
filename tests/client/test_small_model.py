"""The client and a real model that really loops."""

import pytest

from loopwatch.client.items import AttemptDiscarded, Delta, Reply
from loopwatch.client.model import ModelClient
from loopwatch.errors import LoopedReply
from loopwatch.testing.smallmodel import INSTALL, SmallModel, small_model, weights

pytestmark = pytest.mark.skipif(weights() is None, reason=f"the small model is not installed: {INSTALL}")

LOOPS = "Write one very long URL with 200 query parameters."
"""At temperature 0 the model loops on it from its first words on."""


def question(text: str, **sampling: object) -> dict[str, object]:
    return {"messages": [{"role": "user", "content": text}], "max_tokens": 600, **sampling}


async def test_a_loop_of_a_real_model_is_cut_and_asked_for_again() -> None:
    with small_model() as model:
        async with ModelClient(
            model.name,
            base_url=model.base_url,
            loop_detection="eager",
            retry_with={"temperature": 0.8, "repeat_penalty": 1.3, "seed": 1, "max_tokens": 40},
            retries=3,
        ) as client:
            items = [item async for item in client.stream(question(LOOPS, temperature=0))]
    discarded = [item for item in items if isinstance(item, AttemptDiscarded)]
    assert discarded
    assert discarded[0].trip is not None
    assert discarded[0].trip.chars < 1_900  # the whole is some 1,900 characters, were it not cut
    assert discarded[0].generation_id
    reply = items[-1]
    assert isinstance(reply, Reply)
    assert reply.text == "".join(
        item.text for item in items[items.index(discarded[-1]) :] if isinstance(item, Delta)
    )
    assert reply.usage is not None
    assert reply.usage.output_tokens
    assert reply.tally.loop_aborts == len(discarded)


@pytest.mark.slow
async def test_a_model_that_only_loops_costs_a_bounded_known_amount() -> None:
    with small_model() as model:
        await _loops_every_attempt(model)


async def _loops_every_attempt(model: SmallModel) -> None:
    async with ModelClient(model.name, base_url=model.base_url, loop_detection="eager", retries=2) as client:
        with pytest.raises(LoopedReply) as looped:
            await client.complete(question(LOOPS, temperature=0, max_tokens=2_000), label="turn 1")
    tally = looped.value.tally
    assert tally is not None
    assert tally.loop_aborts == 3
    assert len({trip.onset for trip in looped.value.trips}) == 1  # temperature 0: the same each time
    assert len(tally.generation_ids) == 3
