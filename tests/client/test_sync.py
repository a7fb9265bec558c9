import asyncio
import threading
from collections.abc import Iterator

import pytest

from loopwatch.client.items import AttemptDiscarded, Delta, Reply
from loopwatch.client.sync import SyncModelClient
from loopwatch.errors import LoopwatchError, RefusedRequest
from loopwatch.testing.answers import Answer, answer, hanging, looping, status
from loopwatch.testing.provider import ScriptedProvider, scripted_provider
from tests.client.calls import ASK


class Elsewhere:
    """A scripted provider in a thread of its own, since its client here has no event loop."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = answers
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._over = asyncio.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._serve(),))
        self.provider: ScriptedProvider

    async def _serve(self) -> None:
        async with scripted_provider(*self._answers) as self.provider:
            self._ready.set()
            await self._over.wait()

    def __enter__(self) -> ScriptedProvider:
        self._thread.start()
        assert self._ready.wait(10)
        return self.provider

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()
        self._loop.close()

    def wait_until_dropped(self) -> None:
        asyncio.run_coroutine_threadsafe(self.provider.disconnected(), self._loop).result(10)


@pytest.fixture
def looping_then_sound() -> Iterator[ScriptedProvider]:
    with Elsewhere(looping("void 0;\n"), answer("Something.")) as provider:
        yield provider


def test_a_reply_without_await(looping_then_sound: ScriptedProvider) -> None:
    with SyncModelClient("m", base_url=looping_then_sound.base_url, loop_detection="balanced") as client:
        reply = client.complete(ASK, label="turn 1")
        assert (reply.text, reply.attempts) == ("Something.", 2)
        assert client.complete(ASK).text == "Something."
        prices = client.price_discarded(reply.tally.discarded)
    assert [price.priced for price in prices] == [False]
    assert repr(client) == f"SyncModelClient('m' at {looping_then_sound.base_url})"


def test_the_same_items_come(looping_then_sound: ScriptedProvider) -> None:
    with SyncModelClient("m", base_url=looping_then_sound.base_url, loop_detection="balanced") as client:
        items = list(client.stream(ASK))
    assert {type(item) for item in items} == {Delta, AttemptDiscarded, Reply}
    assert isinstance(items[-1], Reply)


def test_whoever_stops_listening_closes_the_connection() -> None:
    elsewhere = Elsewhere(hanging("Some"))
    with elsewhere as provider, SyncModelClient("m", base_url=provider.base_url) as client:
        for item in client.stream(ASK):
            if isinstance(item, Delta):
                break
        elsewhere.wait_until_dropped()


def test_errors_are_the_same() -> None:
    with (
        Elsewhere(status(400)) as provider,
        SyncModelClient("m", base_url=provider.base_url) as client,
        pytest.raises(RefusedRequest),
    ):
        client.complete(ASK)


async def test_within_an_event_loop_it_says_what_to_use() -> None:
    client = SyncModelClient("m", base_url="http://127.0.0.1:1/v1")
    with pytest.raises(LoopwatchError, match="use ModelClient, with await"):
        client.complete(ASK)
    with pytest.raises(LoopwatchError, match="use ModelClient, with await"):
        next(iter(client.stream(ASK)))
    await asyncio.to_thread(client.close)
