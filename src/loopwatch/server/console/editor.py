"""The editor of one configuration. Everything but saving answers with the page as it would then be.

Without script the whole page comes anew; with it, htmx takes the parts that changed out of the same page.
"""

from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from loopwatch.config.draft import ON, Draft, armed
from loopwatch.errors import InputError
from loopwatch.server.console.desk import Desk
from loopwatch.server.console.notices import NOTICES, notice
from loopwatch.server.console.sheet import Sheet, address, judged, opened, sent
from loopwatch.server.console.trying import SAMPLE, trial
from loopwatch.store.configurations import Configuration, checked_name

MOST_BYTES = 4 * 1_048_576
"""Bytes of the editor's form: a document and a reply to try on it, each as large as it may be."""
NEW = "new"
GONE = "there is no such configuration: it was deleted, or belongs to another project"
TRY = "try"
COPY = "copy"
CHECK = "check"
EDITED = "edited"
"""The event after which the page asks once more what stands in the form: an answer to an earlier question
may have come last.
"""


async def show(request: Request, desk: Desk) -> Response:
    """The editor, as what is stored or as a new configuration begins."""
    sheet = opened(await _stored(request, desk))
    return await _page(desk, sheet, said=notice(request))


async def edit(request: Request, desk: Desk) -> Response:
    """The editor after something that saves nothing: an agent more, a detector armed, a reply tried."""
    sheet = sent(desk, await _stored(request, desk))
    asked = desk.form.text("do")
    if asked == TRY or asked.startswith(SAMPLE):
        sheet.trying = await trial(sheet, desk.form, desk.server.trials)
        return await _page(desk, sheet)
    sheet.focus = _edited(sheet.draft, asked)
    sheet.found = judged(sheet.draft)
    response = await _page(desk, sheet)
    if asked != CHECK:
        response.headers["HX-Trigger-After-Settle"] = EDITED
    return response


def _edited(draft: Draft, asked: str) -> str:
    """Do to the draft what a button says, such as ``remove-agent.1``; the field to go on with."""
    what, _, which = asked.partition(".")
    index = int(which) if which.isascii() and which.isdigit() and len(which) < 5 else -1  # noqa: PLR2004
    if what == "arm" and 0 <= index < len(draft.agents):
        agent = draft.agents[index]
        agent.loop = armed(agent.loop) if agent.loop.get("enabled") == ON else agent.loop
    elif what == "add-agent":
        draft.add_agent()
        return f"agents.{len(draft.agents) - 1}.name"
    elif what == "remove-agent":
        draft.remove_agent(index)
    elif what == "add-slot":
        draft.add_slot()
        return f"slots.{len(draft.slots) - 1}.name"
    elif what == "remove-slot":
        draft.remove_slot(index)
    return ""


async def save(request: Request, desk: Desk) -> Response:
    """Keep what stands in the editor, if it is sound and nobody else was quicker."""
    stored = await _stored(request, desk, must=False)
    sheet = sent(desk, stored)
    sheet.strict = True
    try:
        sheet.name = checked_name(sheet.name)
    except InputError as error:
        sheet.name_error = str(error)
    if sheet.found.config is None or sheet.name_error:
        return await _page(desk, sheet, HTTPStatus.UNPROCESSABLE_ENTITY)
    if desk.is_demo:
        return await _page(desk, sheet, said=NOTICES["demo"])
    try:
        saved = await _save(request.path_params["id"], desk, sheet)
    except InputError as error:
        sheet.name_error = str(error)
        return await _page(desk, sheet, HTTPStatus.UNPROCESSABLE_ENTITY)
    if saved is None:
        sheet.newer, sheet.gone = stored, stored is None
        return await _page(desk, sheet, HTTPStatus.CONFLICT)
    return desk.to(desk.link(address(desk, saved.id), done="configuration-saved"))


async def _save(which: str, desk: Desk, sheet: Sheet) -> Configuration | None:
    """The configuration as it is now; None where what was edited is no longer the newest."""
    kept = desk.server.store.configurations
    project, actor, text = desk.project.id, desk.actor, sheet.found.text
    if which == NEW:
        return await kept.create(project, sheet.name, text, actor)
    if desk.form.text("do") == COPY:
        return await kept.create(project, sheet.name, text, actor, "duplicated")
    return await kept.save(project, which, sheet.version, name=sheet.name, document=text, actor=actor)


async def _stored(request: Request, desk: Desk, *, must: bool = True) -> Configuration | None:
    """What is edited; None for a new one. Raises HTTPException 404 where there ``must`` be one and is not."""
    which = request.path_params["id"]
    if which == NEW:
        return None
    stored = await desk.server.store.configurations.get(desk.project.id, which)
    if stored is None and must:
        raise HTTPException(HTTPStatus.NOT_FOUND, GONE)
    return stored


async def _page(desk: Desk, sheet: Sheet, status: int = HTTPStatus.OK, said: str = "") -> Response:
    if sheet.stored is not None:
        kept = desk.server.store.configurations
        sheet.changes = tuple(await kept.changes(desk.project.id, sheet.stored.id, limit=20))
    more = {"notice_text": said} if said else {}
    return desk.page("configuration.html", status, **sheet.context(desk), **more)
