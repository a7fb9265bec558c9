"""A project's configurations: their list, what comes in as a file and goes out as one, copies, the end."""

import re
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from loopwatch.config.draft import draft_of
from loopwatch.config.loading import judge
from loopwatch.config.reading import MOST_BYTES, Source, read
from loopwatch.errors import ConfigError
from loopwatch.server.console.desk import Desk
from loopwatch.server.console.editor import GONE
from loopwatch.server.console.notices import notice
from loopwatch.server.console.sheet import Sheet, address, judged
from loopwatch.server.pages.tables import Column, Format, Table, download
from loopwatch.store.configurations import MOST_NAME, Configuration

MOST_IMPORT = 2 * MOST_BYTES
"""Bytes of the form that an import is: the document, and what a browser wraps it in."""
NOTHING = "choose a file, or paste a document"
TABLE = Table(
    "configs",
    "Configurations",
    (
        Column("name", "Name"),
        Column("agents", "Agents", "number"),
        Column("armed", "Armed", "number", "agents whose replies are watched for loops"),
        Column("models", "Models"),
        Column("updated", "Changed", "time"),
        Column("by", "By"),
    ),
    empty="No configuration yet. Make one here, or import the file that your agents run on.",
)


async def show(request: Request, desk: Desk) -> Response:
    """The list."""
    return await _listed(desk, said=notice(request))


async def _listed(
    desk: Desk,
    status: int = HTTPStatus.OK,
    *,
    said: str = "",
    defects: tuple[str, ...] = (),
    pasted: str = "",
) -> Response:
    found = await desk.server.store.configurations.list(desk.project.id)
    context = {
        "rows": [(one, _row(one)) for one in found],
        "table": TABLE,
        "base": address(desk),
        "defects": defects,
        "pasted": pasted,
        "notice_text": said,
    }
    return desk.page("configurations.html", status, **context)


async def as_csv(request: Request, desk: Desk) -> Response:
    """The list for a spreadsheet."""
    del request
    return await _download(desk, "csv")


async def as_json(request: Request, desk: Desk) -> Response:
    """The list for a program."""
    del request
    return await _download(desk, "json")


async def _download(desk: Desk, form: Format) -> Response:
    found = await desk.server.store.configurations.list(desk.project.id)
    return download(replace(TABLE, rows=[_row(one) for one in found]), form)


def _row(one: Configuration) -> dict[str, Any]:
    """What is said of a configuration; it was sound when it was kept."""
    document = read(one.document).value
    agents = document["agents"]
    slots = document.get("slots", {})
    asked = (agent.get("modelId") or slots[agent["modelSlot"]]["model"] for agent in agents)
    return {
        "name": one.name,
        "agents": len(agents),
        "armed": sum(agent.get("loopDetection", {}).get("enabled", False) for agent in agents),
        "models": ", ".join(dict.fromkeys(asked)),
        "updated": one.updated_at,
        "by": one.updated_by,
    }


async def bring(request: Request, desk: Desk) -> Response:
    """Import a document: one that is sound is kept at once, any other opens in the editor, not kept."""
    del request
    file = desk.form.files.get("file")
    text = file.content if file is not None and file.content else desk.form.whole("document").encode()
    pasted = "" if file is not None and file.content else desk.form.whole("document")
    if not text.strip():
        return await _listed(desk, HTTPStatus.UNPROCESSABLE_ENTITY, defects=(NOTHING,))
    try:
        source = read(text)
        draft = draft_of(source)
    except ConfigError as error:
        defects = tuple(defect.placed for defect in error.defects)
        return await _listed(desk, HTTPStatus.UNPROCESSABLE_ENTITY, defects=defects, pasted=pasted)
    defects = _defects(source)
    sheet = Sheet(draft, judged(draft), _name(file.name if file is not None else ""))
    sheet.strict, sheet.file_defects = True, defects
    if defects or desk.is_demo:
        return desk.page("configuration.html", **sheet.context(desk))
    kept = desk.server.store.configurations
    made = await kept.create(desk.project.id, sheet.name, sheet.found.text, desk.actor, "imported")
    return desk.to(desk.link(address(desk, made.id), done="configuration-imported"))


def _defects(source: Source) -> tuple[str, ...]:
    """What a launch would refuse of the document as it came."""
    try:
        judge(source)
    except ConfigError as error:
        return tuple(defect.placed for defect in error.defects)
    return ()


def _name(file: str) -> str:
    """A name for what was imported: the file's, without its ending."""
    stem = re.split(r"[/\\]", file)[-1].removesuffix(".json").removesuffix(".jsonc").strip()
    return "".join(char for char in stem if char.isprintable())[:MOST_NAME] or "Imported"


async def export(request: Request, desk: Desk) -> Response:
    """The document as a file, which ``loopwatch config check`` and ``run`` read."""
    found = await _found(request, desk)
    name = re.sub(r"[^A-Za-z0-9]+", "-", found.name).strip("-").lower() or "configuration"
    headers = {"Content-Disposition": f'attachment; filename="{name[:80]}.json"'}
    return Response(found.document + "\n", media_type="application/json", headers=headers)


async def duplicate(request: Request, desk: Desk) -> Response:
    """Keep a copy, and open it."""
    found = await _found(request, desk)
    if desk.is_demo:
        return desk.to(desk.link(address(desk, found.id), done="demo"))
    name = f"{found.name[: MOST_NAME - 10]} (copy)"
    kept = desk.server.store.configurations
    made = await kept.create(desk.project.id, name, found.document, desk.actor, "duplicated")
    return desk.to(desk.link(address(desk, made.id), done="configuration-copied"))


async def ask(request: Request, desk: Desk) -> Response:
    """Ask whether a configuration is really to be deleted."""
    return desk.page("configuration_delete.html", one=await _found(request, desk), base=address(desk))


async def delete(request: Request, desk: Desk) -> Response:
    """Delete one."""
    found = await _found(request, desk)
    if desk.is_demo:
        return desk.to(desk.link(address(desk), done="demo"))
    await desk.server.store.configurations.delete(desk.project.id, found.id, desk.actor)
    return desk.to(desk.link(address(desk), done="configuration-deleted"))


async def _found(request: Request, desk: Desk) -> Configuration:
    found = await desk.server.store.configurations.get(desk.project.id, request.path_params["id"])
    if found is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, GONE)
    return found
