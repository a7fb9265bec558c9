"""A client without any cleverness: what it is answered, byte for byte."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import aiohttp

from loopwatch.testing.provider import ScriptedProvider
from loopwatch.wire.sse import SSEDecoder


class Answered(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def chunks(self) -> list[dict[str, Any]]:
        """The chunks of a whole reply, which must end with [DONE]."""
        *events, done = [event.data for event in SSEDecoder().feed(self.body)]
        assert done == b"[DONE]"
        return [json.loads(event) for event in events]

    @property
    def deltas(self) -> list[dict[str, Any]]:
        return [choice["delta"] for chunk in self.chunks for choice in chunk["choices"]]

    @property
    def text(self) -> str:
        return "".join(delta.get("content") or "" for delta in self.deltas)


async def ask(provider: ScriptedProvider, **body: Any) -> Answered:
    return await fetch("POST", f"{provider.base_url}/chat/completions", json={"stream": True} | body)


async def fetch(method: str, url: str, **options: Any) -> Answered:
    async with aiohttp.ClientSession() as session, session.request(method, url, **options) as response:
        return Answered(response.status, response.headers, await response.read())


@asynccontextmanager
async def raw(provider: ScriptedProvider) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A socket on which one request was sent."""
    address = urlsplit(provider.base_url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nHost: here\r\nContent-Length: 2\r\n\r\n{}")
    try:
        yield reader, writer
    finally:
        writer.transport.abort()
