"""Alerts as they happen, to pages that are open: server-sent events."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from http import HTTPStatus

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from loopwatch.server.answers import refusal
from loopwatch.server.console.alerts import headline, in_words
from loopwatch.server.console.desk import Desk
from loopwatch.store.alerts import Raised

RETRY = 5_000
"""Milliseconds after which a browser asks again, once a stream has ended."""

LIFETIME = 600
"""Seconds after which a stream ends: the browser asks again, if whoever it is may still look."""


async def live(request: Request, desk: Desk) -> Response:
    """The project's alerts from now on. Where too many listen already, pages look again by themselves."""
    del request
    if desk.server.live.is_full:
        reason = "too many pages listen: this one looks again by itself"
        return refusal(HTTPStatus.SERVICE_UNAVAILABLE, reason, {"Retry-After": "30"})
    return StreamingResponse(
        _events(desk), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"}
    )


async def _events(desk: Desk) -> AsyncIterator[bytes]:
    with desk.server.live.listening(desk.project.id) as alerts:
        yield b"retry: %d\n\n" % RETRY
        with suppress(TimeoutError):
            async with asyncio.timeout(LIFETIME):
                async for raised in alerts:
                    data = msgspec.json.encode(_shown(raised, desk))
                    yield b"id: %s\nevent: alert\ndata: %s\n\n" % (raised.alert.id.encode(), data)


def _shown(raised: Raised, desk: Desk) -> dict[str, str]:
    alert = raised.alert
    return {
        "title": headline(alert),
        "text": f"{alert.user_id}: {in_words(alert, alert.observed)}",
        "href": desk.user_url(alert.user_id),
    }
