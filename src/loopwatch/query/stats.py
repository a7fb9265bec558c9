"""``stats`` and its short forms ``top``, ``uniq`` and ``timechart``, read into trees.

``stats sum(x) as y by z`` and ``stats by (z) sum(x) y`` say the same: people come from both.
"""

import re

from loopwatch.query.aggregates import AGGREGATES
from loopwatch.query.cursor import Cursor
from loopwatch.query.diagnostics import Span, nearest
from loopwatch.query.filters import parse_filter
from loopwatch.query.lex import Token
from loopwatch.query.syntax import (
    Aggregation,
    Field,
    Filter,
    Key,
    Limit,
    Ordering,
    Sort,
    Stage,
    Stats,
)

MOST_KEYS = 3
"""Keys that a query groups by."""

MOST_COLUMNS = 100
"""Functions in one ``stats``."""

INTERVAL = re.compile(r"[0-9]{1,6}[mhdw]")
"""Minutes, hours, days or weeks; months have no fixed length."""

FOREIGN = {"average": "avg", "count_uniq": "distinct", "dc": "distinct", "mean": "avg", "p50": "median"}
"""Functions of other languages by our names for them."""

WITH_FIELD = tuple(name for name, each in AGGREGATES.items() if each.takes_field)


def parse_stats(cursor: Cursor) -> list[Stage]:
    """``stats sum(x) if (a:b) as y by z``: figures of groups; ``stats by (z) sum(x) y`` says the same."""
    start, told = cursor.behind, len(cursor.diagnostics)
    early = _keys(cursor)
    aggregations: list[Aggregation] = []
    while cursor.token.kind == "word" and not cursor.token.says("by"):
        aggregation = _aggregation(cursor)
        if aggregation is not None:
            aggregations.append(aggregation)
        if not cursor.takes(","):
            break
    late = _keys(cursor)
    if early and late:
        cursor.tell("stats has keys before and after its functions", start.to(cursor.behind), "one by")
    if not aggregations and len(cursor.diagnostics) == told:
        cursor.tell("stats works out nothing", start.to(cursor.behind), *(f"{name}()" for name in AGGREGATES))
    if not aggregations:
        return []
    if len(aggregations) > MOST_COLUMNS:
        cursor.tell(f"stats has more than {MOST_COLUMNS} functions", start.to(cursor.behind))
    keys = early or late
    kept = _distinctly_named(cursor, aggregations[:MOST_COLUMNS], keys)
    return [Stats(kept, keys, start.to(cursor.behind))]


def parse_top(cursor: Cursor) -> list[Stage]:
    """``top 5 by model``: the values that are most frequent."""
    start = cursor.behind
    rows = 10
    if cursor.token.kind == "word" and cursor.token.text.isascii() and cursor.token.text.isdigit():
        rows = int(cursor.take().text[:9])
    keys = _short_keys(cursor, start)
    counted = Aggregation("count", None, None, "", start)
    return [Stats((counted,), keys, start.to(cursor.behind)), Limit(rows, start)] if keys else []


def parse_uniq(cursor: Cursor) -> list[Stage]:
    """``uniq by model with hits``: each value once, in order, with how often where that is asked for."""
    start = cursor.behind
    keys = _short_keys(cursor, start)
    hits: tuple[Aggregation, ...] = ()
    if cursor.says("with"):
        name = cursor.field()
        hits = (Aggregation("count", None, None, name.name if name else "hits", start),)
    if not keys:
        return []
    ordered = Sort(tuple(Ordering(key.field, descending=False) for key in keys), start)
    return [Stats(hits, keys, start.to(cursor.behind)), ordered]


def parse_timechart(cursor: Cursor) -> list[Stage]:
    """``timechart 1h count() by model``: over the records' own time, with the empty steps between."""
    start = cursor.behind
    interval = cursor.token
    if interval.kind != "word" or not INTERVAL.fullmatch(interval.text):
        cursor.tell("timechart takes a step first", None, "15m", "1h", "1d", "1w")
        cursor.skip_stage()
        return []
    cursor.take()
    stages = parse_stats(cursor)
    if not stages or not isinstance(stages[0], Stats):
        return []
    stats = stages[0]
    time = Key(Field("", interval.span), interval.text, interval.span)
    return [Stats(stats.aggregations, (time, *stats.keys)[:MOST_KEYS], start.to(cursor.behind), filled=True)]


def _short_keys(cursor: Cursor, start: Span) -> tuple[Key, ...]:
    """The keys of ``top`` and ``uniq``, whose ``by`` may be left out."""
    keys = _keys(cursor) or _key_list(cursor)
    if not keys:
        cursor.tell("of which field?", start, "a field")
    return keys


