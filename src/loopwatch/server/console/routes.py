"""Every address of the console. A change is a POST, and each is at a desk that only owners have."""

from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from loopwatch.server.console import (
    account,
    alerts,
    blocking,
    changes,
    configs,
    dashboard,
    downloads,
    editor,
    entry,
    events,
    joining,
    keys,
    members,
    projects,
    settings,
    user,
)
from loopwatch.server.console.seats import Endpoint, changing, viewing
from loopwatch.server.pages.assets import Assets
from loopwatch.server.paths import USER

_USER = f"/dashboard/users/{USER}"


async def home(request: Request) -> Response:
    """The front door."""
    del request
    return RedirectResponse(entry.HOME, HTTPStatus.SEE_OTHER)


def _change(path: str, endpoint: Endpoint) -> Route:
    return Route(path, endpoint, methods=["POST"])


def configuration_routes() -> list[BaseRoute]:
    """Everything below ``/configs``. ``new`` stands for an id where there is none yet."""
    one = "/configs/{id}"
    return [
        Route("/configs", viewing(configs.show)),
        Route("/configs.csv", viewing(configs.as_csv)),
        Route("/configs.json", viewing(configs.as_json)),
        _change("/configs/import", changing(configs.bring, most=configs.MOST_IMPORT)),
        Route(f"{one}/export", viewing(configs.export)),
        _change(f"{one}/duplicate", changing(configs.duplicate)),
        Route(f"{one}/delete", viewing(configs.ask, owners=True)),
        _change(f"{one}/delete", changing(configs.delete)),
        Route(f"{one}/edit", viewing(editor.show)),  # where a browser comes back to
        _change(f"{one}/edit", changing(editor.edit, most=editor.MOST_BYTES, owners=False)),
        Route(one, viewing(editor.show)),
        _change(one, changing(editor.save, most=editor.MOST_BYTES)),
    ]


ROUTES: tuple[BaseRoute, ...] = (
    Route("/", home),
    Route("/sign-in", entry.ask),
    _change("/sign-in", entry.sign_in),
    _change("/sign-out", entry.sign_out),
    Route("/join/{token}", joining.ask),
    _change("/join/{token}", joining.join),
    Route("/dashboard", viewing(dashboard.show)),
    Route("/dashboard/now", viewing(dashboard.now)),
    Route("/dashboard/users", viewing(dashboard.users)),
    Route("/dashboard/alerts", viewing(alerts.show)),
    Route("/dashboard/live", viewing(events.live)),
    Route("/dashboard/tables/{file}", viewing(downloads.of_project)),
    Route(_USER, viewing(user.show)),
    _change(_USER, changing(user.act)),
    Route("/dashboard/settings", viewing(settings.show)),
    _change("/dashboard/settings", changing(settings.save)),
    _change("/dashboard/settings/channels", changing(changes.add_channel)),
    _change("/dashboard/settings/channels/{key}", changing(changes.change_channel)),
    _change("/dashboard/settings/keys", changing(keys.create)),
    _change("/dashboard/settings/keys/{key_id}", changing(keys.act)),
    _change("/dashboard/settings/delete", changing(changes.delete_project)),
    Route("/dashboard/projects/new", projects.ask),
    _change("/dashboard/projects/new", projects.create),
    Route("/dashboard/block/{token}", blocking.ask),
    _change("/dashboard/block/{token}", blocking.block),
    Route("/members", viewing(members.show)),
    _change("/members", changing(members.invite)),
    _change("/members/{member_id}", changing(members.act)),
    _change("/invitations/{invitation_id}", changing(members.withdraw)),
    Route("/account", viewing(account.show)),
    _change("/account/password", changing(account.change_password, owners=False)),
    _change("/account/sessions", changing(account.end_sessions, owners=False)),
    *configuration_routes(),
    Mount("/static", Assets()),
)
