"""One's own account: the password, and the browsers that are signed in."""

from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response

from loopwatch.errors import InputError
from loopwatch.server.console.desk import Desk
from loopwatch.server.console.entry import BUSY
from loopwatch.server.console.notices import notice
from loopwatch.server.console.seats import SIGN_IN, visiting
from loopwatch.server.signin import throttle
from loopwatch.server.signin.passwords import LEAST, judged
from loopwatch.store.members import Member

PATH = "/account"


async def show(request: Request, desk: Desk) -> Response:
    """The account."""
    return await _page(request, desk, {}, HTTPStatus.OK)


async def change_password(request: Request, desk: Desk) -> Response:
    """Change the password, for whoever knows the one there is; sign other browsers out."""
    member, form, server = _member(desk), desk.form, desk.server
    errors: dict[str, str] = {}
    found = await server.store.members.find(member.name)
    address = request.client.host if request.client is not None else ""
    if server.passwords.busy or await throttle.held_back(server.store.sessions, member.name, address):
        errors["old"] = BUSY
    elif not await server.passwords.matches(form.whole("old"), found[1] if found else None):
        errors["old"] = "This is not your password."
    try:
        judged(form.whole("password"), member.name)
    except InputError as error:
        errors["password"] = f"{str(error)[:1].upper()}{str(error)[1:]}."
    if form.whole("password") != form.whole("again"):
        errors["again"] = "This is not the same password."
    if errors:
        return await _page(request, desk, errors, HTTPStatus.UNPROCESSABLE_ENTITY)
    await throttle.forget(server.store.sessions, member.name, address)
    hashed = await server.passwords.hashed(form.whole("password"))
    visitor = await visiting(request)
    await server.store.members.set_password(member.id, hashed, keep=visitor.session_id)
    return desk.to(desk.link(PATH, done="password"))


async def end_sessions(request: Request, desk: Desk) -> Response:
    """Sign one browser out, or all of them, this one included."""
    member, sessions = _member(desk), desk.server.store.sessions
    one = desk.form.text("session")
    if one:
        if one in {each.id for each in await sessions.list(member.id)}:
            await sessions.end(one)
        return desk.to(desk.link(PATH, done="signed-out"))
    await sessions.end_all(member.id)
    response = desk.to(SIGN_IN)
    desk.server.door.goodbye(response)
    del request
    return response


def _member(desk: Desk) -> Member:
    if desk.member is None:
        raise InputError("sign in first")
    return desk.member


async def _page(request: Request, desk: Desk, errors: dict[str, str], status: int) -> Response:
    visitor = await visiting(request)
    return desk.page(
        "account.html",
        status,
        notice_text=notice(request),
        errors=errors,
        least=LEAST,
        sessions=await desk.server.store.sessions.list(_member(desk).id),
        this=visitor.session_id,
    )
