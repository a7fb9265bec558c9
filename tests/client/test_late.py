"""What discarded replies have cost in the end: the vectors of the look-up."""

import json
from typing import Any

import pytest

from loopwatch.client.fake import HANG, FakeAnswer, FakeTransport
from loopwatch.client.late import LatePrice
from loopwatch.client.model import ModelClient
from loopwatch.client.tally import Discarded
from loopwatch.client.transport import TransportError
from loopwatch.clock import ManualClock
from loopwatch.detect.trip import Trip

NOT_YET = FakeAnswer(404)
RECORD = {
    "total_cost": 0.35,
    "native_tokens_prompt": 1_200,
    "native_tokens_cached": 200,
    "native_tokens_completion": 5_080,
    "native_tokens_reasoning": 80,
    "provider_name": "Acme",
    "model": "acme/large",
}


def priced(**fields: Any) -> FakeAnswer:
    return FakeAnswer(chunks=[json.dumps({"data": RECORD | fields}).encode()])


class Looked(list[LatePrice]):
    """The prices, and how long it took to learn them."""

    seconds = 0.0
    requests: list[str]


async def look_up(*answers: FakeAnswer | TransportError, replies: Any = ("gen-1",), **more: Any) -> Looked:
    clock = ManualClock()
    transport = FakeTransport(*answers, clock=clock)
    options: dict[str, Any] = {"base_url": "http://model.test/v1", "generation_lookup": True} | more
    client = ModelClient("m", transport=transport, clock=clock, api_key="k", **options)
    looked = Looked(await clock.run(client.price_discarded(replies)))
    looked.seconds = clock.monotonic()
    looked.requests = [request.url for request in transport.requests]
    assert all(response.dropped for response in transport.responses)
    assert all(request.headers["Authorization"] == "Bearer k" for request in transport.requests)
    return looked


async def test_g4_the_record_is_read_under_the_common_names() -> None:
    [price] = await look_up(priced())
    assert price.priced
    usage = price.usage
    assert usage is not None
    assert (usage.cost, usage.uncached_input_tokens, usage.cache_read_input_tokens) == (0.35, 1_000, 200)
    assert (usage.answer_tokens, usage.reasoning_output_tokens, usage.output_tokens) == (5_000, 80, 5_080)
    assert (price.provider, price.model, price.reason) == ("Acme", "acme/large", "")


async def test_a_price_that_is_not_there_yet_is_asked_for_again() -> None:
    looked = await look_up(NOT_YET, NOT_YET, priced())
    assert looked[0].priced
    assert (looked.seconds, len(looked.requests)) == (4, 3)


async def test_g1_after_half_a_minute_it_is_given_up() -> None:
    looked = await look_up(NOT_YET)
    assert not looked[0].priced
    assert (looked.seconds, len(looked.requests)) == (30, 16)
    assert "30 s" in looked[0].reason


@pytest.mark.parametrize(
    "answer",
    [
        FakeAnswer(500),
        FakeAnswer(401),
        FakeAnswer(429),
        FakeAnswer(chunks=[b"{}"]),
        FakeAnswer(chunks=[b'{"data": "x"}']),
        FakeAnswer(chunks=[b'{"data": {}}']),
        FakeAnswer(chunks=[b'{"data": {"total_cost": "free"}}']),
        FakeAnswer(chunks=[b"[]"]),
        FakeAnswer(chunks=[b"not JSON"]),
        FakeAnswer(chunks=[]),
        FakeAnswer(chunks=[b" " * 600_000] * 9),
        TransportError("cannot connect"),
        FakeAnswer(chunks=[TransportError("broke")]),
    ],
)
async def test_g3_anything_else_is_unpriced_at_once(answer: FakeAnswer | TransportError) -> None:
    looked = await look_up(answer)
    assert not looked[0].priced
    assert looked[0].reason
    assert (looked.seconds, len(looked.requests)) == (0, 1)


@pytest.mark.parametrize("answer", [FakeAnswer(after=HANG), FakeAnswer(chunks=[b"{", HANG])])
async def test_the_time_also_ends_an_answer_that_is_under_way(answer: FakeAnswer) -> None:
    looked = await look_up(answer)
    assert not looked[0].priced
    assert looked.seconds == 30


async def test_a_reply_may_have_cost_nothing() -> None:
    [price] = await look_up(priced(total_cost=0))
    assert price.priced


async def test_a_batch_takes_no_longer_than_one_and_keeps_its_order() -> None:
    trip = Trip("cycle", 1, 1)
    replies = ["gen-1", Discarded(trip, generation_id="gen-2"), Discarded(trip), "gen-1"]
    looked = await look_up(NOT_YET, replies=replies)
    assert [price.generation_id for price in looked] == ["gen-1", "gen-2", "", "gen-1"]
    assert looked[2].reason == "it had no generation id"
    assert (looked.seconds, len(looked.requests)) == (30, 32)


async def test_eighty_take_no_longer_either() -> None:
    looked = await look_up(NOT_YET, replies=[f"gen-{number}" for number in range(80)])
    assert (looked.seconds, len(looked.requests)) == (30, 80 * 16)


async def test_one_that_hangs_does_not_hold_up_the_others_for_longer() -> None:
    looked = await look_up(FakeAnswer(after=HANG), replies=[f"gen-{number}" for number in range(20)])
    assert looked.seconds == 30
    assert not any(price.priced for price in looked)


async def test_who_cannot_be_asked_is_not_asked() -> None:
    looked = await look_up(priced(), generation_lookup=None)
    assert looked.requests == []
    assert "generation_lookup" in looked[0].reason
    assert (await look_up(priced(), generation_lookup=None, base_url="https://openrouter.ai/api/v1"))[
        0
    ].priced
