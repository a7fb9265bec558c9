"""Somebody at the console, without a browser: keeps cookies, sends forms with the token of the page."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import unescape
from http.cookies import SimpleCookie
from typing import Any, NamedTuple

import aiohttp
from argon2 import PasswordHasher
from starlette.responses import Response
from yarl import URL

from loopwatch.store.members import Role
from tests.server.house import House

PASSWORD = "correct horse battery staple"

QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
"""Hashes as little as can be: tests have no secrets."""


class Seen(NamedTuple):
    """A page as it came."""

    status: int
    url: str
    html: str
    headers: Any

    @property
    def text(self) -> str:
        """What is read on it, without its markup."""
        return " ".join(unescape(re.sub(r"<[^>]*>", " ", self.html)).split())


class Guest:
    """A client that keeps cookies."""

    def __init__(self, house: House, session: aiohttp.ClientSession) -> None:
        self.house = house
        self.session = session
        self.csrf = ""

    async def open(self, path: str, **more: Any) -> Seen:
        """Look at a page."""
        return await self._ask("GET", path, **more)

    async def send(self, path: str, fields: dict[str, Any] | None = None, **more: Any) -> Seen:
        """Send a form, with the token of the last page seen."""
        return await self._ask("POST", path, data={"csrf": self.csrf, **(fields or {})}, **more)

    async def _ask(self, method: str, path: str, **more: Any) -> Seen:
        async with self.session.request(method, self.house.url + path, **more) as answer:
            html = await answer.text(errors="replace")
            found = re.search(r'name="csrf" value="([^"]+)"', html)
            if found is not None:
                self.csrf = found[1]
            return Seen(answer.status, answer.url.path_qs, html, answer.headers)


@asynccontextmanager
async def visitor(house: House) -> AsyncIterator[Guest]:
    """Somebody who is not signed in."""
    jar = aiohttp.CookieJar(unsafe=True)  # unsafe: takes cookies of an address, too
    async with aiohttp.ClientSession(cookie_jar=jar) as session:
        yield Guest(house, session)


@asynccontextmanager
async def member(house: House, role: Role = "owner", name: str = "ana@example.com") -> AsyncIterator[Guest]:
    """Somebody who is signed in, past the pages for it."""
    store, door = house.server.store, house.server.door
    token = await store.members.invite(role, "the tests")
    made = await store.members.join(token, name, QUICK.hash(PASSWORD))
    session = await store.sessions.begin(made.id, "the tests")
    response = Response()
    door.welcome(response, session)
    async with visitor(house) as guest:
        guest.session.cookie_jar.update_cookies(SimpleCookie(response.headers["set-cookie"]), URL(house.url))
        guest.csrf = door.form_token(session)
        yield guest
