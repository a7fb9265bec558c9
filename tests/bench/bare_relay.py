"""The least that a streaming proxy can be, Starlette and aiohttp: run it with its upstream, read its port."""

import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import uvicorn
import uvloop
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route


def create_app(upstream: str) -> Starlette:
    session: aiohttp.ClientSession

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        nonlocal session
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
            yield

    async def relay(request: Request) -> StreamingResponse:
        body = await request.body()
        response = await session.post(
            upstream + request.url.path, data=body, headers={"content-type": "application/json"}
        )

        async def pieces() -> AsyncIterator[bytes]:
            async with response:
                async for piece in response.content.iter_any():
                    yield piece

        return StreamingResponse(pieces(), response.status, {"content-type": response.content_type})

    return Starlette(routes=[Route("/{path:path}", relay, methods=["POST"])], lifespan=lifespan)


async def main(upstream: str) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=2_048) as bound:
        print(bound.getsockname()[1], flush=True)  # noqa: T201  for whoever started it
        config = uvicorn.Config(create_app(upstream), http="httptools", access_log=False, log_config=None)
        await uvicorn.Server(config).serve(sockets=[bound])


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1]))
