"""Prices of the project's own: as a document, and the models that have none yet."""

from typing import Any

import msgspec

from loopwatch.config.defects import Defect
from loopwatch.config.project import ProjectSettings
from loopwatch.errors import ConfigError
from loopwatch.server.bodies import why
from loopwatch.server.console import spending
from loopwatch.server.console.desk import Desk
from loopwatch.server.console.figures import figure
from loopwatch.server.pages.forms import Form


def text(settings: ProjectSettings) -> str:
    """The prices as a document to edit."""
    if not settings.prices:
        return ""
    return msgspec.json.format(msgspec.json.encode(settings.prices), indent=2).decode()


async def unknown(desk: Desk) -> list[tuple[str, int]]:
    """Models of the month with calls whose price nobody knows, and how many; the most first."""
    store = desk.server.store
    merged = spending.by_model(await store.reports.models(desk.project.id, store.reports.month_start()))
    found = [(model, sums.unpriced) for (_, model), sums in merged.items() if sums.unpriced]
    return sorted(found, key=lambda one: -one[1])[:10]


def read(form: Form, desk: Desk) -> dict[str, Any]:
    """The document, with the one price of the short form added. Raises ConfigError for what is no JSON."""
    del desk
    try:
        read = msgspec.json.decode(form.text("prices") or "{}")
    except (msgspec.DecodeError, RecursionError) as error:
        raise ConfigError([Defect(f"this is not JSON: {why(error)}", locus="prices")]) from None
    if not isinstance(read, dict):
        raise ConfigError([Defect('must be an object, such as {"my-model": {"input": 1}}', locus="prices")])
    model = form.text("price_model")
    if model:
        amounts = {name: figure(form.text(f"price_{name}")) for name in ("input", "output", "cacheRead")}
        read[model] = {name: value for name, value in amounts.items() if value is not None}
    return {"prices": read}
