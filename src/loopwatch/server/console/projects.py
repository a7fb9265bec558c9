"""A new project: its name, and the first key, shown once with what to do with it."""

from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from loopwatch.errors import InputError
from loopwatch.server.console.entry import form_page
from loopwatch.server.console.seats import OWNERS_ONLY, checked, to_sign_in, visiting
from loopwatch.server.pages import render
from loopwatch.server.services import services

NOBODY_YET = "there is no project yet: an owner makes the first one"


async def ask(request: Request) -> Response:
    """The form."""
    visitor = await visiting(request)
    if visitor.member is None:
        return to_sign_in(request)
    if not visitor.member.is_owner:
        raise HTTPException(HTTPStatus.FORBIDDEN, NOBODY_YET)
    is_first = not await services(request).store.projects.list()
    return form_page(request, visitor, "project_new.html", name="", errors={}, is_first=is_first)


async def create(request: Request) -> Response:
    """Make the project with its first key, and show that."""
    visitor = await visiting(request)
    form = await checked(request, visitor)
    if visitor.member is None:
        return RedirectResponse("/sign-in", HTTPStatus.SEE_OTHER)
    if not visitor.member.is_owner:
        raise HTTPException(HTTPStatus.FORBIDDEN, OWNERS_ONLY)
    server = services(request)
    name = form.text("name")
    try:
        project = await server.store.projects.create(name)
    except InputError as error:
        status, errors = (
            HTTPStatus.UNPROCESSABLE_ENTITY,
            {"name": f"{str(error)[:1].upper()}{str(error)[1:]}."},
        )
        context = {"name": name, "errors": errors, "is_first": False}
        return form_page(request, visitor, "project_new.html", status=status, **context)
    issued = await server.store.keys.create(project.id, "first")
    await server.store.audit.note(project.id, visitor.member.name, "project made, with its first key")
    return render.page(
        "project_made.html",
        project=project,
        secret=issued.secret,
        public_url=server.telling.public_url,
        now=server.clock.now(),
    )
