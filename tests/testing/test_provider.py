import asyncio
import io
import ssl
import subprocess
from pathlib import Path

import aiohttp
import anyio
import pytest

from loopwatch.clock import ManualClock
from loopwatch.detect.detector import LoopDetector
from loopwatch.testing.answers import Answer, answer, document, error, hanging, looping, status
from loopwatch.testing.exchange import Request, Stream
from loopwatch.testing.provider import ScriptedProvider, scripted_provider
from loopwatch.testing.steps import Done, Finish, Hang, KeepAlive, Pause, Say, Usage
from tests.testing.asking import ask, fetch, raw


async def test_a_reply() -> None:
    async with scripted_provider(answer("Hello, you", reasoning="Hm", usage=Usage(3, 4))) as provider:
        reply = await ask(provider)
    assert (reply.status, reply.headers["Content-Type"]) == (200, "text/event-stream")
    assert reply.text == "Hello, you"
    assert reply.deltas[1] == {"reasoning": "Hm"}
    assert reply.chunks[-2]["choices"][0]["finish_reason"] == "stop"
    assert reply.chunks[-1]["usage"]["total_tokens"] == 7


async def test_answers_are_given_in_order_and_the_last_is_repeated() -> None:
    async with scripted_provider(status(503), answer("a"), answer("b")) as provider:
        assert (await ask(provider)).status == 503
        assert [(await ask(provider)).text for _ in range(3)] == ["a", "b", "b"]
        provider.script(answer("c"))
        assert (await ask(provider)).text == "c"


async def test_a_callable_decides() -> None:
    def echo(request: Request) -> Answer:
        return answer(request.body["text"])

    async with scripted_provider(status(500), echo) as provider:
        assert (await ask(provider, text="a")).status == 500
        assert [(await ask(provider, text=text)).text for text in "bc"] == ["b", "c"]


async def test_requests_are_kept() -> None:
    clock = ManualClock()
    async with scripted_provider(answer("Hello"), clock=clock) as provider:
        clock.advance(3)
        reply = await ask(provider, model="m", messages=[])
        await fetch("PUT", f"{provider.base_url}/other?a=b", data=b"{", headers={"X-Some": "thing"})
    first, second = provider.requests
    assert (first.number, first.method, first.path, first.at) == (1, "POST", "/v1/chat/completions", 3)
    assert first.body == {"stream": True, "model": "m", "messages": []}
    assert (first.ended, first.events_sent, first.bytes_sent) == ("finished", 4, len(reply.body))
    assert (second.number, second.method, second.path, dict(second.query)) == (
        2,
        "PUT",
        "/v1/other",
        {"a": "b"},
    )
    assert (second.raw, second.body) == (b"{", None)
    assert second.headers["x-some"] == second.headers["X-SOME"] == "thing"


async def test_a_prompt_may_be_long() -> None:
    async with scripted_provider(answer("Hello")) as provider:
        await fetch("POST", provider.base_url, data=io.BytesIO(b"x" * 3_000_000))
    assert len(provider.requests[0].raw) == 3_000_000


async def test_the_names_in_the_chunks() -> None:
    named = answer("Hello", id="gen-x", model="m", provider="Acme", announced=True)
    nameless = answer("Hello", id="", announced=True)
    async with scripted_provider(named, nameless, model="other", provider="Bolt") as provider:
        replies = [await ask(provider, model="asked") for _ in range(2)]
    assert [(chunk["model"], chunk["provider"]) for chunk in (reply.chunks[0] for reply in replies)] == [
        ("m", "Acme"),
        ("other", "Bolt"),
    ]
    assert replies[0].chunks[0]["id"] == replies[0].headers["X-Generation-Id"] == "gen-x"
    assert "id" not in replies[1].chunks[0]
    assert "X-Generation-Id" not in replies[1].headers


async def test_without_names_the_model_is_the_one_asked_for() -> None:
    async with scripted_provider(answer("Hello")) as provider:
        first, second = [(await ask(provider, **body)).chunks[0] for body in ({"model": "asked"}, {})]
    assert (first["id"], first["model"], second["id"], second["model"]) == (
        "gen-1",
        "asked",
        "gen-2",
        "scripted",
    )
    assert "provider" not in first


