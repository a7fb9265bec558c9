"""What a page of the console works with: the store, one project and its settings, who looks, and links.

The pages of the demo are the same pages at a desk over made-up data, with another ``base``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode

from starlette.responses import Response

from loopwatch.config.settings import read_settings, unmasked
from loopwatch.server import settings
from loopwatch.server.pages import render
from loopwatch.server.pages.forms import Form
from loopwatch.server.services import Services
from loopwatch.store.members import Member
from loopwatch.store.projects import Project, Versioned


@dataclass(frozen=True, slots=True)
class Desk:
    """One visitor at one project. ``form`` is what was sent, with its CSRF token checked."""

    server: Services
    project: Project
    projects: Sequence[Project]
    current: Versioned
    csrf: str
    member: Member | None = None
    base: str = "/dashboard"
    is_demo: bool = False
    form: Form = field(default_factory=Form)

    @property
    def now(self) -> datetime:
        """The server's time."""
        return self.server.clock.now()

    @property
    def may_change(self) -> bool:
        """Whether the visitor may change anything; in the demo everybody may try to."""
        return self.is_demo or (self.member is not None and self.member.is_owner)

    @property
    def actor(self) -> str:
        """Who is noted as having changed something."""
        return self.member.name if self.member is not None else "the demo"

    def url(self, path: str = "", **query: object) -> str:
        """A link below ``base``, to the same project."""
        return self.link(self.base + path, **query)

    def link(self, path: str, **query: object) -> str:
        """A link to any page of the console, for the same project; what is None or "" is left out."""
        wanted = {} if self.is_demo else {"project": self.project.id}
        wanted |= {name: str(value) for name, value in query.items() if value not in (None, "")}
        return f"{path}?{urlencode(wanted)}" if wanted else path

    def user_url(self, user_id: str, path: str = "", **query: object) -> str:
        """The page of a user, whatever their id holds."""
        return self.url(f"/users/{quote(user_id, safe='', errors='replace')}{path}", **query)

    def page(self, template: str, status: int = HTTPStatus.OK, **context: Any) -> Response:
        """A page of this desk."""
        return render.page(template, status, desk=self, now=self.now, **context)

    def back(self, path: str = "", *, done: str = "", anchor: str = "") -> Response:
        """To a page, after a change: ``done`` names what ``notices`` says there."""
        return self.to(self.url(path, done=done) + (f"#{anchor}" if anchor else ""))

    @staticmethod
    def to(url: str) -> Response:
        """To another page, by GET."""
        return Response(status_code=HTTPStatus.SEE_OTHER, headers={"Location": url})

    async def note(self, what: str, *, user_id: str = "", project: str | None = None) -> None:
        """Note in the project's history what the visitor has changed; settings note themselves."""
        project_id = self.project.id if project is None else project
        await self.server.store.audit.note(project_id, self.actor, what, user_id=user_id)

    async def change(self, changes: Mapping[str, Any]) -> None:
        """Change settings of the project; in the demo judge them, and keep nothing. Raises ConfigError."""
        server = self.server
        if not self.is_demo:
            await settings.change(server.store.projects, self.project.id, changes, self.actor, server.reach)
            return
        before = self.current.settings.document()
        merged = {key: value for key, value in {**before, **changes}.items() if value is not None}
        settings.judge_prices(changes)
        read_settings(unmasked(merged, before), server.reach)
