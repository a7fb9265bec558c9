"""One user, acted upon: blocked, let through again, forgotten. All by an administrator's key."""

from starlette.requests import Request
from starlette.responses import Response

from loopwatch.server.answers import Json
from loopwatch.server.auth import admitted
from loopwatch.server.queries import user
from loopwatch.server.services import services


async def block(request: Request) -> Response:
    """Refuse the user's next calls."""
    project_id, user_id, by = await _meant(request)
    store = services(request).store
    await store.users.block(project_id, user_id, f"blocked by {by}")
    await store.audit.note(project_id, by, f"user {user_id} blocked", user_id=user_id)
    return Json({"userId": user_id, "blocked": True})


async def unblock(request: Request) -> Response:
    """Let the user's calls through again."""
    project_id, user_id, by = await _meant(request)
    store = services(request).store
    await store.users.unblock(project_id, user_id)
    await store.audit.note(project_id, by, f"user {user_id} unblocked", user_id=user_id)
    return Json({"userId": user_id, "blocked": False})


async def erase(request: Request) -> Response:
    """Delete what is kept about the user, except a block; the project's sums stay, they name nobody."""
    project_id, user_id, by = await _meant(request)
    store = services(request).store
    gone = await store.users.erase(project_id, user_id)
    await store.audit.note(project_id, by, "a user's data deleted")
    state = await store.users.cap_state(project_id, user_id, None, None)
    return Json({"userId": user_id, "deletedCalls": gone, "blocked": state.blocked})


async def _meant(request: Request) -> tuple[str, str, str]:
    """The project, the user as they are stored, and who asks. Raises InputError for an id that cannot be."""
    key = await admitted(request, admin=True)
    return (
        key.project_id,
        await user(request, key.project_id, request.path_params["user_id"]),
        f"key {key.prefix}",
    )