async def test_statuses_with_bodies() -> None:
    async with scripted_provider(
        status(503, retry_after=2),
        status(429, {"error": "slow down"}, retry_after="soon", headers={"X-More": "1"}),
        status(502, "<html>Bad gateway</html>"),
        status(529, "overloaded"),
        status(599),
        status(200, b"\x00"),
        status(204),
    ) as provider:
        replies = [await ask(provider) for _ in range(7)]
    assert [reply.status for reply in replies] == [503, 429, 502, 529, 599, 200, 204]
    assert [reply.headers.get("Retry-After") for reply in replies[:3]] == ["2", "soon", None]
    assert replies[0].json == error(503)
    assert replies[0].json["error"]["message"] == "Service Unavailable"
    assert replies[1].json == {"error": "slow down"}
    assert replies[1].headers["X-More"] == "1"
    assert [reply.headers["Content-Type"] for reply in replies[1:6]] == [
        "application/json",
        "text/html",
        "text/plain",
        "application/json",
        "application/octet-stream",
    ]
    assert [reply.body for reply in replies[2:4]] == [b"<html>Bad gateway</html>", b"overloaded"]
    assert replies[6].body == b""


async def test_without_an_answer_every_request_is_a_404() -> None:
    async with scripted_provider() as provider:
        assert (await ask(provider)).status == 404


async def test_a_reply_that_is_not_streamed() -> None:
    async with scripted_provider(
        document("Hello", usage=Usage(1, 2)), document("", headers={"X-A": "b"})
    ) as provider:
        reply, other = await ask(provider, model="m"), await ask(provider)
    assert reply.headers["Content-Type"] == "application/json"
    assert reply.json == {
        "id": "gen-1",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
    }
    assert other.headers["X-A"] == "b"
    assert "usage" not in other.json


async def test_a_loop_goes_on_until_it_is_dropped() -> None:
    async with scripted_provider(looping(beginning="Once. ")) as provider:
        detector, trip = LoopDetector(), None
        async with raw(provider) as (reader, _):
            while trip is None:
                trip = detector.push("void 0; " * (await reader.read(65_536)).count(b"void 0; "))
        (request,) = provider.requests
        await request.over()
        await provider.disconnected()
        sent = request.bytes_sent
        await asyncio.sleep(0.01)
    assert request.ended == "dropped"
    assert request.bytes_sent == sent, "it has stopped"
    assert request.events_sent > 100


async def test_a_loop_that_nobody_reads_waits_and_lets_others_go_on() -> None:
    async with scripted_provider(looping("x" * 10_000), answer("Hello")) as provider, raw(provider):
        while not provider.requests:  # noqa: ASYNC110  it tells nobody
            await asyncio.sleep(0.001)
        assert (await ask(provider)).text == "Hello"
        (looped, _) = provider.requests
        with anyio.fail_after(5):
            sent = -1
            while looped.bytes_sent != sent:
                sent = looped.bytes_sent
                await asyncio.sleep(0.02)
        assert looped.ended is None
        assert sent < 50_000_000, "what fits into the buffers of the system, and no more"


async def test_a_slow_loop_says_how_far_it_came() -> None:
    async with scripted_provider(looping(["a", "b"], delay=0.001)) as provider:
        async with raw(provider) as (reader, _):
            await reader.readuntil(b'"b"')
        await provider.requests[0].over()
    assert 2 <= provider.requests[0].events_sent < 100


@pytest.mark.parametrize(
    "silent",
    [
        hanging(),
        hanging("Two words"),
        Answer(before=[Hang()]),
        Answer([Finish(), Done(), Hang()]),
        Answer([Pause(3_600)]),
        Answer([KeepAlive(None, delay=0.001)]),
    ],
)
async def test_a_client_that_gives_up_is_seen(silent: Answer) -> None:
    async with scripted_provider(silent) as provider:
        with pytest.raises(TimeoutError):
            await fetch("POST", f"{provider.base_url}/chat/completions", timeout=0.5)
        await provider.requests[0].over()
        await provider.disconnected()
    assert provider.requests[0].ended == "dropped"


async def test_pauses_are_on_the_clock_that_it_is_given() -> None:
    clock = ManualClock()
    slow = Answer([Say(["a", "b"], delay=60), Done()], before=[Pause(600)])
    async with scripted_provider(slow, clock=clock) as provider, asyncio.TaskGroup() as group:
        asking = group.create_task(ask(provider))
        with anyio.fail_after(5):
            while not asking.done():
                await asyncio.sleep(0.001)
                clock.advance(30)
    assert asking.result().text == "ab"
    assert clock.monotonic() >= 720


