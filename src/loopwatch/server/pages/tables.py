"""A table, said once: shown on a page, downloaded as CSV or JSON with the same columns and figures."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple

from starlette.responses import Response

from loopwatch.records.money import usd
from loopwatch.server.answers import Json

Kind = Literal["text", "code", "number", "short", "share", "money", "time", "badge", "user", "flag"]
"""How a column looks: ``money`` is nano-USD, ``short`` a number of tokens, ``user`` a link to their page."""
Format = Literal["csv", "json"]
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""
_NUMBERS = ("number", "short", "share", "money")


class Column(NamedTuple):
    """A column: the key of its values, its heading, how it looks, and what explains it."""

    key: str
    title: str
    kind: Kind = "text"
    hint: str = ""

    @property
    def is_number(self) -> bool:
        """Whether its values stand to the right."""
        return self.kind in _NUMBERS


@dataclass(frozen=True, slots=True)
class Table:
    """Rows by column key; None is a value that is unknown. ``empty`` says what to do where there are none.

    ``name`` is how the table is asked for when it is downloaded. Where a row has ``KEY_shown``, that is
    how people read its value; where it has ``KEY_none``, that is what stands for an unknown one.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: Sequence[Mapping[str, Any]] = field(default=())
    empty: str = "Nothing yet."


def download(table: Table, form: Format) -> Response:
    """The table as a file."""
    response = Json(_objects(table)) if form == "json" else Response(_csv(table), media_type="text/csv")
    response.headers["Content-Disposition"] = f'attachment; filename="{table.name}.{form}"'
    return response


def _objects(table: Table) -> list[dict[str, Any]]:
    return [{one.key: _plain(row[one.key], one.kind) for one in table.columns} for row in table.rows]


def _csv(table: Table) -> str:
    written = io.StringIO()
    writer = csv.writer(written)
    writer.writerow(one.key for one in table.columns)
    for row in table.rows:
        writer.writerow(_cell(_plain(row[one.key], one.kind)) for one in table.columns)
    return written.getvalue()


def _plain(value: Any, kind: Kind) -> Any:
    """A value for programs: money in dollars, times as ISO 8601."""
    if value is None:
        return None
    if kind == "money":
        return usd(value)
    return value.isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else value


def _cell(value: Any) -> Any:
    """A value for a spreadsheet: text that would be a formula there is quoted."""
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return "" if value is None else value
