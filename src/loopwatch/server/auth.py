"""Who is asking: a project's key, in ``x-api-key`` or as a bearer token, and what it may do."""

import math
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request

from loopwatch.server.services import services
from loopwatch.store.keys import Key

_HINT = {"WWW-Authenticate": 'Bearer realm="loopwatch"'}


async def admitted(request: Request, *, admin: bool = False) -> Key:
    """The key of a request that may go on.

    Raises HTTPException: 401 without a key that holds, 429 for one that asks too often, 404 where the
    address names another project, 403 where only an administrator's key will do.
    """
    secret = _secret(request)
    if not secret:
        reason = "a project key is needed: send it as x-api-key, or as Authorization: Bearer"
        raise HTTPException(HTTPStatus.UNAUTHORIZED, reason, _HINT)
    server = services(request)
    key = await server.store.keys.authenticate(secret)
    if key is None:
        reason = "the key is unknown, revoked or expired: `loopwatch keys create` makes another"
        raise HTTPException(HTTPStatus.UNAUTHORIZED, reason, _HINT)
    wait = server.buckets.take(key.id)
    if wait:
        reason = "this key asks too often: wait, or send calls in batches to /api/v1/calls"
        headers = {"Retry-After": str(math.ceil(wait))}
        raise HTTPException(HTTPStatus.TOO_MANY_REQUESTS, reason, headers)
    if request.path_params.get("project_id", key.project_id) != key.project_id:
        raise HTTPException(HTTPStatus.NOT_FOUND, "this key knows no such project")
    if admin and not key.admin:
        reason = "an administrator's key is needed: `loopwatch keys create --admin` makes one"
        raise HTTPException(HTTPStatus.FORBIDDEN, reason)
    return key


def _secret(request: Request) -> str:
    headers = dict(request.scope["headers"])
    secret: bytes = headers.get(b"x-api-key", b"")
    if not secret:
        scheme, _, secret = headers.get(b"authorization", b"").partition(b" ")
        if scheme.lower() != b"bearer":
            return ""
    return secret.strip().decode("latin-1")
