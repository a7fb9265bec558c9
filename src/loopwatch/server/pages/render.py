"""Templates filled in. Everything is escaped; what a template asks for and nobody gave is an error."""

from datetime import datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from starlette.responses import HTMLResponse, Response

from loopwatch.records.money import shown
from loopwatch.server.pages import assets, formats


@pass_context
def _ago(context: Context, at: datetime | None) -> str:
    return formats.ago(at, context["now"])


def money(nano: int | None) -> str:
    """Nano-USD for people: $0.74."""
    return formats.NONE if nano is None else shown(nano).replace("-", "\N{MINUS SIGN}")


def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("loopwatch.server.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "ago": _ago,
        "count": formats.count,
        "exact": formats.exact,
        "json": lambda value: msgspec.json.encode(value).decode(),  # escaped after it, as any text is
        "money": money,
        "path": lambda text: quote(str(text), safe="", errors="replace"),
        "percent": formats.percent,
        "short": formats.short,
        "span": formats.span,
    }
    made.globals |= {"asset": assets.address, "HTMX": assets.HTMX, "CHARTS": assets.CHARTS}
    return made


_TEMPLATES = _environment()


def page(template: str, status: int = HTTPStatus.OK, **context: Any) -> Response:
    """A page, or a piece of one. ``context`` must have ``now`` where the template shows how long ago."""
    return HTMLResponse(_TEMPLATES.get_template(template).render(context), status)
