"""What may go wrong, on either side: the right status in the provider's shape, one line, and the next is served."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from loopwatch.proxy import protocol
from loopwatch.testing.answers import Answer, answer
from loopwatch.testing.provider import scripted_provider
from loopwatch.testing.steps import Pause, Raw
from tests.proxy.house import Proxy, lines_of, proxied
from tests.proxy.replies import JSON

CHAT = "/v1/chat/completions"
ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hello?"}], "stream": True}
SHAPES: dict[str, Callable[[Any], str]] = {
    CHAT: lambda said: str(said["error"]["message"] if said["error"]["type"] else ""),
    "/v1/responses": lambda said: str(said["error"]["message"]),
    "/v1/messages": lambda said: str(said["error"]["message"] if said["type"] == "error" else ""),
    "/v1beta/models/g:streamGenerateContent": lambda said: str(
        said["error"]["message"] if said["error"]["status"] else ""
    ),
    "/api/chat": lambda said: str(said["error"]),
}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as bound:
        port: int = bound.getsockname()[1]
        return port


async def served(proxy: Proxy) -> None:
    """The next request is."""
    async with proxy.session.get(f"{proxy.url}/healthz") as answered:
        assert (answered.status, await answered.json()) == (200, {"status": "ok"})
    await proxy.settled()


@pytest.mark.parametrize("path", SHAPES)
@pytest.mark.parametrize("streams", [True, False])
async def test_an_upstream_that_is_down(
    path: str, *, streams: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async with proxied(f"http://127.0.0.1:{free_port()}/v1") as proxy:
        async with proxy.session.post(proxy.url + path, json=ASK | {"stream": streams}) as answered:
            assert answered.status == 502
            message = SHAPES[path](json.loads(await answered.read()))
        assert message.startswith("loopwatch proxy: cannot connect to 127.0.0.1:")
        (line,) = lines_of(caplog.records)
        assert "Connection refused" in line
        await served(proxy)


@pytest.mark.parametrize("path", SHAPES)
async def test_a_provider_without_an_upstream(path: str) -> None:
    async with proxied("openai=http://127.0.0.1:9/v1") as proxy:
        if path in (CHAT, "/v1/responses"):
            path = "/v1/messages"
        async with proxy.session.post(proxy.url + path, json=ASK) as answered:
            assert answered.status == 404
            assert "start with --upstream" in SHAPES[path](json.loads(await answered.read()))


async def test_a_path_that_the_provider_does_not_know_is_its_own_answer() -> None:
    nothing = Answer([Raw(b'{"detail":"Not Found"}')], status=404, headers=JSON)
    async with scripted_provider(nothing) as provider, proxied(provider.base_url) as proxy:
        async with proxy.session.post(f"{proxy.v1}/chat/completion", json=ASK) as answered:
            assert (answered.status, await answered.read()) == (404, b'{"detail":"Not Found"}')
        assert provider.requests[0].path == "/v1/chat/completion"


@pytest.mark.parametrize("path", ["/v1/../secret", "/v1/%2e%2e/secret", "/v1/a/./b"])
async def test_a_path_that_climbs(path: str) -> None:
    async with scripted_provider(answer("Hi.")) as provider, proxied(provider.base_url) as proxy:
        reply = await raw(proxy, f"GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".encode())
        assert reply.startswith(b"HTTP/1.1 400")
        assert provider.requests == []


async def raw(proxy: Proxy, *parts: bytes) -> bytes:
    """What bytes are answered with, until the connection ends."""
    async with connected(proxy) as (reader, writer):
        for part in parts:
            writer.write(part)
            await asyncio.sleep(0.01)
        async with asyncio.timeout(10):
            try:
                return await reader.read()
            except ConnectionError:
                return b""


@asynccontextmanager
async def connected(proxy: Proxy) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.rpartition(":")[2]))
    try:
        yield reader, writer
    finally:
        writer.close()


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # a TLS handshake
        b"nonsense\r\n\r\n",
        b"GET /v1/models HTTP/1.1\r\nbad header\r\n\r\n",
        b"CONNECT evil.example:443 HTTP/1.1\r\nhost: evil.example\r\n\r\n",
        b"POST /v1/x HTTP/1.1\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /v1/x HTTP/1.1\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabcd",
        b"GET /\xff\xfe HTTP/1.1\r\nhost: x\r\n\r\n",
    ],
)
async def test_garbage(garbage: bytes, caplog: pytest.LogCaptureFixture) -> None:
    async with scripted_provider(answer("Hi.")) as provider, proxied(provider.base_url) as proxy:
        reply = await raw(proxy, garbage)
        assert reply.startswith(b"HTTP/1.1 400")
        assert b"loopwatch proxy" in reply
        assert len(lines_of(caplog.records)) <= 1
        assert not any(record.exc_info for record in caplog.records)
        assert provider.requests == []
        await served(proxy)


async def test_an_absolute_address_goes_to_the_upstream_all_the_same() -> None:
    async with scripted_provider(answer("Hi.")) as provider, proxied(provider.base_url) as proxy:
        head = b"GET http://169.254.169.254/v1/models HTTP/1.1\r\nhost: evil\r\nconnection: close\r\n\r\n"
        assert (await raw(proxy, head)).startswith(b"HTTP/1.1 200")
        assert provider.requests[0].path == "/v1/models"
        assert provider.requests[0].headers["host"].startswith("127.0.0.1:")


@pytest.mark.parametrize(
    "head",
    [
        b"GET /v1/models HTTP/1.1\r\nx-long: " + b"x" * 80_000 + b"\r\n\r\n",
        b"GET /v1/models HTTP/1.1\r\n" + b"x-many: y\r\n" * 9_000 + b"\r\n",
        b"GET /v1/models HTTP/1.1\r\nx-endless: " + b"x" * 80_000,
        b"GET /v1/" + b"x" * 80_000 + b" HTTP/1.1\r\n\r\n",
    ],
    ids=["long", "many", "endless", "path"],
)
async def test_a_head_that_is_too_large(head: bytes) -> None:
    async with scripted_provider(answer("Hi.")) as provider, proxied(provider.base_url) as proxy:
        reply = await raw(proxy, *[head[at : at + 20_000] for at in range(0, len(head), 20_000)])
        assert reply.startswith(b"HTTP/1.1 431") or reply == b""  # a reset, where we had stopped reading
        assert provider.requests == []
        await served(proxy)


async def test_a_slow_head_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.2)
    async with scripted_provider(answer("Hi.")) as provider, proxied(provider.base_url) as proxy:
        assert await raw(proxy) == b""
        assert (await raw(proxy, b"GET /v1/models HTTP/1.1\r\nx: ")).startswith(b"HTTP/1.1 408")
        # A head that came in time waits for its answer as long as that takes.
        provider.script(Answer([Pause(0.5), *answer("Late.").steps]))
        async with proxy.session.post(proxy.url + CHAT, json=ASK) as answered:
            assert b"Late" in await answered.read()


async def test_a_slow_body_is_given_up() -> None:
    head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 99\r\nconnection: close\r\n\r\n"
    async with (
        scripted_provider(answer("Hi.")) as provider,
        proxied(provider.base_url, client_idle_secs=0.2) as proxy,
    ):
        reply = await raw(proxy, head, b'{"model"')
        assert reply.startswith(b"HTTP/1.1 408")
        assert b"nothing of the request came for 0.2 s" in reply
        reply = await raw(proxy, head.replace(b"chat/completions", b"files"), b"abc")
        assert b"408" in reply or reply == b""
        await served(proxy)


@pytest.mark.parametrize("announced", [True, False])
async def test_a_hundred_megabytes(*, announced: bool) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b" " * 1_000_000

    async with (
        scripted_provider(answer("Hi.")) as provider,
        proxied(provider.base_url, max_body=2_000_000) as proxy,
    ):
        headers = {"content-length": "100000000"} if announced else {}
        async with proxy.session.post(proxy.url + CHAT, data=pieces(), headers=headers) as answered:
            assert answered.status == 413
            assert "more than 2,000,000 bytes" in (await answered.read()).decode()
        assert provider.requests == []
        await served(proxy)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"\xff\xff", b'{"a":' * 5_000, b'{"messages": 5, "n": "x"}']
)
@pytest.mark.parametrize("path", SHAPES)
async def test_a_body_that_is_none_is_the_providers_to_refuse(path: str, body: bytes) -> None:
    refused = Answer([Raw(b'{"error":{"message":"no"}}')], status=400, headers=JSON)
    async with scripted_provider(refused) as provider, proxied(provider.base_url) as proxy:
        async with proxy.session.post(proxy.url + path, data=body) as answered:
            assert (answered.status, await answered.read()) == (400, b'{"error":{"message":"no"}}')
        assert provider.requests[-1].raw == body or provider.requests[-1].body["stream"] is True
        await served(proxy)


async def test_a_client_that_closes_its_half_has_gone() -> None:
    body = json.dumps(ASK).encode()
    head = f"POST {CHAT} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n".encode()
    async with scripted_provider(Answer(before=[Pause(60)])) as provider, proxied(provider.base_url) as proxy:
        async with connected(proxy) as (_, writer):
            writer.write(head + body)
            while not provider.requests:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            writer.write_eof()
            await provider.requests[0].over()
        assert provider.requests[0].ended == "dropped"
        await served(proxy)


async def test_a_websocket_is_told_to_come_by_http() -> None:
    head = (
        b"GET /v1/responses HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n"
        b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n\r\n"
    )
    async with scripted_provider(answer("Hi.")) as provider, proxied(provider.base_url) as proxy:
        reply = await raw(proxy, head)
        assert reply.startswith(b"HTTP/1.1 426")
        assert b"WebSockets are not relayed: use HTTP" in reply
        await served(proxy)


async def test_a_proxy_before_itself_ends_the_circle() -> None:
    port = free_port()
    async with proxied(f"http://127.0.0.1:{port}/v1") as proxy:
        server = await asyncio.start_server(lambda r, w: _pipe(r, w, proxy), "127.0.0.1", port)
        async with server, proxy.session.post(proxy.url + CHAT, json=ASK) as answered:
            assert answered.status == 508
            assert "leads back to this proxy" in (await answered.read()).decode()


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, proxy: Proxy) -> None:
    """Leads back."""
    async with connected(proxy) as (inner, out):

        async def copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            while data := await source.read(65_536):
                sink.write(data)

        await asyncio.gather(copy(reader, out), copy(inner, writer))
    writer.close()


async def test_more_requests_than_may_be_are_asked_to_wait() -> None:
    async with (
        scripted_provider(Answer(before=[Pause(60)]), answer("Hi.")) as provider,
        proxied(provider.base_url, max_streams=1) as proxy,
    ):
        first = asyncio.ensure_future(proxy.session.post(proxy.url + CHAT, json=ASK))
        while not provider.requests:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        async with proxy.session.post(f"{proxy.v1}/messages", json=ASK) as answered:
            assert (answered.status, answered.headers["retry-after"]) == (503, "1")
            assert json.loads(await answered.read())["error"]["type"] == "overloaded_error"
        first.cancel()
        await served(proxy)
        async with proxy.session.post(proxy.url + CHAT, json=ASK) as answered:
            assert b"Hi" in await answered.read()


async def test_the_proxys_own_key_is_asked_for_and_goes_no_further() -> None:
    async with scripted_provider(answer("Hi.")) as provider, proxied(provider.base_url, key="k1") as proxy:
        for headers, path in (({}, CHAT), ({"x-loopwatch-key": "no"}, CHAT), ({}, f"/k/k2{CHAT}")):
            async with proxy.session.post(proxy.url + path, json=ASK, headers=headers) as answered:
                assert answered.status == 401
        for headers, path in (({"x-loopwatch-key": "k1"}, CHAT), ({}, f"/k/k1/u/u7{CHAT}")):
            async with proxy.session.post(proxy.url + path, json=ASK, headers=headers) as answered:
                assert answered.status == 200
                await answered.read()
        assert {request.path for request in provider.requests} == {CHAT}
        assert not any("x-loopwatch-key" in request.headers for request in provider.requests)
        assert [row.user_id for row in proxy.rows] == [None, "u7"]


async def test_an_upstream_that_speaks_no_http(caplog: pytest.LogCaptureFixture) -> None:
    async def babble(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"\x15\x03\x01 babble\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(babble, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, proxied(f"http://127.0.0.1:{port}/v1") as proxy:
        for path in (CHAT, "/v1/models"):
            async with proxy.session.post(proxy.url + path, json=ASK) as answered:
                assert answered.status == 502
        assert all("no valid HTTP" in line for line in lines_of(caplog.records))


async def test_no_key_is_ever_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    async with proxied(f"http://127.0.0.1:{free_port()}/v1", key="own-secret") as proxy:
        headers = {"authorization": "Bearer sk-secret", "x-loopwatch-key": "own-secret"}
        for path in (
            f"/k/own-secret{CHAT}?key=query-secret",
            "/v1beta/models/g:generateContent?key=query-secret",
        ):
            async with proxy.session.post(proxy.url + path, json=ASK, headers=headers) as answered:
                assert "secret" not in (await answered.read()).decode()
        assert "secret" not in repr(proxy.house)
        said = " ".join(record.getMessage() for record in caplog.records if "loopwatch" in record.name)
        assert "secret" not in said
