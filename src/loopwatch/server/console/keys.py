"""Keys of a project: made, replaced, revoked. A key is shown once, on the answer to its making."""

import math
from datetime import timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from loopwatch.errors import InputError
from loopwatch.server.console.desk import Desk
from loopwatch.server.console.figures import figure
from loopwatch.store.keys import Key

MOST_NAME = 100
MOST_OVERLAP = 8_760
"""Hours that an old key may hold beside the new one: a year."""


async def listed(desk: Desk) -> list[dict[str, Any]]:
    """The project's keys, those that hold first, newest first."""
    every = await desk.server.store.keys.list(desk.project.id)
    ordered = sorted(every, key=lambda one: (one.holds(desk.now), one.created_at), reverse=True)
    return [{"key": one, "state": _state(one, desk)} for one in ordered]


async def create(request: Request, desk: Desk) -> Response:
    """Make a key, and show it this once."""
    del request
    name = desk.form.text("key_name") or "unnamed"
    if len(name) > MOST_NAME:
        raise InputError(f"a key's name has at most {MOST_NAME} characters")
    if desk.is_demo:
        return desk.back("/settings", done="demo", anchor="keys")
    issued = await desk.server.store.keys.create(desk.project.id, name, admin=desk.form.ticked("admin"))
    await desk.note(f"key {issued.key.prefix}… made: {issued.key.name}")
    return desk.page("key.html", key=issued.key, secret=issued.secret, rotated=False, overlap=0.0)


async def act(request: Request, desk: Desk) -> Response:
    """Revoke or replace a key of this project. Raises InputError for any other."""
    key_id, keys = request.path_params["key_id"], desk.server.store.keys
    if desk.is_demo:
        return desk.back("/settings", done="demo", anchor="keys")
    meant = next((one for one in await keys.list(desk.project.id) if one.id == key_id), None)
    if meant is None:
        raise InputError("the project has no such key")
    if desk.form.text("action") == "revoke":
        await keys.revoke(key_id, desk.project.id)
        await desk.note(f"key {meant.prefix}… revoked: {meant.name}")
        return desk.back("/settings", done="revoked", anchor="keys")
    if desk.form.text("action") != "rotate":
        raise InputError("a key can be replaced or revoked")
    hours = figure(desk.form.text("overlap"))
    if not isinstance(hours, int | float) or not math.isfinite(hours) or not 0 <= hours <= MOST_OVERLAP:
        raise InputError(f"the old key goes on for 0 to {MOST_OVERLAP} hours: give a number")
    issued = await keys.rotate(key_id, timedelta(hours=hours), desk.project.id)
    await desk.note(f"key {meant.prefix}… replaced by {issued.key.prefix}…: {meant.name}")
    return desk.page("key.html", key=issued.key, secret=issued.secret, rotated=True, overlap=hours)


def _state(key: Key, desk: Desk) -> str:
    if key.revoked_at is not None:
        return "revoked"
    if not key.holds(desk.now):
        return "expired"
    return "active" if key.expires_at is None else "expiring"
