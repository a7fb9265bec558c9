"""Every table as a file: the same columns as on its page, more rows."""

from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from loopwatch.server.console import alerts, settings, spending
from loopwatch.server.console.desk import Desk
from loopwatch.server.pages.tables import Format, Table, download

Builder = Callable[[Request, Desk, int], Awaitable[Table]]
MOST_ROWS = 10_000
TABLES: dict[str, Builder] = {
    "alerts": alerts.table,
    "audit": settings.audit,
    "days": spending.days,
    "features": spending.features,
    "loops": spending.loops,
    "models": spending.models,
    "users": spending.users,
}
_FORMATS: dict[str, Format] = {"csv": "csv", "json": "json"}


async def of_project(request: Request, desk: Desk) -> Response:
    """A table of the project."""
    return await download_of(request, desk, TABLES, request.path_params["file"])


async def download_of(request: Request, desk: Desk, tables: Mapping[str, Builder], file: str) -> Response:
    """A table by the name of its file: ``users.csv``. Raises HTTPException 404."""
    name, _, form = file.rpartition(".")
    if name not in tables or form not in _FORMATS:
        raise HTTPException(HTTPStatus.NOT_FOUND, "there is no such table: follow a link beside one")
    return download(await tables[name](request, desk, MOST_ROWS), _FORMATS[form])
