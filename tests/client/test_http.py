"""The real transport and real servers: what only sockets can show."""

import asyncio
import gc
import socket
import ssl
import struct
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import pytest

from loopwatch.client.http import AiohttpTransport
from loopwatch.client.items import AttemptDiscarded, Delta, Reply
from loopwatch.client.model import ModelClient
from loopwatch.clock import SystemClock
from loopwatch.errors import (
    KeyRefused,
    LoopedReply,
    RefusedRequest,
    RetriesSpent,
    UnreachableModel,
    UnreadableReply,
)
from loopwatch.testing.answers import Answer, answer, document, hanging, looping, status
from loopwatch.testing.provider import ScriptedProvider, scripted_provider
from loopwatch.testing.steps import Cut, Done, Finish, KeepAlive, Loop, Pause, Raw, Reset, Role, Say, Together
from tests.client.calls import ASK
from tests.wire.streams import chunk


class Hasty:
    """The machine's clock, but the waits between attempts are no wait."""

    def __init__(self) -> None:
        self._clock = SystemClock()
        self.now = self._clock.now
        self.monotonic = self._clock.monotonic
        self.call_later = self._clock.call_later
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)


def client_of(provider: ScriptedProvider, **options: object) -> ModelClient:
    return ModelClient("m", base_url=provider.base_url, clock=Hasty(), **options)  # type: ignore[arg-type]  # any option


async def test_an_answer_over_a_socket() -> None:
    async with scripted_provider(answer("Something.", split=1)) as provider, client_of(provider) as client:
        reply = await client.complete(ASK)
        assert (reply.text, reply.finish_reason, reply.attempts) == ("Something.", "stop", 1)
        [request] = provider.requests
        assert request.body == {"model": "m", "stream": True, "stream_options": {"include_usage": True}} | ASK
        assert "authorization" not in request.headers


async def test_the_seeds_two_sentences_against_a_provider_that_loops(
    caplog: pytest.LogCaptureFixture,
) -> None:
    loop = looping("void 0;\n")
    async with (
        scripted_provider(loop, loop, answer("Something.")) as provider,
        client_of(provider, loop_detection="seed") as client,
    ):
        reply = await client.complete(ASK, label="turn 14")
        assert reply.text == "Something."
        assert caplog.messages[-1] == (
            "loop detection discarded 2 looping model responses on turn 14 before one completed, throwing"
            " away 6130 words of generated output (24522 characters); it was all paid for and none of it"
            " entered the context."
        )
        provider.script(loop)
        async with client_of(provider, loop_detection="seed", retries=3) as patient:
            with pytest.raises(LoopedReply) as looped:
                await patient.complete(ASK, label="turn 14")
        assert str(looped.value) == (
            "model turn 14 — model looped every attempt: model looped: 2 words repeated across 3000"
            " consecutive words, 3065 words into the reply (3065 words, 12261 characters read before it was"
            " abandoned); discarded 4 response(s) totalling 49044 characters of generated output"
        )
        await provider.disconnected()
        assert [request.ended for request in provider.requests[3:]] == ["dropped"] * 4


async def test_a_provider_stops_soon_after_a_loop_is_seen() -> None:
    async with (
        scripted_provider(looping("void 0;\n", delay=0.0002), answer("x")) as provider,
        client_of(provider, loop_detection="balanced") as client,
    ):
        await client.complete(ASK)
        await provider.requests[0].over()
        assert provider.requests[0].ended == "dropped"
        assert provider.requests[0].events_sent < 10_000


@pytest.mark.parametrize(
    "broken",
    [
        Answer([Role(), Say("Some"), Reset()]),
        Answer([Role(), Say("Some"), Cut()]),
        Answer(before=[Reset()]),
        Answer(before=[Cut()]),
        status(502),
        status(503, retry_after=2),
        status(500, "<html>oops"),
    ],
    ids=["reset", "cut", "reset before the head", "cut before the head", "502", "503", "HTML 500"],
)
async def test_what_breaks_is_asked_for_again(broken: Answer) -> None:
    async with scripted_provider(broken, answer("Something.")) as provider, client_of(provider) as client:
        assert (await client.complete(ASK)).attempts == 2


