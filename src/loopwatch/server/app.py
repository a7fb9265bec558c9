"""The application: every route, and what becomes of errors."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.convertors import Convertor, register_url_convertor
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from loopwatch.server import blocking, health, ingest, openapi, recommendations, reports, settings, users
from loopwatch.server.answers import HANDLED
from loopwatch.server.check import check
from loopwatch.server.chores import chores
from loopwatch.server.services import Services


class Whole(Convertor[str]):
    """All the rest of a path, line feeds and slashes too: ids of users are what their senders made them."""

    regex = r"(?s:.+)"

    def convert(self, value: str) -> str:
        """As it is."""
        return value

    def to_string(self, value: str) -> str:
        """As it is."""
        return value


register_url_convertor("whole", Whole())

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
    Route(f"{_V1}/users/{{project_id}}/{{user_id:whole}}/block", users.block, methods=["POST"]),
    Route(f"{_V1}/users/{{project_id}}/{{user_id:whole}}/unblock", users.unblock, methods=["POST"]),
    Route(f"{_V1}/users/{{project_id}}/{{user_id:whole}}", users.erase, methods=["DELETE"]),
    Route(f"{_V1}/alerts/{{project_id}}", reports.alerts),
    Route(f"{_V1}/settings/{{project_id}}", settings.show),
    Route(f"{_V1}/settings/{{project_id}}", settings.update, methods=["PUT"]),
    Route(
        f"{_V1}/settings/{{project_id}}/channels/{{channel}}/test", settings.test_channel, methods=["POST"]
    ),
    Route(f"{_V1}/recommendations/models/{{project_id}}", recommendations.models),
    Route(f"{_V1}/recommendations/pricing/{{project_id}}", recommendations.pricing),
    Route(f"{_V1}/recommendations/downgrades/{{project_id}}", recommendations.downgrades),
    Route("/dashboard/block/{token}", blocking.ask),
    Route("/dashboard/block/{token}", blocking.block, methods=["POST"]),
    Route("/healthz", health.alive),
    Route("/readyz", health.ready),
    Route("/metrics", health.metrics),
    Route("/openapi.json", openapi.show),
)


def create_app(server: Services) -> Starlette:
    """The application over an open store; its lifespan does the chores."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with chores(server):
            yield

    app = Starlette(
        routes=ROUTES,
        middleware=[Middleware(Counted, server.answers)],
        exception_handlers=HANDLED,
        lifespan=lifespan,
    )
    app.state.services = server
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
