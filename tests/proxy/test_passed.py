"""What is not watched goes through as it is, in both directions."""

import gzip
import os
from collections.abc import AsyncIterator

import pytest

from loopwatch.testing.answers import Answer, status
from loopwatch.testing.provider import scripted_provider
from loopwatch.testing.steps import Raw
from tests.proxy.house import proxied

PACKED = gzip.compress(b'{"data": []}')


async def test_a_packed_answer_stays_packed_and_its_headers_stay() -> None:
    sent = Answer(
        [Raw(PACKED)],
        headers={
            "Content-Type": "application/json",
            "Content-Encoding": "gzip",
            "Content-Length": str(len(PACKED)),
            "X-Request-Id": "r1",
            "Openai-Processing-Ms": "7",
        },
    )
    async with scripted_provider(sent) as provider, proxied(provider.base_url) as proxy:
        headers = {
            "accept-encoding": "gzip",
            "authorization": "Bearer sk-x",
            "connection": "x-hop",
            "x-hop": "1",
        }
        async with proxy.session.get(f"{proxy.v1}/models?limit=2&q=%41", headers=headers) as answered:
            assert await answered.read() == PACKED
            assert answered.headers["content-encoding"] == "gzip"
            assert answered.headers["content-length"] == str(len(PACKED))
            assert (answered.headers["x-request-id"], answered.headers["openai-processing-ms"]) == ("r1", "7")
        (request,) = provider.requests
        assert (request.method, request.path, dict(request.query)) == (
            "GET",
            "/v1/models",
            {"limit": "2", "q": "A"},
        )
        assert request.headers["accept-encoding"] == "gzip"
        assert request.headers["authorization"] == "Bearer sk-x"
        assert "x-hop" not in request.headers
        assert proxy.rows == []


@pytest.mark.parametrize("announced", [True, False])
async def test_an_upload_streams_through_whatever_its_size(*, announced: bool) -> None:
    parts = [os.urandom(100_000) for _ in range(30)]

    async def pieces() -> AsyncIterator[bytes]:
        for part in parts:
            yield part

    async with (
        scripted_provider(status(200, {"id": "file-1"})) as provider,
        proxied(provider.base_url, max_body=1_000) as proxy,
    ):
        headers = {"content-length": "3000000"} if announced else {}
        async with proxy.session.post(f"{proxy.v1}/files", data=pieces(), headers=headers) as answered:
            assert (answered.status, await answered.json()) == (200, {"id": "file-1"})
        (request,) = provider.requests
        assert request.raw == b"".join(parts)
        assert request.headers.get("content-length") == ("3000000" if announced else None)


@pytest.mark.parametrize("code", [204, 301, 304, 404, 500])
async def test_every_status_is_the_upstreams(code: int) -> None:
    sent = status(
        code, b"" if code in (204, 304) else b"said", headers={"Location": "https://elsewhere.example/"}
    )
    async with scripted_provider(sent) as provider, proxied(provider.base_url) as proxy:
        async with proxy.session.delete(f"{proxy.v1}/files/f1", allow_redirects=False) as answered:
            assert answered.status == code
            assert await answered.read() == (b"" if code in (204, 304) else b"said")
        assert [request.method for request in provider.requests] == ["DELETE"]


async def test_a_head_has_no_body() -> None:
    bare = Answer(headers={"Content-Type": "text/plain", "Content-Length": "5"})
    async with (
        scripted_provider(bare, status(200, b"12345")) as provider,
        proxied(provider.base_url) as proxy,
    ):
        async with proxy.session.head(f"{proxy.v1}/models") as answered:
            assert (answered.status, answered.headers["content-length"]) == (200, "5")
        async with proxy.session.get(f"{proxy.v1}/models") as answered:
            assert await answered.read() == b"12345"


async def test_connections_are_kept() -> None:
    async with scripted_provider(status(200, b"x")) as provider, proxied(provider.base_url) as proxy:
        for _ in range(3):
            async with proxy.session.get(f"{proxy.v1}/models") as answered:
                await answered.read()
        assert len(proxy.session.connector._conns) == 1  # type: ignore[union-attr]


async def test_cookies_and_several_headers_of_a_name_are_kept() -> None:
    async with scripted_provider(status(200, b"x")) as provider, proxied(provider.base_url) as proxy:
        headers = [("x-many", "a"), ("x-many", "b"), ("cookie", "c=1")]
        async with proxy.session.get(f"{proxy.v1}/models", headers=headers) as answered:
            await answered.read()
        got = provider.requests[0].headers
        assert got.getall("x-many") == ["a", "b"]  # type: ignore[attr-defined]
        assert got["cookie"] == "c=1"
        assert got["via"].startswith("1.1 loopwatch-")


async def test_metrics_name_nobody() -> None:
    async with scripted_provider(status(200, b"x")) as provider, proxied(provider.base_url) as proxy:
        async with proxy.session.get(f"{proxy.url}/u/ann/v1/models") as answered:
            await answered.read()
        await proxy.settled()
        async with proxy.session.get(f"{proxy.url}/metrics") as answered:
            text = await answered.text()
        assert 'loopwatch_proxy_answers_total{api="openai",code="200"} 1' in text
        assert "ann" not in text
