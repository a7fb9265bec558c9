"""The page behind the "block this user" link of an alert: who is meant, and a proof that one may.

Opening it changes nothing, since mail scanners and chat previews open every link. Whoever blocks is an
owner who is signed in, or shows an administrator's key of the alert's project.
"""

from http import HTTPStatus
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from loopwatch.alerts.links import BlockLinks, BlockRequest
from loopwatch.errors import InputError
from loopwatch.server.console.entry import form_page
from loopwatch.server.console.seats import checked, visiting
from loopwatch.server.services import services

MOST_FORM = 4_096
"""Bytes of the form: a key and nothing else."""
NO_KEY = "This is no administrator's key of the project."


async def ask(request: Request) -> Response:
    """Show who would be blocked."""
    return await _form(request, _meant(request))


async def block(request: Request) -> Response:
    """Block, for an owner or by a key that may."""
    meant = _meant(request)
    visitor = await visiting(request)
    form = await checked(request, visitor, MOST_FORM)
    server = services(request)
    if visitor.member is not None and visitor.member.is_owner:
        by = visitor.member.name
    else:
        key = await server.store.keys.authenticate(form.text("key"))
        if key is None or not key.admin or key.project_id != meant.project:
            return await _form(request, meant, NO_KEY, HTTPStatus.FORBIDDEN)
        wait = server.buckets.take(key.id)
        if wait:
            raise HTTPException(HTTPStatus.TOO_MANY_REQUESTS, "this key asks too often: wait a moment")
        by = f"key {key.prefix}"
    await server.store.users.block(
        meant.project, meant.user_id, f"blocked by {by}, from alert {meant.alert_id}"
    )
    what = f"user {meant.user_id} blocked, from an alert"
    await server.store.audit.note(meant.project, by, what, user_id=meant.user_id)
    return await _page(request, meant, "blocked.html")


def _meant(request: Request) -> BlockRequest:
    """What the link asks for. Raises HTTPException for one that is not ours, or too old."""
    server = services(request)
    links: BlockLinks | None = server.telling.links
    if links is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, "this server makes no block links")
    try:
        return links.read(request.path_params["token"], server.clock.now())
    except InputError as error:
        raise HTTPException(HTTPStatus.NOT_FOUND, str(error)) from None


async def _form(
    request: Request, meant: BlockRequest, refused: str = "", status: int = HTTPStatus.OK
) -> Response:
    return await _page(request, meant, "block.html", status, refused)


async def _page(
    request: Request, meant: BlockRequest, template: str, status: int = HTTPStatus.OK, refused: str = ""
) -> Response:
    visitor = await visiting(request)
    project = await services(request).store.projects.get(meant.project)
    user = quote(meant.user_id, safe="", errors="replace")
    return form_page(
        request,
        visitor,
        template,
        status=status,
        user_id=meant.user_id,
        project=project.name if project is not None else meant.project,
        owner=visitor.member.name if visitor.member is not None and visitor.member.is_owner else "",
        refused=refused,
        path=request.url.path,
        page_of_user=f"/dashboard/users/{user}?project={meant.project}",
    )