def _keys(cursor: Cursor) -> tuple[Key, ...]:
    return _key_list(cursor) if cursor.says("by") else ()


def _key_list(cursor: Cursor) -> tuple[Key, ...]:
    keys: list[Key] = []
    opened = cursor.takes("(")
    while cursor.token.kind in ("word", "string"):
        key = _key(cursor)
        if key is not None:
            keys.append(key)
        if not cursor.takes(","):
            break
    if opened and not cursor.takes(")"):
        cursor.tell("this parenthesis is not closed", None, ")")
    if not keys:
        cursor.tell("by what?", cursor.behind, "a field", "bucket(field, 1d)")
    if len(keys) > MOST_KEYS:
        cursor.tell(f"at most {MOST_KEYS} keys group", keys[MOST_KEYS].span)
    return tuple(keys[:MOST_KEYS])


def _key(cursor: Cursor) -> Key | None:
    if not (cursor.token.says("bucket") and cursor.following.signs("(")):
        field = cursor.field()
        return None if field is None else Key(field, "", field.span)
    start = cursor.take().span
    cursor.take()
    field = cursor.field()
    cursor.takes(",")
    interval = cursor.literal()
    closed = cursor.takes(")")
    span = start.to(cursor.behind)
    if field is None or interval is None or not closed or not INTERVAL.fullmatch(interval.text):
        cursor.tell("a bucket is a field and a step", span, "bucket(started, 1d)", "steps in m, h, d or w")
        while not (cursor.ends() or closed):
            closed = cursor.take().signs(")")
        return None
    return Key(field, interval.text, span)


def _aggregation(cursor: Cursor) -> Aggregation | None:
    function = cursor.take()
    if not cursor.takes("("):
        hint = f"{function.text}()" if function.text.lower() in AGGREGATES else ""
        cursor.tell(f"{function.text} is no function", function.span, "function(field)", suggestion=hint)
        return None
    field = cursor.field()
    if not cursor.takes(")"):
        cursor.tell("this parenthesis is not closed", None, ")")
        while not (cursor.ends() or cursor.token.signs(")", ",")):
            cursor.take()
        cursor.takes(")")
    condition = _condition(cursor) if cursor.says("if") else None
    alias = _alias(cursor)
    name = _function(cursor, function)
    if name is None:
        return None
    if field is not None and not AGGREGATES[name].takes_field:
        hint = f"{name}() if ({field.name}:*)"
        cursor.tell(f"{name} counts documents and takes no field", field.span, suggestion=hint, warning=True)
        field = None
    if field is None and AGGREGATES[name].takes_field:
        cursor.tell(f"{name} of which field?", function.span.to(cursor.behind), f"{name}(field)")
        return None
    return Aggregation(name, field, condition, alias, function.span.to(cursor.behind))


def _condition(cursor: Cursor) -> Filter | None:
    """What stands after ``if``."""
    if not cursor.takes("("):
        cursor.tell("a condition stands in parentheses", None, "if (field:value)")
        return None
    condition = parse_filter(cursor)
    if not cursor.takes(")"):
        cursor.tell("this parenthesis is not closed", None, ")")
    return condition


def _alias(cursor: Cursor) -> str:
    """The column's name: after ``as``, or bare where it can only be that."""
    if cursor.says("as"):
        name = cursor.field()
        if name is None:
            cursor.tell("as what?", None, "a name")
        return "" if name is None else name.name
    if cursor.token.kind in ("word", "string") and not cursor.token.says("by", "if"):
        name = cursor.field()
        return "" if name is None else name.name
    return ""


def _function(cursor: Cursor, token: Token) -> str | None:
    written = token.text.lower()
    name = FOREIGN.get(written, written)
    if name not in AGGREGATES:
        suggestion = nearest(written, [*AGGREGATES, *FOREIGN])
        cursor.tell(f"there is no function {token.text}", token.span, *AGGREGATES, suggestion=suggestion)
        return None
    if name != written:
        cursor.tell(f"{written} is written {name}", token.span, suggestion=name, warning=True)
    return name


def _distinctly_named(
    cursor: Cursor, aggregations: list[Aggregation], keys: tuple[Key, ...]
) -> tuple[Aggregation, ...]:
    """Without those whose column another has already. One named as a key is told: the key wins in sort."""
    kept: dict[str, Aggregation] = {}
    for each in aggregations:
        if each.column in kept:
            cursor.tell(f"two columns are named {each.column}", each.span, "as another name")
        kept.setdefault(each.column, each)
        if each.column in {key.field.name for key in keys}:
            cursor.tell(f"{each.column} is a key's name too; sort means the key", each.span, warning=True)
    return tuple(kept.values())
