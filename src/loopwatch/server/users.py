"""One user, acted upon: blocked, let through again, forgotten. All by an administrator's key."""

from starlette.requests import Request
from starlette.responses import Response

from loopwatch.errors import InputError
from loopwatch.records.row import MOST_CHARS, name
from loopwatch.server.answers import Json
from loopwatch.server.auth import admitted
from loopwatch.server.services import services


async def block(request: Request) -> Response:
    """Refuse the user's next calls."""
    project_id, user_id, by = await _meant(request)
    await services(request).store.users.block(project_id, user_id, f"blocked by {by}")
    return Json({"userId": user_id, "blocked": True})


async def unblock(request: Request) -> Response:
    """Let the user's calls through again."""
    project_id, user_id, _ = await _meant(request)
    await services(request).store.users.unblock(project_id, user_id)
    return Json({"userId": user_id, "blocked": False})


async def erase(request: Request) -> Response:
    """Delete everything that is kept about the user; the project's sums stay, they name nobody."""
    project_id, user_id, _ = await _meant(request)
    gone = await services(request).store.users.erase(project_id, user_id)
    return Json({"userId": user_id, "deletedCalls": gone})


async def _meant(request: Request) -> tuple[str, str, str]:
    """The project, the user as they are stored, and who asks. Raises InputError for an id that cannot be."""
    key = await admitted(request, admin=True)
    server = services(request)
    text = request.path_params["user_id"]
    if not text.strip() or len(text) > MOST_CHARS or "\x00" in text or not _storable(text):
        raise InputError(f"a user's id has 1 to {MOST_CHARS} characters that can be stored")
    user_id = name(text, "userId", (await server.arrival(key.project_id)).pseudonym)
    return key.project_id, str(user_id), f"key {key.prefix}"


def _storable(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)
