"""The application: every route, and what becomes of errors."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from loopwatch.server import health, ingest, openapi, recommendations, reports, settings, users
from loopwatch.server.answers import HANDLED
from loopwatch.server.check import check
from loopwatch.server.chores import chores
from loopwatch.server.console.routes import ROUTES as CONSOLE
from loopwatch.server.demo.routes import ROUTES as DEMO
from loopwatch.server.demo.stage import Stage
from loopwatch.server.pages.failures import for_people
from loopwatch.server.pages.protection import Protected, is_page
from loopwatch.server.paths import USER
from loopwatch.server.services import Services

_V1 = "/api/v1"
ROUTES = (
    # In the order of how often they are asked: the router looks from the beginning.
    Route(f"{_V1}/log", ingest.log, methods=["POST"]),
    Route(f"{_V1}/check", check),
    Route(f"{_V1}/calls", ingest.calls, methods=["POST"]),
    Route("/v1/traces", ingest.traces, methods=["POST"]),
    Route(f"{_V1}/me", reports.me),
    Route(f"{_V1}/stats/{{project_id}}", reports.stats),
    Route(f"{_V1}/users/{{project_id}}", reports.users),
    Route(f"{_V1}/users/{{project_id}}/{USER}/block", users.block, methods=["POST"]),
    Route(f"{_V1}/users/{{project_id}}/{USER}/unblock", users.unblock, methods=["POST"]),
    Route(f"{_V1}/users/{{project_id}}/{USER}", users.erase, methods=["DELETE"]),
    Route(f"{_V1}/alerts/{{project_id}}", reports.alerts),
    Route(f"{_V1}/settings/{{project_id}}", settings.show),
    Route(f"{_V1}/settings/{{project_id}}", settings.update, methods=["PUT"]),
    Route(
        f"{_V1}/settings/{{project_id}}/channels/{{channel}}/test", settings.test_channel, methods=["POST"]
    ),
    Route(f"{_V1}/recommendations/models/{{project_id}}", recommendations.models),
    Route(f"{_V1}/recommendations/pricing/{{project_id}}", recommendations.pricing),
    Route(f"{_V1}/recommendations/downgrades/{{project_id}}", recommendations.downgrades),
    Route("/healthz", health.alive),
    Route("/readyz", health.ready),
    Route("/metrics", health.metrics),
    Route("/openapi.json", openapi.show),
)


def create_app(server: Services) -> Starlette:
    """The application over an open store; its lifespan does the chores."""
    stage = Stage(server)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with chores(server), stage.playing():
            yield

    app = Starlette(
        routes=[*ROUTES, *CONSOLE, *DEMO],
        middleware=[
            Middleware(Counted, server.answers),
            Middleware(Protected, server.telling.public_url),
        ],
        exception_handlers={kind: for_people(answer, is_page) for kind, answer in HANDLED.items()},
        lifespan=lifespan,
    )
    app.state.services = server
    app.state.stage = stage
    return app


class Counted:
    """Counts answers by their status, and nothing else: no request waits for it."""

    def __init__(self, app: ASGIApp, answers: Counter[int]) -> None:
        self._app = app
        self._answers = answers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on."""

        async def counting(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._answers[message["status"]] += 1
            await send(message)

        await self._app(scope, receive, counting if scope["type"] == "http" else send)
