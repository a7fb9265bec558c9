"""The demo's addresses: the console's own pages. Whatever is sent is judged and kept nowhere."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from loopwatch.server.console import (
    alerts,
    changes,
    configs,
    dashboard,
    downloads,
    editor,
    events,
    keys,
    settings,
    user,
)
from loopwatch.server.console.desk import Desk
from loopwatch.server.console.seats import Endpoint, Page, checked, visiting
from loopwatch.server.demo.stage import Stage
from loopwatch.server.pages import forms
from loopwatch.server.paths import USER
from loopwatch.server.services import services

BASE = "/demo"


def playing(page: Page, *, form: bool = False) -> Endpoint:
    """The endpoint of a page at the demo's desk; with ``form``, of what is done with one."""

    async def endpoint(request: Request) -> Response:
        door, visitor = services(request).door, await visiting(request)
        sent = await checked(request, visitor) if form else forms.Form()
        server = await _stage(request).services()
        projects = await server.store.projects.list()
        token = visitor.token or door.new_visit()
        desk = Desk(
            server=server,
            project=projects[0],
            projects=projects,
            current=await server.store.projects.settings(projects[0].id),
            csrf=door.form_token(token),
            base=BASE,
            is_demo=True,
            form=sent,
        )
        response = await page(request, desk)
        if not visitor.token:
            door.mark(response, token)
        return response

    return endpoint


def _stage(request: Request) -> Stage:
    found: Stage = request.app.state.stage
    return found


async def pretend(request: Request, desk: Desk) -> Response:
    """Do nothing about the user, and say so."""
    user_id = request.path_params["user_id"]
    return desk.to(desk.user_url(user_id, done="demo"))


def _change(path: str, page: Page) -> Route:
    return Route(path, playing(page, form=True), methods=["POST"])


def _configurations() -> list[BaseRoute]:
    """The editor. A form is smaller than it may be elsewhere: anybody can send it, and a trial takes time."""
    one = f"{BASE}/configs/{{id}}"
    return [
        Route(f"{BASE}/configs", playing(configs.show)),
        Route(f"{BASE}/configs.csv", playing(configs.as_csv)),
        Route(f"{BASE}/configs.json", playing(configs.as_json)),
        _change(f"{BASE}/configs/import", configs.bring),
        Route(f"{one}/export", playing(configs.export)),
        _change(f"{one}/duplicate", configs.duplicate),
        Route(f"{one}/delete", playing(configs.ask)),
        _change(f"{one}/delete", configs.delete),
        Route(f"{one}/edit", playing(editor.show)),
        _change(f"{one}/edit", editor.edit),
        Route(one, playing(editor.show)),
        _change(one, editor.save),
    ]


ROUTES: tuple[BaseRoute, ...] = (
    Route(BASE, playing(dashboard.show)),
    Route(f"{BASE}/now", playing(dashboard.now)),
    Route(f"{BASE}/users", playing(dashboard.users)),
    Route(f"{BASE}/alerts", playing(alerts.show)),
    Route(f"{BASE}/live", playing(events.live)),
    Route(f"{BASE}/tables/{{file}}", playing(downloads.of_project)),
    Route(f"{BASE}/settings", playing(settings.show)),
    _change(f"{BASE}/settings", settings.save),
    _change(f"{BASE}/settings/channels", changes.add_channel),
    _change(f"{BASE}/settings/channels/{{key}}", changes.change_channel),
    _change(f"{BASE}/settings/keys", keys.create),
    _change(f"{BASE}/settings/keys/{{key_id}}", keys.act),
    _change(f"{BASE}/settings/delete", changes.delete_project),
    Route(f"{BASE}/users/{USER}", playing(user.show)),
    _change(f"{BASE}/users/{USER}", pretend),
    *_configurations(),
)
