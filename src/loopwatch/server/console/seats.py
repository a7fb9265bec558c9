"""Who sits down at a desk: members alone, owners for changes, at a project that there is.

``viewing`` and ``changing`` make a route's endpoint of a page's handler: what is looked at, and what is
done with a form. A form is read and its token checked before anything else is.
"""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from loopwatch.server.console.desk import Desk
from loopwatch.server.pages import forms
from loopwatch.server.services import Services, services
from loopwatch.server.signin.visitors import CSRF_FIELD, CSRF_HEADER, Visitor
from loopwatch.store.projects import Project

Page = Callable[[Request, Desk], Awaitable[Response]]
Endpoint = Callable[[Request], Awaitable[Response]]
PROJECT_COOKIE = "loopwatch-project"
SIGN_IN = "/sign-in"
NEW_PROJECT = "/dashboard/projects/new"
FORGED = "this form is too old, or not one of ours: open the page again and send it from there"
OWNERS_ONLY = "only owners may change anything: ask one of them"


def viewing(page: Page, *, owners: bool = False) -> Endpoint:
    """The endpoint of a page that every member may look at, or every owner."""

    async def endpoint(request: Request) -> Response:
        visitor = await visiting(request)
        if visitor.member is None:
            return to_sign_in(request)
        if owners and not visitor.member.is_owner:
            raise HTTPException(HTTPStatus.FORBIDDEN, OWNERS_ONLY)
        return await _seated(request, visitor, page, forms.Form())

    return endpoint


def changing(page: Page, *, most: int = forms.MOST, owners: bool = True) -> Endpoint:
    """The endpoint of a change, which owners alone may make; ``most`` is how many bytes its form may have."""

    async def endpoint(request: Request) -> Response:
        visitor = await visiting(request)
        form = await checked(request, visitor, most)
        if visitor.member is None:
            return to_sign_in(request)
        if owners and not visitor.member.is_owner:
            raise HTTPException(HTTPStatus.FORBIDDEN, OWNERS_ONLY)
        return await _seated(request, visitor, page, form)

    return endpoint


async def visiting(request: Request) -> Visitor:
    """Who is asking."""
    server = services(request)
    return await server.door.visitor(request, server.store.sessions)


async def checked(request: Request, visitor: Visitor, most: int = forms.MOST) -> forms.Form:
    """The form that was sent, from a page of ours. Raises HTTPException 403 otherwise."""
    form = await forms.read(request, most)
    sent = request.headers.get(CSRF_HEADER) or form.text(CSRF_FIELD)
    if not services(request).door.is_form_token(visitor.token, sent):
        raise HTTPException(HTTPStatus.FORBIDDEN, FORGED)
    return form


def to_sign_in(request: Request) -> Response:
    """Go and sign in, and come back here; a piece of a page has the whole of it do so."""
    if "hx-request" in request.headers:
        return Response(headers={"HX-Refresh": "true"})
    wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    target = f"{SIGN_IN}?{urlencode({'next': wanted})}" if request.method == "GET" else SIGN_IN
    return RedirectResponse(target, HTTPStatus.SEE_OTHER)


async def _seated(request: Request, visitor: Visitor, page: Page, form: forms.Form) -> Response:
    server = services(request)
    projects = await server.store.projects.list()
    project = await _project(request, server, projects)
    if project is None:
        return RedirectResponse(NEW_PROJECT, HTTPStatus.SEE_OTHER)
    desk = Desk(
        server=server,
        project=project,
        projects=projects,
        current=await server.store.projects.settings(project.id),
        csrf=server.door.form_token(visitor.token),
        member=visitor.member,
        form=form,
    )
    response = await page(request, desk)
    if request.cookies.get(PROJECT_COOKIE) != project.id:
        secure = server.door.is_secure
        response.set_cookie(PROJECT_COOKIE, project.id, httponly=True, secure=secure, samesite="lax")
    return response


async def _project(request: Request, server: Services, projects: list[Project]) -> Project | None:
    """The project that is asked for; else the one that a link in an alert means, else the last one seen.

    None where there is none at all. Raises HTTPException 404 for one that is not there.
    """
    known = {one.id: one for one in projects}
    asked = request.query_params.get("project")
    if asked is not None:
        if asked not in known:
            raise HTTPException(HTTPStatus.NOT_FOUND, "there is no such project: choose one from the list")
        return known[asked]
    last = known.get(request.cookies.get(PROJECT_COOKIE, ""), next(iter(projects), None))
    user_id = request.path_params.get("user_id")
    if user_id is None or len(projects) < 2 or last is None:  # noqa: PLR2004  nothing to choose
        return last
    # An alert's link names a user and no project: whichever alerted about them last is meant.
    meant = await server.store.alerts.latest_project(user_id)
    return known.get(meant or "", last)
