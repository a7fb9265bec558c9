"""The stages after the filter, read into trees: each parser takes what follows its name."""

from collections.abc import Callable

from loopwatch.query.cursor import Cursor
from loopwatch.query.diagnostics import nearest
from loopwatch.query.filters import parse_filter
from loopwatch.query.stats import parse_stats, parse_timechart, parse_top, parse_uniq
from loopwatch.query.syntax import Field, Fields, Limit, Ordering, Sort, Stage, Where

Parser = Callable[[Cursor], list[Stage]]

FOREIGN = {
    "aggregate": "stats",
    "filter": "where",
    "head": "limit",
    "keep": "fields",
    "order": "sort",
    "summarize": "stats",
    "take": "limit",
}
"""Stages of other languages by our names for them."""


def parse_stage(cursor: Cursor) -> list[Stage]:
    """What stands after a ``|``, up to the next. Nothing where it makes no sense."""
    token = cursor.token
    if cursor.ends():
        cursor.tell("after | stands a stage", None, *STAGES)
        return []
    written = token.text.lower()
    name = FOREIGN.get(written, written)
    if token.kind != "word" or name not in STAGES:
        hint = (
            "where, for a condition" if cursor.following.signs(":") else nearest(written, [*STAGES, *FOREIGN])
        )
        cursor.tell(f"there is no stage {token.text}", None, *STAGES, suggestion=hint)
        cursor.skip_stage()
        return []
    cursor.take()
    if name != written:
        cursor.tell(f"{written} is written {name}", token.span, suggestion=name, warning=True)
    stages = STAGES[name](cursor)
    if not cursor.ends():
        cursor.tell(f"{cursor.token.text} does not belong to {name}", None, "|")
        cursor.skip_stage()
    return stages


def parse_sort(cursor: Cursor) -> list[Stage]:
    """``sort cost desc, model``: rows in that order; what lacks the field comes last in either direction."""
    start = cursor.behind
    cursor.says("by")
    orderings: list[Ordering] = []
    opened = cursor.takes("(")
    while (field := cursor.field()) is not None:
        descending = cursor.says("desc")
        if not descending:
            cursor.says("asc")
        orderings.append(Ordering(field, descending))
        if not cursor.takes(","):
            break
    if opened and not cursor.takes(")"):
        cursor.tell("this parenthesis is not closed", None, ")")
    if not orderings:
        cursor.tell("sort what by?", start, "a field", "a column")
        return []
    return [Sort(tuple(orderings), start.to(cursor.behind))]


def parse_limit(cursor: Cursor) -> list[Stage]:
    """``limit 10``: the first rows, after everything else. The answer says how many there were."""
    start = cursor.behind
    token = cursor.token
    if (
        token.kind == "word"
        and token.text.isascii()
        and token.text.isdigit()
        and len(token.text) < len("1" + "0" * 9)
    ):
        cursor.take()
        return [Limit(int(token.text), start.to(token.span))]
    cursor.tell("limit takes a whole number", None, "a number")
    cursor.skip_stage()
    return []


def parse_where(cursor: Cursor) -> list[Stage]:
    """``where thrown > 50K``: a filter; after ``stats`` over its keys and columns."""
    start = cursor.behind
    if cursor.ends():
        cursor.tell("where what?", start, "field:value")
        return []
    return [Where(parse_filter(cursor), start.to(cursor.behind))]


def parse_fields(cursor: Cursor) -> list[Stage]:
    """``fields id, model, cost``: which columns to show, in which order."""
    start = cursor.behind
    fields: list[Field] = []
    while (field := cursor.field()) is not None:
        fields.append(field)
        if not cursor.takes(",") and cursor.token.kind not in ("word", "string"):
            break
    if not fields:
        cursor.tell("fields takes the names to show", start, "a field")
        return []
    return [Fields(tuple(fields), start.to(cursor.behind))]


STAGES: dict[str, Parser] = {
    "stats": parse_stats,
    "sort": parse_sort,
    "limit": parse_limit,
    "where": parse_where,
    "fields": parse_fields,
    "top": parse_top,
    "uniq": parse_uniq,
    "timechart": parse_timechart,
}
"""By name, in the order in which they are offered: first the three that there were from the beginning."""