async def test_silence_is_given_up_though_comments_keep_the_connection_alive() -> None:
    kept = Answer([Role(), Say("Some"), KeepAlive(times=None, delay=0.05)])
    async with (
        scripted_provider(kept, answer("Something.")) as provider,
        client_of(provider, idle_secs=1) as client,
    ):
        items = [item async for item in client.stream(ASK)]
    [discarded] = [item for item in items if isinstance(item, AttemptDiscarded)]
    assert discarded.cause == "nothing came for 1 s"
    assert isinstance(items[-1], Reply)


async def test_a_head_that_never_comes_is_given_up() -> None:
    async with (
        scripted_provider(Answer(before=[Pause(30)]), answer("Something.")) as provider,
        client_of(provider, idle_secs=1) as client,
    ):
        assert (await client.complete(ASK)).attempts == 2


async def test_a_slow_reader_is_not_the_providers_silence() -> None:
    async with (
        scripted_provider(answer("one two")) as provider,
        client_of(provider, idle_secs=1, retries=0) as client,
    ):
        async for _ in client.stream(ASK):
            await asyncio.sleep(1.2)


async def test_the_end_of_the_reply_closes_the_connection() -> None:
    lingering = Answer([Role(), Say("Something."), Finish(), Done(), Pause(30)])
    async with scripted_provider(lingering) as provider, client_of(provider) as client:
        assert (await client.complete(ASK)).text == "Something."
        await provider.disconnected()


async def test_a_server_that_answers_whole_is_understood() -> None:
    async with scripted_provider(document("Something.")) as provider, client_of(provider) as client:
        assert (await client.complete(ASK)).text == "Something."


async def test_a_redirect_is_not_followed_with_the_key() -> None:
    async with scripted_provider(answer("Something.")) as elsewhere:
        moved = status(307, headers={"Location": f"{elsewhere.base_url}/chat/completions"})
        async with scripted_provider(moved) as provider, client_of(provider, api_key="k") as client:
            with pytest.raises(RefusedRequest, match="has moved to"):
                await client.complete(ASK)
        assert elsewhere.requests == []


async def test_what_is_sent_along() -> None:
    cookie = answer("Something.", headers={"Set-Cookie": "session=1; Path=/"})
    async with (
        scripted_provider(cookie) as provider,
        client_of(provider, api_key="k", headers={"X-Title": "Mine"}) as client,
    ):
        for _ in range(2):
            await client.complete(ASK)
    for request in provider.requests:
        assert request.headers["authorization"] == "Bearer k"
        assert request.headers["accept-encoding"] == "identity"  # a compressed event waits for others
        assert request.headers["x-title"] == "Mine"
        assert "cookie" not in request.headers


async def test_no_call_waits_for_a_connection_of_others() -> None:
    async with scripted_provider(hanging("Some")) as provider, client_of(provider) as client:

        async def ask() -> None:
            async for _ in client.stream(ASK):
                pass

        async with asyncio.TaskGroup() as group:
            asking = [group.create_task(ask()) for _ in range(150)]
            await until(lambda: provider.connections == 150)
            for task in asking:
                task.cancel()


# What is no model.


async def failure(base_url: str, **options: object) -> str:
    options = {"retries": 0} | options
    async with ModelClient("m", base_url=base_url, clock=Hasty(), **options) as client:  # type: ignore[arg-type]  # any option
        with pytest.raises((RetriesSpent, UnreachableModel, UnreadableReply, KeyRefused)) as failed:
            await client.complete(ASK)
    assert "\n" not in str(failed.value)
    return str(failed.value)


def closed_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


async def test_nobody_listens_there() -> None:
    port = closed_port()
    said = await failure(f"http://127.0.0.1:{port}/v1")
    assert said.endswith(f"cannot connect to 127.0.0.1:{port}: Connection refused")


