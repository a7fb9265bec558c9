"""The proxy's face: two pages of its own, everything else goes through."""

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.types import Receive, Scope, Send

from loopwatch.hosting.exposition import KIND
from loopwatch.proxy.exchange import Exchange
from loopwatch.proxy.house import House


def create_app(house: House) -> Starlette:
    """The application over a house."""

    async def alive(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def metrics(_: Request) -> Response:
        lines = house.tallies.lines(house.ledger.lost)
        return PlainTextResponse("\n".join(lines) + "\n", headers={"content-type": KIND})

    async def through(scope: Scope, receive: Receive, send: Send) -> None:
        await Exchange(house, scope, receive, send).run()

    return Starlette(
        routes=[Route("/healthz", alive), Route("/metrics", metrics), Mount("/", app=through)],
    )
