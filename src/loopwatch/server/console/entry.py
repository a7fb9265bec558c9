"""Signing in and out. What is typed is compared slowly, said nothing about, and counted."""

import math
from http import HTTPStatus
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from loopwatch.server.console.seats import checked, visiting
from loopwatch.server.pages import render
from loopwatch.server.services import Services, services
from loopwatch.server.signin import throttle
from loopwatch.server.signin.visitors import Visitor
from loopwatch.store.members import folded

HOME = "/dashboard"
WRONG = "This name and password do not belong together."
BUSY = "Many are signing in just now: try again in a few seconds."


async def ask(request: Request) -> Response:
    """The form to sign in; whoever is signed in goes on."""
    visitor = await visiting(request)
    target = safe(request.query_params.get("next"))
    if visitor.member is not None:
        return RedirectResponse(target, HTTPStatus.SEE_OTHER)
    is_new = await services(request).store.members.count() == 0
    return form_page(request, visitor, "sign_in.html", next=target, name="", error="", is_new=is_new)


async def sign_in(request: Request) -> Response:
    """Sign in, where name and password belong together."""
    visitor = await visiting(request)
    form = await checked(request, visitor)
    server = services(request)
    name, target = folded(form.text("name")), safe(form.text("next"))
    error, status = WRONG, HTTPStatus.FORBIDDEN
    address = request.client.host if request.client is not None else ""
    until = await throttle.held_back(server.store.sessions, name, address)
    if until is not None:
        minutes = math.ceil((until - server.clock.now()).total_seconds() / 60)
        error = f"Too many attempts: try again in {minutes} {'minute' if minutes == 1 else 'minutes'}."
        status = HTTPStatus.TOO_MANY_REQUESTS
    elif server.passwords.busy:
        error, status = BUSY, HTTPStatus.SERVICE_UNAVAILABLE
    else:
        found = await server.store.members.find(name)
        if await server.passwords.matches(form.whole("password"), found[1] if found else None) and found:
            await throttle.forget(server.store.sessions, name, address)
            return await welcome(request, server, found[0].id, target)
    context = {"next": target, "name": form.text("name"), "error": error, "is_new": False}
    return form_page(request, visitor, "sign_in.html", status=status, **context)


async def sign_out(request: Request) -> Response:
    """Sign this browser out."""
    visitor = await visiting(request)
    await checked(request, visitor)
    server = services(request)
    await server.store.sessions.end(visitor.session_id)
    response = RedirectResponse("/sign-in", HTTPStatus.SEE_OTHER)
    server.door.goodbye(response)
    return response


async def welcome(request: Request, server: Services, member_id: str, target: str) -> Response:
    """Begin a session, and go on."""
    token = await server.store.sessions.begin(member_id, request.headers.get("user-agent", ""))
    response = RedirectResponse(target, HTTPStatus.SEE_OTHER)
    server.door.welcome(response, token)
    return response


def form_page(
    request: Request, visitor: Visitor, template: str, *, status: int = HTTPStatus.OK, **context: Any
) -> Response:
    """A page with a form for somebody who is not signed in; their browser gets a visitor's cookie."""
    server = services(request)
    token = visitor.token or server.door.new_visit()
    csrf = server.door.form_token(token)
    response = render.page(template, status, csrf=csrf, now=server.clock.now(), **context)
    if not visitor.token:
        server.door.mark(response, token)
    return response


def safe(target: str | None) -> str:
    """Where to go on to: a path of ours, whatever was asked for."""
    is_ours = (
        target is not None
        and target.startswith("/")
        and not target.startswith(("//", "/\\"))
        and target.isprintable()
        and "\\" not in target
    )
    return target if target is not None and is_ours else HOME
