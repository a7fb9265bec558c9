"""The one way to write a query: what the editor's tidy button makes and what is shown as having run.

Parentheses only where they are needed, ``:`` tight, other operators between spaces, quotes where a value
would not be read as one word without them, and where they were: quoted, a number is a string. Written
anew, a query is read into the same tree; written twice, it no longer changes.
"""

from typing import assert_never

from loopwatch.query.aggregates import AGGREGATES
from loopwatch.query.lex import bare
from loopwatch.query.parse import parse
from loopwatch.query.syntax import (
    Aggregation,
    All,
    Any,
    Compares,
    Exists,
    Fields,
    Filter,
    Key,
    Limit,
    Not,
    OneOf,
    Says,
    Sort,
    Stage,
    Stats,
    Tree,
    Where,
    Within,
    Word,
)

KEYWORDS = frozenset(("and", "as", "asc", "by", "desc", "from", "if", "not", "or", "to"))
"""Words that, bare, are read as something else where a value or a name stands."""


def tidy(text: str) -> str:
    """``text`` in the one way to write it. Clauses that make no sense are gone."""
    return written(parse(text))


def written(tree: Tree) -> str:
    """The text of a tree."""
    source = f"from {tree.source}" if tree.source else ""
    filter_ = "" if tree.filter == All(()) else _filter(tree.filter)
    opening = " ".join(part for part in (source, filter_) if part)
    stages = [stage for stage in map(_stage, tree.stages) if stage]
    return " | ".join([opening, *stages]).strip()


def quoted(text: str) -> str:
    """``text`` as a string of the language."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


def name(field: str) -> str:
    """A field's or column's name as it is written."""
    function, parenthesis, rest = field.partition("(")
    if parenthesis and rest.endswith(")") and function in AGGREGATES:
        inner = rest[:-1]
        if not inner or name(inner) == inner:
            return field
    return field if bare(field) and field.lower() not in KEYWORDS else quoted(field)


def value(word: Word) -> str:
    """A literal as it is written."""
    plain = bare(word.text) and word.text.lower() not in KEYWORDS
    return word.text if plain and not word.quoted else quoted(word.text)


def _filter(  # noqa: PLR0911  one for each kind of clause
    filter_: Filter, outer: type[All | Any | Not] | None = None
) -> str:
    match filter_:
        case All(()):
            return "*"
        case All(parts):
            return _joined(" and ", parts, All, outer is Not)
        case Any(parts):
            return _joined(" or ", parts, Any, outer in (Not, All))
        case Not(part):
            return f"not {_filter(part, Not)}"
        case Says(literal):
            return value(literal)
        case Exists(field):
            return f"{name(field.name)}:*"
        case Compares(field, operator, literal):
            sign = operator if operator == ":" else f" {operator} "
            return f"{name(field.name)}{sign}{value(literal)}"
        case OneOf(field, literals):
            return f"{name(field.name)}:({' or '.join(map(value, literals))})"
        case Within(field, low, high):
            ends = ["*" if end is None else value(end) for end in (low, high)]
            return f"{name(field.name)}:[{' to '.join(ends)}]"
        case _:
            assert_never(filter_)


def _joined(joint: str, parts: tuple[Filter, ...], whole: type[All | Any], parenthesised: bool) -> str:  # noqa: FBT001
    text = joint.join(_filter(part, whole) for part in parts)
    return f"({text})" if parenthesised and len(parts) > 1 else text


def _stage(stage: Stage) -> str:
    match stage:
        case Stats():
            return _stats(stage)
        case Sort(orderings):
            return "sort " + ", ".join(
                name(each.field.name) + " desc" * each.descending for each in orderings
            )
        case Limit(rows):
            return f"limit {rows}"
        case Where(filter_):
            return f"where {_filter(filter_)}" if filter_ != All(()) else ""
        case Fields(fields):
            return "fields " + ", ".join(name(field.name) for field in fields)
        case _:
            assert_never(stage)


def _stats(stats: Stats) -> str:
    functions = ", ".join(map(_aggregation, stats.aggregations))
    keys = [_key(key) for key in stats.keys[stats.filled :]]
    by = f"by {', '.join(keys)}" if keys else ""
    if stats.filled:
        return " ".join(part for part in ("timechart", stats.keys[0].interval, functions, by) if part)
    return " ".join(part for part in ("stats" if functions else "uniq", functions, by) if part)


def _key(key: Key) -> str:
    return f"bucket({name(key.field.name)}, {key.interval})" if key.interval else name(key.field.name)


def _aggregation(each: Aggregation) -> str:
    inner = "" if each.field is None else name(each.field.name)
    condition = "" if each.condition is None else f" if ({_filter(each.condition)})"
    alias = f" as {name(each.alias)}" if each.alias else ""
    return f"{each.function}({inner}){condition}{alias}"
