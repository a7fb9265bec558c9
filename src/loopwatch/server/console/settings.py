"""A project's settings: one page, a form for each part of it. What is saved holds from the next call on.

Every form changes settings by the same function as the shell. What is refused stands beside its field,
with what was typed still in it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from loopwatch.config.project import ProjectSettings
from loopwatch.errors import ConfigError, InputError
from loopwatch.server.console import channels, keys, plans, prices
from loopwatch.server.console.desk import Desk
from loopwatch.server.console.figures import by_locus, figure, typed
from loopwatch.server.console.notices import notice
from loopwatch.server.pages.forms import Form
from loopwatch.server.pages.tables import Column, Table

PATH = "/settings"
_AUDIT = (
    Column("at", "When", "time"),
    Column("actor", "Who"),
    Column("what", "What"),
)
_NUMBERS: Mapping[str, tuple[str, ...]] = {
    "detection": ("tokenThreshold", "windowMinutes", "cooldownMinutes", "cachedWeight"),
    "money": ("costThresholdUsd", "marginThresholdUsd", "unknownShare"),
    "keeping": ("retentionDays",),
}
_SWITCHES: Mapping[str, tuple[str, ...]] = {
    "detection": ("velocityAlerts", "blockWhileHot"),
    "money": ("weeklyDigest",),
    "keeping": ("pseudonymise",),
}
PERCENT = ("cachedWeight", "unknownShare")
"""Shares of 1 in the settings, typed and shown as percentages."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What was typed into one of the forms, and why it was refused; nothing for a page that is opened."""

    section: str = ""
    typed: Mapping[str, Any] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    general: str = ""
    tested: Mapping[str, str] = field(default_factory=dict)
    """What became of tests, by channel."""


async def show(request: Request, desk: Desk) -> Response:
    """The page."""
    return await page(request, desk, Attempt())


async def save(request: Request, desk: Desk) -> Response:
    """Save one of the forms."""
    section = desk.form.text("section")
    if section not in _SECTIONS:
        raise InputError("this form has no such section: open the settings and send it from there")
    try:
        await desk.change(_SECTIONS[section](desk.form, desk))
    except ConfigError as error:
        said = by_locus(error)
        typed_in = dict(desk.form.fields)
        general = "" if any(one in typed_in for one in said) else " ".join(said.values())
        attempt = Attempt(section, typed_in, said, general)
        return await page(request, desk, attempt, HTTPStatus.UNPROCESSABLE_ENTITY)
    return saved(desk, section)


def saved(desk: Desk, anchor: str, done: str = "saved") -> Response:
    """Back to the page, where the change was made."""
    return desk.back(PATH, done="demo" if desk.is_demo else done, anchor=anchor)


async def page(request: Request, desk: Desk, attempt: Attempt, status: int = HTTPStatus.OK) -> Response:
    """The page, with what was refused in one of its forms."""
    settings = desk.current.settings
    return desk.page(
        "settings.html",
        status,
        notice_text=notice(request),
        settings=settings,
        attempt=attempt,
        fields=_fields(settings) | dict(attempt.typed),
        defaults=_fields(ProjectSettings()),
        channels=await channels.listed(desk, attempt.tested),
        kinds=channels.NAMES.items(),
        adding=attempt.typed.get("type") or request.query_params.get("add", ""),
        plans=plans.rows(settings),
        downgrades=plans.lines(settings.downgrades),
        prices=prices.text(settings),
        unknown=await prices.unknown(desk),
        keys=await keys.listed(desk),
        audit=await audit(request, desk, 20),
    )


async def audit(request: Request, desk: Desk, limit: int) -> Table:
    """Who changed what when."""
    del request
    found = await desk.server.store.audit.list(desk.project.id, limit)
    rows = [{"at": one.at, "actor": one.actor, "what": one.what} for one in found]
    return Table("audit", "History", _AUDIT, rows, "Nothing has been changed yet.")


def _figures(section: str) -> Callable[[Form, Desk], dict[str, Any]]:
    """What reads a form of numbers and switches; an empty field goes back to its default."""

    def read(form: Form, desk: Desk) -> dict[str, Any]:
        del desk
        changes: dict[str, Any] = {name: figure(form.text(name)) for name in _NUMBERS[section]}
        for name in PERCENT:
            if isinstance(changes.get(name), int | float):
                changes[name] /= 100
        return changes | {name: form.ticked(name) for name in _SWITCHES[section]}

    return read


_SECTIONS: Mapping[str, Callable[[Form, Desk], dict[str, Any]]] = {
    "detection": _figures("detection"),
    "money": _figures("money"),
    "keeping": _figures("keeping"),
    "plans": plans.read,
    "prices": prices.read,
}


def _fields(settings: ProjectSettings) -> dict[str, Any]:
    """The settings as they stand in the fields of the forms."""
    every = settings.model_dump(by_alias=True)
    shown: dict[str, Any] = {}
    for names in _NUMBERS.values():
        for name in names:
            value = every[name]
            shown[name] = typed(value * 100 if name in PERCENT and value is not None else value)
    for names in _SWITCHES.values():
        shown |= {name: every[name] for name in names}
    return shown
