"""The server, and beside its routes one that decodes a call and answers 202 without storing it.

Started by the bench with a database's address; prints its port and a key, then, after each line that comes
in, the CPU seconds it has used.
"""

import asyncio
import sys
import time

import msgspec
import uvicorn
import uvloop
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from loopwatch.server.serving import Options, opened, settle
from loopwatch.store.opening import open_store


async def plain(request: Request) -> Response:
    msgspec.json.decode(await request.body())
    return Response(status_code=202)


async def main(url: str) -> None:
    async with open_store(url, upgrade=True) as store:
        project = (await store.projects.create("Bench", {"tokenThreshold": 10**9})).id
        key = (await store.keys.create(project, "bench")).secret
    async with opened(Options(url, rate=1e9, burst=1e9), environment={}) as app:
        bare = Starlette(routes=[Route("/plain", plain, methods=["POST"])])  # none of our middleware

        async def either(scope: Scope, receive: Receive, send: Send) -> None:
            await (bare if scope.get("path") == "/plain" else app)(scope, receive, send)

        config = uvicorn.Config(either, port=0, log_level="warning", access_log=False)
        server = uvicorn.Server(config)
        serving = asyncio.ensure_future(server.serve())
        while not server.started:  # noqa: ASYNC110  uvicorn has no event for it
            await asyncio.sleep(0.01)
        settle()
        sys.stdout.write(f"{server.servers[0].sockets[0].getsockname()[1]} {key}\n")
        sys.stdout.flush()
        while await asyncio.to_thread(sys.stdin.readline):
            sys.stdout.write(f"{time.process_time()}\n")
            sys.stdout.flush()
        server.should_exit = True
        await serving


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1]))
