"""A project's settings: shown with their secrets masked, changed key by key. The shell uses the same."""

from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from loopwatch.alerts.channels.channel import send_test
from loopwatch.config.reach import Reach
from loopwatch.errors import ChannelError, ConfigError
from loopwatch.pricing.prices import PriceTable
from loopwatch.server.answers import Json
from loopwatch.server.auth import admitted
from loopwatch.server.bodies import MOST_EVENT, an_object, decoded, read
from loopwatch.server.services import services
from loopwatch.store.projects import Projects, Versioned


async def show(request: Request) -> Response:
    """All settings, as they are in force."""
    key = await admitted(request, admin=True)
    return _shown(await services(request).store.projects.settings(key.project_id))


async def update(request: Request) -> Response:
    """Set the keys that the body has, and answer with all settings."""
    key = await admitted(request, admin=True)
    changes = an_object(decoded(await read(request, MOST_EVENT)))
    server = services(request)
    actor = f"key {key.prefix}"
    return _shown(await change(server.store.projects, key.project_id, changes, actor, server.reach))


def _shown(current: Versioned) -> Response:
    return Json(current.settings.shown(), headers={"ETag": f'"{current.version}"'})


async def change(
    projects: Projects, project_id: str, changes: Mapping[str, Any], actor: str, reach: Reach
) -> Versioned:
    """Set some keys; null takes one back to its default, a mask keeps the secret that there is.

    ``actor`` is who is noted as having done it. Raises ConfigError with every defect of the settings, or
    of the project's own prices.
    """
    judge_prices(changes)
    return await projects.change(project_id, changes, actor, reach)


def judge_prices(changes: Mapping[str, Any]) -> None:
    """Raise ConfigError with every defect of the prices among some changes."""
    prices = changes.get("prices")
    if isinstance(prices, dict):
        try:
            PriceTable(prices)
        except ConfigError as error:
            raise ConfigError([replace(one, locus=f"prices.{one.locus}") for one in error.defects]) from None


async def test_channel(request: Request) -> Response:
    """Send a test through a channel, at once, and say what came of it."""
    key = await admitted(request, admin=True)
    server = services(request)
    settings = (await server.store.projects.settings(key.project_id)).settings
    name = request.path_params["channel"]
    channel = server.telling.channel(settings, name)
    if channel is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, "the project has no such channel, or it is switched off")
    page = f"{server.telling.public_url}/dashboard/settings"
    try:
        await send_test(channel, key.project_id, name, server.clock.now(), page)
    except ChannelError as error:
        return Json({"delivered": False, "error": str(error)})
    return Json({"delivered": True})
