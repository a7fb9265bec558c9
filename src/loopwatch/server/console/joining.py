"""The page behind a one-time link: whoever has it chooses a name and a password, and is a member."""

from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from loopwatch.errors import InputError
from loopwatch.server.console.entry import BUSY, HOME, form_page, welcome
from loopwatch.server.console.seats import checked, visiting
from loopwatch.server.services import services
from loopwatch.server.signin.passwords import LEAST, judged
from loopwatch.store.audit import EVERYWHERE
from loopwatch.store.members import MOST_NAME, Invitation, folded

GONE = (
    "this link has been used, or is too old: ask for another (the first one is printed by `loopwatch serve`)"
)


async def ask(request: Request) -> Response:
    """Show the form; opening a link uses nothing up."""
    invitation = await _invitation(request)
    visitor = await visiting(request)
    return form_page(request, visitor, "join.html", role=invitation.role, name="", errors={}, least=LEAST)


async def join(request: Request) -> Response:
    """Make the member, and sign them in."""
    visitor = await visiting(request)
    form = await checked(request, visitor)
    invitation = await _invitation(request)
    server = services(request)
    name, password = form.text("name"), form.whole("password")
    errors = {}
    if not name or len(name) > MOST_NAME or not name.isprintable():
        errors["name"] = f"a name has 1 to {MOST_NAME} characters"
    if password != form.whole("again"):
        errors["again"] = "this is not the same password"
    try:
        judged(password, folded(name))
    except InputError as error:
        errors["password"] = str(error)
    if server.passwords.busy:
        errors["name"] = BUSY
    if not errors:
        hashed = await server.passwords.hashed(password)
        try:
            member = await server.store.members.join(request.path_params["token"], name, hashed)
        except InputError as error:
            errors["name"] = str(error)
        else:
            await server.store.audit.note(EVERYWHERE, name, f"joined as {invitation.role}")
            return await welcome(request, server, member.id, HOME)
    context = {"role": invitation.role, "name": name, "errors": errors, "least": LEAST}
    return form_page(request, visitor, "join.html", status=HTTPStatus.UNPROCESSABLE_ENTITY, **context)


async def _invitation(request: Request) -> Invitation:
    invitation = await services(request).store.members.invitation(request.path_params["token"])
    if invitation is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, GONE)
    return invitation