async def test_connections_are_counted() -> None:
    async with scripted_provider(hanging("a")) as provider:
        assert provider.connections == 0
        async with raw(provider) as (one, _), raw(provider) as (two, _):
            await asyncio.gather(one.readline(), two.readline())
            assert provider.connections == 2
            with pytest.raises(TimeoutError):
                await provider.disconnected(within=0.01)
            with pytest.raises(TimeoutError):
                await provider.requests[0].over(within=0.01)
        await provider.disconnected()
        assert provider.connections == 0


async def test_many_clients_that_go_away_leave_nothing_behind() -> None:
    before = asyncio.all_tasks()

    async def leave(provider: ScriptedProvider) -> None:
        async with raw(provider) as (reader, _):
            await reader.readuntil(b"void 0; ")

    async with scripted_provider(looping()) as provider:
        async with asyncio.TaskGroup() as group:
            for _ in range(50):
                group.create_task(leave(provider))
        await provider.disconnected()
    assert {request.ended for request in provider.requests} == {"dropped"}
    assert asyncio.all_tasks() == before


@pytest.mark.parametrize("endless", [hanging("a"), looping(), Answer([Say(["a"]), Pause(60)])])
async def test_it_ends_at_once_with_the_block(endless: Answer) -> None:
    before = asyncio.all_tasks()
    loop = asyncio.get_running_loop()
    async with aiohttp.ClientSession() as session:
        async with scripted_provider(endless) as provider:
            url = f"{provider.base_url}/chat/completions"
            responses = [await session.post(url) for _ in range(3)]
            left = loop.time()
        assert loop.time() - left < 1
        for response in responses:
            with pytest.raises(aiohttp.ClientError):
                await response.read()
    assert [request.ended for request in provider.requests] == ["stopped"] * 3
    assert provider.connections == 0
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == before


def refuse(_: Request) -> Answer:
    raise ValueError("not this")


class Refuse:
    async def play(self, _: Stream) -> None:
        raise ValueError("not this")


@pytest.mark.parametrize("wrong", [refuse, Answer([Say(["a"]), Refuse()]), Answer(before=[Refuse()])])
async def test_an_error_of_the_script_is_raised_at_the_end(wrong: Answer) -> None:
    async def block() -> None:
        async with scripted_provider(wrong) as provider:
            with pytest.raises(aiohttp.ClientError):
                await ask(provider)
            assert provider.requests[0].ended == "failed"

    with pytest.raises(ValueError, match="not this"):
        await block()


async def test_an_error_of_the_block_comes_first() -> None:
    async def block() -> None:
        async with scripted_provider(refuse) as provider:
            with pytest.raises(aiohttp.ClientError):
                await ask(provider)
            raise KeyError

    with pytest.raises(KeyError):
        await block()


def certificate(folder: Path) -> Path:
    """A certificate for 127.0.0.1 with its key, both in one file."""
    pem = folder / "here.pem"
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=here"
    )
    names = [
        "-addext",
        "subjectAltName=IP:127.0.0.1",
        "-keyout",
        str(pem),
        "-out",
        str(folder / "public.pem"),
    ]
    subprocess.run([*command.split(), *names], check=True, capture_output=True)
    with pem.open("ab") as both:
        both.write((folder / "public.pem").read_bytes())
    return pem


async def test_it_speaks_tls(tmp_path: Path) -> None:
    asyncio.get_running_loop().set_debug(False)  # else a handshake that is refused counts as an error of ours
    pem = await anyio.to_thread.run_sync(certificate, tmp_path)
    served = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    served.load_cert_chain(pem)
    trusted = ssl.create_default_context(cafile=pem)
    async with scripted_provider(answer("Hello"), hanging(), ssl_context=served) as provider:
        assert provider.base_url.startswith("https://")
        url = f"{provider.base_url}/chat/completions"
        assert (await fetch("POST", url, ssl=trusted)).status == 200
        with pytest.raises(TimeoutError):
            await fetch("POST", url, ssl=trusted, timeout=0.1)
        with pytest.raises(aiohttp.ClientConnectorCertificateError):
            await fetch("POST", url)
        await provider.requests[1].over()
        async with aiohttp.ClientSession() as session, session.post(url, ssl=trusted):
            await provider.stop()
    assert [request.ended for request in provider.requests] == ["finished", "dropped", "stopped"]
