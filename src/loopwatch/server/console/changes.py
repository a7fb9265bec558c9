"""Changes of settings that are no plain form: channels, and the end of a project."""

from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response

from loopwatch.errors import ConfigError
from loopwatch.server.console import channels
from loopwatch.server.console.desk import Desk
from loopwatch.server.console.settings import Attempt, page, saved


async def add_channel(request: Request, desk: Desk) -> Response:
    """Add a channel; what is wrong with it stands beside its fields, secrets left out."""
    try:
        await desk.change(channels.added(desk.form, desk))
    except ConfigError as error:
        plain = ("type", "channel_id", "channel_to")
        typed = {name: value for name, value in desk.form.fields if name in plain}
        errors = channels.errors_of(error, len(desk.current.settings.channels))
        return await page(request, desk, Attempt("channels", typed, errors), HTTPStatus.UNPROCESSABLE_ENTITY)
    return saved(desk, "channels", "channel-added")


async def change_channel(request: Request, desk: Desk) -> Response:
    """Switch a channel, remove it, or send a test through it."""
    key = request.path_params["key"]
    if desk.form.text("action") == "test":
        if desk.is_demo:
            return saved(desk, "channels")
        reason = await channels.tried(desk, key)
        if not reason:
            return saved(desk, "channels", "test-sent")
        return await page(request, desk, Attempt("channels", tested={key: reason}), HTTPStatus.BAD_GATEWAY)
    await desk.change(channels.changed(desk.form, desk, key))
    done = "channel-removed" if desk.form.text("action") == "remove" else "channel-saved"
    return saved(desk, "channels", done)


async def delete_project(request: Request, desk: Desk) -> Response:
    """Delete a project with everything in it, for whoever types its name."""
    if desk.form.text("name") != desk.project.name:
        errors = {"name": f"Type the project's name, {desk.project.name}, to delete it."}
        return await page(request, desk, Attempt("danger", {}, errors), HTTPStatus.UNPROCESSABLE_ENTITY)
    if desk.is_demo:
        return saved(desk, "danger")
    await desk.server.store.upkeep.delete(desk.project.id)
    return desk.to("/dashboard?done=project-deleted")