async def test_nobody_answers_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loopwatch.client.http.CONNECT", 0.05)
    with socket.socket() as full:  # its queue is full: whoever else connects is kept waiting
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [socket.socket() for _ in range(3)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        said = await failure(f"http://127.0.0.1:{full.getsockname()[1]}/v1")
        for one in waiting:
            one.close()
    assert said.endswith("within 0.05 seconds")


async def test_no_such_host() -> None:
    assert "there is no host called nowhere.invalid" in await failure("https://nowhere.invalid/v1")


async def test_a_page_of_html() -> None:
    page = status(200, "<!doctype html><title>Sign in</title>")
    async with scripted_provider(page) as provider:
        assert "a page of HTML" in await failure(provider.base_url)


async def test_a_line_of_20_mebibytes_is_not_read_to_its_end() -> None:
    endless = Answer([Raw(b"data: " + b"x" * (1 << 20))] + [Raw(b"x" * (1 << 20))] * 19)
    async with scripted_provider(endless) as provider:
        assert "no end after 8,388,608 bytes" in await failure(provider.base_url)


async def test_a_server_that_speaks_something_else() -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.test ESMTP\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        assert "sent what is no valid HTTP" in await failure(f"http://127.0.0.1:{port}/v1")
        assert "is it http:// instead of https://?" in await failure(f"https://127.0.0.1:{port}/v1")


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    file = tmp_path / "certificate.pem"
    key = ["-newkey", "rsa:2048", "-nodes", "-keyout", str(file), "-out", str(tmp_path / "public.pem")]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run(["openssl", "req", "-x509", "-days", "1", *key, *names], check=True, capture_output=True)
    file.write_bytes(file.read_bytes() + (tmp_path / "public.pem").read_bytes())
    return file


@asynccontextmanager
async def over_tls(certificate: Path) -> AsyncIterator[ScriptedProvider]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    async with scripted_provider(answer("Something."), ssl_context=context) as provider:
        yield provider


async def test_a_certificate_that_nobody_vouches_for_is_refused_at_once(certificate: Path) -> None:
    asyncio.get_running_loop().set_debug(False)  # else asyncio reports the handshake as the server's error
    async with over_tls(certificate) as provider:
        said = await failure(provider.base_url, retries=5)
    assert "the certificate of 127.0.0.1" in said
    assert "was refused: self-signed certificate" in said


async def test_a_certificate_of_ones_own_may_be_trusted(certificate: Path) -> None:
    transport = AiohttpTransport(ssl.create_default_context(cafile=certificate))
    async with (
        over_tls(certificate) as provider,
        ModelClient("m", base_url=provider.base_url, transport=transport) as client,
    ):
        assert (await client.complete(ASK)).text == "Something."


async def test_the_environments_proxy_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scripted_provider(answer("Something.")) as proxy:
        monkeypatch.setenv("http_proxy", proxy.base_url.removesuffix("/v1"))
        monkeypatch.delenv("no_proxy", raising=False)
        async with ModelClient("m", base_url="http://model.test/v1") as client:
            assert (await client.complete(ASK)).text == "Something."
        monkeypatch.setenv("no_proxy", "model.test")
        assert "there is no host called model.test" in await failure("http://model.test/v1")
        async with scripted_provider(answer("Nothing.")) as direct, client_of(direct) as client:
            assert (await client.complete(ASK)).text == "Nothing."
    assert len(proxy.requests) == 1


# What is left behind.


def open_sockets() -> int:
    return sum(1 for file in Path("/proc/self/fd").iterdir() if _target(file).startswith("socket:"))


def _target(file: Path) -> str:
    try:
        return str(file.readlink())
    except OSError:
        return ""


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110  the system tells nobody
            await asyncio.sleep(0.01)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts sockets in /proc")
async def test_a_storm_of_cancelled_streams_leaves_nothing_behind() -> None:
    """Two hundred streams, cancelled at every stage: before the head, in the text, while it waits to retry."""
    answers = [
        Answer(before=[Pause(30)]),
        hanging("Some"),
        looping("void 0;\n", delay=0.001),
        status(503),
        answer("one two three four five", delay=0.01),
    ]
    async with scripted_provider(lambda request: answers[request.number % len(answers)]) as provider:
        before, tasks = open_sockets(), len(asyncio.all_tasks())
        async with ModelClient("m", base_url=provider.base_url, loop_detection="balanced") as client:

            async def ask() -> None:
                async for _ in client.stream(ASK):
                    pass

            running = [asyncio.ensure_future(ask()) for _ in range(200)]
            for number, task in enumerate(running):
                if number % 10 == 0:
                    await asyncio.sleep(0.01)
                task.cancel()
            outcomes = await asyncio.gather(*running, return_exceptions=True)
            assert {type(outcome) for outcome in outcomes} <= {asyncio.CancelledError, type(None)}
            await until(lambda: provider.connections == 0 and open_sockets() <= before)
            provider.script(answer("Something."))
            assert (await client.complete(ASK)).text == "Something."
        await until(lambda: len(asyncio.all_tasks()) <= tasks)


async def test_whoever_stops_listening_closes_the_connection() -> None:
    async with scripted_provider(hanging("Some")) as provider, client_of(provider) as client:
        async with aclosing(client.stream(ASK)) as items:
            async for item in items:
                if isinstance(item, Delta):
                    break
        await provider.disconnected()
        stream = client.stream(ASK)
        async for item in stream:
            if isinstance(item, Delta):
                break
        del stream, item
        gc.collect()  # one that was only dropped is closed by the event loop
        await provider.disconnected()


def test_a_client_may_live_longer_than_an_event_loop() -> None:
    client = ModelClient("m", base_url="http://127.0.0.1:1/v1", retries=0)

    async def ask() -> None:
        with pytest.raises(RetriesSpent):
            await client.complete(ASK)

    async def ask_and_close() -> None:
        await ask()
        await client.aclose()

    asyncio.run(ask())
    asyncio.run(ask_and_close())


@pytest.mark.parametrize(
    "stuck",
    [
        Answer(before=[Pause(30)]),
        hanging("Some"),
        Answer([Role(), Say("Some"), Pause(30)], headers={"Connection": "close"}),
        status(503, retry_after=1),
    ],
    ids=["before the head", "in the text", "in a body without a length", "between two attempts"],
)
async def test_a_client_that_is_closed_ends_what_is_under_way(stuck: Answer) -> None:
    async with scripted_provider(stuck) as provider:
        client = ModelClient("m", base_url=provider.base_url)
        asking = asyncio.ensure_future(client.complete(ASK))
        await until(lambda: bool(provider.requests))
        await asyncio.sleep(0.1)
        await client.aclose()
        with pytest.raises(UnreachableModel, match="the client has been closed"):
            await asking
        await provider.disconnected()
        assert len(provider.requests) == 1


async def test_a_reset_is_no_end_of_a_reply_without_a_length() -> None:
    async def answer_and_reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
        writer.write(head + chunk({"content": "The answer is half "}))
        await writer.drain()
        await asyncio.sleep(0.1)
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    server = await asyncio.start_server(answer_and_reset, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        assert "closed the connection" in await failure(f"http://127.0.0.1:{port}/v1")


async def test_a_loop_drops_the_connection_before_its_last_deltas_are_looked_at() -> None:
    together = Answer([Role(), Together([Say(["void 0;\n"] * 700)]), Loop("void 0;\n", delay=0.001)])
    async with (
        scripted_provider(together, answer("Something.")) as provider,
        client_of(provider, loop_detection="balanced") as client,
        aclosing(client.stream(ASK)) as items,
    ):
        async for item in items:
            if isinstance(item, AttemptDiscarded):
                break
            if provider.requests[0].ended is None:
                await asyncio.sleep(0.002)  # a consumer that takes its time
        assert provider.requests[0].events_sent < 1_500


@pytest.mark.parametrize(
    ("proxy", "complaint"),
    [
        ("garbage", "the proxy in the environment has no http:// address"),
        ("socks5://127.0.0.1:1", "the proxy in the environment has no http:// address"),
        (
            "http://127.0.0.1:{closed}",
            "cannot connect to the proxy at 127.0.0.1:{closed}: Connection refused",
        ),
    ],
)
async def test_a_proxy_that_is_none_is_named(
    proxy: str, complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = str(closed_port())
    monkeypatch.setenv("http_proxy", proxy.replace("{closed}", closed))
    monkeypatch.delenv("no_proxy", raising=False)
    assert complaint.replace("{closed}", closed) in await failure("http://model.test/v1")


@pytest.mark.parametrize(
    ("code", "complaint"), [(407, "asks for a password (HTTP 407)"), (503, "(HTTP 503)")]
)
async def test_a_proxy_that_lets_nobody_through_is_named(
    code: int, complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 %d No\r\nContent-Length: 0\r\n\r\n" % code)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
        monkeypatch.delenv("no_proxy", raising=False)
        said = await failure("https://model.test/v1")
    assert f"the proxy at 127.0.0.1:{port}" in said
    assert complaint in said
