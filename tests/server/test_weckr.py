"""An unmodified ``weckr-sdk`` against a whole server: logged, capped, downgraded, alerted once."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import weckr  # type: ignore[import-untyped]
from weckr import Weckr

from loopwatch.clock import ManualClock
from tests.alerts.sinks import http_sink
from tests.server.house import House, serving, until

PLANS = {"free": 0, "pro": 29}


class Stub:
    """An OpenAI client as far as the SDK looks at one; ``asked`` has the models that were called."""

    __module__ = "openai.stub"

    def __init__(self, tokens: int = 1_500, error: Exception | None = None) -> None:
        self.tokens = tokens
        self.error = error
        self.asked: list[str] = []
        self.chat = SimpleNamespace(completions=SimpleNamespace(create=self._create))

    def _create(self, **params: Any) -> Any:
        self.asked.append(params["model"])
        assert not {"user_id", "feature", "plan"} & set(params)
        if self.error is not None:
            raise self.error
        details = SimpleNamespace(cached_tokens=600 if self.tokens == 1_500 else 0)
        usage = SimpleNamespace(
            prompt_tokens=self.tokens - 500, completion_tokens=500, prompt_tokens_details=details
        )
        return SimpleNamespace(usage=usage, choices=[SimpleNamespace(message="hello")])


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime.now(UTC))  # the SDK dates its calls by the machine's


@pytest.fixture
async def house(tmp_path: Path, clock: ManualClock) -> AsyncIterator[House]:
    async with serving(tmp_path / "weckr.db", clock) as opened:
        yield opened


class Product:
    """A product that uses the SDK: blocking, in a thread, as in a web worker."""

    def __init__(self, house: House, key: str | None = None) -> None:
        self.errors: list[BaseException] = []
        self.downgrades: list[dict[str, str]] = []
        self.sdk = Weckr(
            api_key=key or house.key,
            plans=PLANS,
            endpoint=f"{house.url}/api/v1/log",
            check_endpoint=f"{house.url}/api/v1/check",
            on_error=self.errors.append,
            on_downgrade=self.downgrades.append,
        )

    async def chat(self, client: Stub, flush: float = 5, **params: Any) -> Any:
        """One call through the SDK, and its log sent."""

        def work() -> Any:
            try:
                return self.sdk.chat(client, {"model": "gpt-4o", "messages": [], **params})
            finally:
                self.sdk.flush(flush)

        return await asyncio.to_thread(work)


async def rows(house: House) -> list[Any]:
    return await house.server.store.reports.recent(house.project)


async def test_a_call_is_logged_once_and_priced_by_the_server(house: House) -> None:
    product, client = Product(house), Stub()
    result = await product.chat(client, user_id="u1", feature="chat", plan="pro")
    assert result.choices[0].message == "hello"
    (row,) = await rows(house)
    assert (row.user_id, row.feature, row.plan, row.provider) == ("u1", "chat", "pro", "openai")
    assert (row.input_tokens, row.output_tokens, row.cache_read_input_tokens) == (1_000, 500, 600)
    assert (row.event_id, row.cost_nano) == (product.sdk.last_event_id, 6_750_000)  # W1
    assert product.errors == []


async def test_a_replay_is_counted_once_and_a_forged_cost_is_not_believed(house: House) -> None:
    bodies: list[bytes] = []
    async with http_sink() as sink:
        captured = Product(house)
        captured.sdk._logger.endpoint = f"{sink.base}/log"
        await captured.chat(Stub(), user_id="u1", feature="chat")
        bodies = [one.body for one in sink.received]
    (body,) = bodies
    forged = {**json.loads(body), "costUsd": 999.0, "marginUsd": -970.0}
    for data in (forged, forged, json.loads(body)):
        assert (await house.ask("POST", "/api/v1/log", json=data)).status == 202
    (row,) = await rows(house)
    assert row.cost_nano == 6_750_000


async def test_a_burst_is_one_message_and_the_next_within_the_cooldown_none(
    house: House, clock: ManualClock
) -> None:
    async with http_sink() as sink:
        await house.set(channels=[{"type": "slack", "url": sink.url.get_secret_value()}])
        product = Product(house)
        for _ in range(2):  # 120,000 tokens, twice over the line
            await product.chat(Stub(60_000), user_id="usr_1", feature="agent", plan="pro")
        await until(lambda: sink.received)
        clock.advance(20 * 60)  # which the SDK's own clock does not see, so the rest comes undated
        await house.log(userId="usr_1", inputTokens=60_000)
        await asyncio.sleep(0.1)
        assert len(sink.received) == 1
        clock.advance(15 * 60)
        await house.log(userId="usr_1", inputTokens=60_000)
        await until(lambda: len(sink.received) == 2)
        first, second = (one.json["text"] for one in sink.received)
    assert "usr_1" in first
    assert "60,000" in first
    assert f"{house.url}/dashboard/users/usr_1" in first
    assert "2 more crossings" in second
    assert len((await house.get(f"/api/v1/alerts/{house.project}"))["alerts"]) == 2


async def test_at_a_blocking_cap_the_provider_is_never_called(house: House) -> None:
    await house.set(caps={"free": {"monthlyUsd": 0.01}})
    await house.log(userId="u1", model="gpt-4o", outputTokens=1_250)  # 0.0125
    client = Stub()
    with pytest.raises(weckr.WeckrCapError) as refused:
        await Product(house).chat(client, user_id="u1", plan="free")
    assert (refused.value.current_spend, refused.value.cap) == (0.0125, 0.01)
    assert client.asked == []
    assert len(await rows(house)) == 1


async def test_at_a_downgrading_cap_the_cheaper_model_is_called_and_logged(house: House) -> None:  # W19
    await house.set(caps={"free": {"monthlyUsd": 0.01, "action": "downgrade"}})
    await house.log(userId="u1", model="gpt-4o", outputTokens=1_250)
    product, client = Product(house), Stub()
    await product.chat(client, user_id="u1", plan="free")
    assert client.asked == ["gpt-4o-mini"]
    assert product.downgrades == [{"userId": "u1", "from": "gpt-4o", "to": "gpt-4o-mini"}]
    row = next(one for one in await rows(house) if one.event_id == product.sdk.last_event_id)
    assert (row.request_model, row.cost_nano) == ("gpt-4o-mini", 405_000)


async def test_a_user_who_is_blocked_by_hand_is_refused(house: House) -> None:
    await house.ask("POST", f"/api/v1/users/{house.project}/u1/block", key=house.admin)
    with pytest.raises(weckr.WeckrCapError):
        await Product(house).chat(Stub(), user_id="u1", plan="pro")


async def test_a_revoked_key_is_a_configuration_error(house: House) -> None:
    issued = await house.server.store.keys.create(house.project, "old")
    await house.server.store.keys.revoke(issued.key.id)
    client = Stub()
    with pytest.raises(weckr.WeckrConfigError) as refused:
        await Product(house, issued.secret).chat(client, user_id="u1", plan="pro")
    assert refused.value.code == "invalid_api_key"
    assert client.asked == []


async def test_a_server_in_trouble_stops_nobody(house: House) -> None:
    house.front.failing["/api/v1/check"] = 1
    client = Stub()
    await Product(house).chat(client, user_id="u1", plan="pro")
    assert client.asked == ["gpt-4o"]
    assert len(await rows(house)) == 1


async def test_a_log_that_fails_once_is_one_row_after_five_seconds(house: House) -> None:  # W23
    house.front.failing["/api/v1/log"] = 1
    product, start = Product(house), time.monotonic()

    def work() -> None:
        product.sdk.chat(Stub(), {"model": "gpt-4o", "messages": [], "user_id": "u1"})

    await asyncio.to_thread(work)
    await until(lambda: house.server.store.writer.counts.stored, 15)
    assert 4 <= time.monotonic() - start <= 10
    assert house.front.asked.count("/api/v1/log") == 2
    (row,) = await rows(house)
    assert row.event_id == product.sdk.last_event_id


async def test_a_call_that_fails_is_a_row_without_usage_or_cost(house: House) -> None:  # W25, W26
    broken: Callable[[], Stub] = lambda: Stub(error=RuntimeError("boom"))  # noqa: E731
    with pytest.raises(RuntimeError, match="boom"):
        await Product(house).chat(broken(), user_id="u9")
    (row,) = await rows(house)
    assert (row.input_tokens, row.output_tokens, row.cost_nano, row.usage_source) == (0, 0, None, "unknown")
    assert (row.feature, row.plan) == (None, None)
    assert "/api/v1/check" not in house.front.asked
    await Product(house).chat(Stub())
    assert {one.user_id for one in await rows(house)} == {"u9", None}
