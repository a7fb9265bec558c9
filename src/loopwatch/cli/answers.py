"""How ``loopwatch query`` prints: a table for people, JSON lines and CSV for programs, bars for a glance."""

import csv
import io
import json
import sys
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from loopwatch.cli.terminal import is_terminal, one_line
from loopwatch.query.aggregates import Dist, money
from loopwatch.query.catalog import DATES, Catalog
from loopwatch.query.values import Value, rendered
from loopwatch.records.moments import EPOCH

if TYPE_CHECKING:
    from loopwatch.query.answer import Answer

Cell = Value | Dist | None

SHOWN = {
    "finished": ("id", "finished", "model", "state", "armed", "cost", "summary.errors.loopAborts"),
    "at": ("at", "user", "feature", "model", "tokens", "cost", "loopAborts", "alert"),
}
"""Columns of documents in a table for people who chose none, by the field that orders the documents; the
other forms have all."""

WIDE = 1_000
"""Columns of what is no terminal: a row stays a line."""

BAR = 40
"""Characters of the longest bar."""


def print_answer(answer: "Answer", form: str) -> None:
    """The rows on standard output."""
    if form == "json":
        for row in _objects(answer):
            click.echo(json.dumps(row, ensure_ascii=False))
    elif form == "csv":
        click.echo(
            _csv([list(answer.columns), *([_plain(cell) for cell in row] for row in answer.table())]),
            nl=False,
        )
    else:
        _table(answer)


def print_fields(catalog: Catalog, form: str) -> None:
    """The fields, those of most documents first."""
    facts: list[dict[str, Any]] = [
        {
            "field": field.name,
            "kind": field.kind,
            "count": field.count,
            "top": [value for value, _ in field.top[:3]],
        }
        for field in catalog.fields
    ]
    if form == "json":
        for each in facts:
            click.echo(json.dumps(each, ensure_ascii=False))
        return
    rows = [
        [each["field"], each["kind"], str(each["count"]), ", ".join(map(rendered, each["top"]))]
        for each in facts
    ]
    if form == "csv":
        click.echo(_csv([["field", "kind", "count", "top"], *rows]), nl=False)
    else:
        _print(["field", "kind", "count", "most frequent"], rows, {2})


def print_plot(answer: "Answer") -> None:
    """The first figure of each row as a bar."""
    keys = 0 if answer.grouped is None else len(answer.grouped.keys)
    rows = [
        (row[:keys], row[keys]) for row in answer.table() if len(row) > keys and isinstance(row[keys], float)
    ]
    if answer.grouped is None or not rows:
        raise click.UsageError("there is nothing to draw: --plot takes a query with stats")
    most = max(abs(figure) for _, figure in rows if isinstance(figure, float)) or 1.0
    labels = [
        " · ".join(_shown(cell, name) for cell, name in zip(key, answer.columns, strict=False))
        for key, _ in rows
    ]
    width = max(map(len, labels))
    for label, (_, figure) in zip(labels, rows, strict=True):
        size = round(abs(figure) / most * BAR) if isinstance(figure, float) else 0
        click.echo(f"{label:{width}}  {'█' * size}{'▏' * (not size)} {_shown(figure, answer.columns[keys])}")


def _objects(answer: "Answer") -> list[dict[str, Any]]:
    """Each row with its names; of groups also how many documents there are and how many contributed."""
    named = [dict(zip(answer.columns, map(_plain_json, row), strict=True)) for row in answer.table()]
    if answer.grouped is None:
        return [{name: value for name, value in row.items() if value is not None} for row in named]
    columns = [column.name for column in answer.grouped.columns]
    for row, bucket in zip(named, answer.buckets, strict=True):
        row["n"] = bucket.n
        row["contributing"] = {
            name: fold.contributing for name, fold in zip(columns, bucket.folds, strict=True)
        }
    return named


def _plain_json(cell: Cell) -> Any:
    if isinstance(cell, Dist):
        return cell._asdict()
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell


def _plain(cell: Cell) -> str:
    if cell is None:
        return ""
    return json.dumps(cell._asdict()) if isinstance(cell, Dist) else rendered(cell)


def _csv(rows: list[list[str]]) -> str:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(rows)
    return written.getvalue()


def _table(answer: "Answer") -> None:
    names, rows = list(answer.columns), answer.table()
    if answer.grouped is None and not answer.chosen:
        known = SHOWN["at" if "at" in names else "finished"]
        names = [name for name in known if name in names] or names
        rows = [[document.get(name) for name in names] for document in answer.documents]
    right = {
        place for place in range(len(names)) if any(isinstance(row[place], float | Dist) for row in rows)
    }
    _print(
        names, [[_shown(cell, name) for cell, name in zip(row, names, strict=True)] for row in rows], right
    )


def _print(names: list[str], rows: list[list[str]], right: set[int]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for place, name in enumerate(names):
        table.add_column(name, justify="right" if place in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    width = None if is_terminal(sys.stdout) else WIDE
    Console(highlight=False, markup=False, emoji=False, width=width).print(table)


def _shown(cell: Cell, name: str) -> str:
    """A cell for people: dates as dates, thousands apart, money with its sign."""
    if cell is None:
        return "-"
    if isinstance(cell, Dist):
        return "  ".join(f"{part} {figure:,.6g}" for part, figure in cell._asdict().items())
    if not isinstance(cell, float):
        return one_line(rendered(cell))
    if name in DATES:
        return (
            (EPOCH + timedelta(milliseconds=cell))
            .isoformat(sep=" ", timespec="minutes")
            .removesuffix("+00:00")
        )
    inner = name[name.index("(") + 1 : -1] if name.endswith(")") and "(" in name else name
    sign = "$" if money(inner) else ""
    return sign + (f"{int(cell):,}" if cell.is_integer() and not sign else f"{cell:,.6g}")
