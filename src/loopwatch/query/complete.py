"""What may be typed next at a place in a query: fields, a field's values, stages, functions."""

from typing import NamedTuple

from loopwatch.query.aggregates import AGGREGATES
from loopwatch.query.catalog import Catalog
from loopwatch.query.cursor import COMPARING
from loopwatch.query.diagnostics import Span
from loopwatch.query.layout import KEYWORDS, name, quoted
from loopwatch.query.lex import Token, bare, lex
from loopwatch.query.parse import parse
from loopwatch.query.stages import STAGES
from loopwatch.query.syntax import Stats
from loopwatch.query.values import rendered

Offers = list[tuple[str, str]]
INTERVALS = ("15m", "1h", "6h", "1d", "1w")
MOST = 50
"""Suggestions that are offered."""


class Suggestion(NamedTuple):
    """One thing that may stand at ``span``, in place of what was begun there. ``detail`` says what it is."""

    text: str
    detail: str
    span: Span


def complete(text: str, at: int, known: Catalog) -> list[Suggestion]:
    """What may stand at the cursor ``at`` (in code points), the likeliest first."""
    tokens, told = lex(text[:at])
    tokens.pop()
    begun = _begun(tokens, at, unclosed=bool(told))
    if begun is not None:
        tokens.pop()
    span = begun.span if begun is not None else Span(at, at)
    prefix = begun.text.lower() if begun is not None else ""
    offered = [(each, detail) for each, detail in _offers(text, tokens, known) if prefix in each.lower()]
    offered.sort(key=lambda offer: not offer[0].lower().lstrip('"').startswith(prefix))
    return [Suggestion(each, detail, span) for each, detail in offered[:MOST]]


def _begun(tokens: list[Token], at: int, *, unclosed: bool) -> Token | None:
    """The word or open string that the cursor stands at the end of."""
    last = tokens[-1] if tokens else None
    if last is None or last.span.end != at:
        return None
    return last if last.kind == "word" or (last.kind == "string" and unclosed) else None


def _offers(text: str, tokens: list[Token], known: Catalog) -> Offers:
    pipes = [place for place, token in enumerate(tokens) if token.signs("|")]
    if not pipes:
        return _in_filter(tokens, _fields(known), known)
    stage = tokens[pipes[-1] + 1 :]
    if not stage:
        return [(each, "stage") for each in STAGES]
    named = _columns(text[: tokens[pipes[-1]].span.start]) or _fields(known)
    return _in_stage(stage[0].text.lower(), stage[1:], named, known)


def _in_stage(stage: str, tokens: list[Token], named: Offers, known: Catalog) -> Offers:
    """What may follow ``tokens``, the beginning of a stage."""
    if stage == "where":
        return _in_filter(tokens, named, known)
    if stage == "stats" or (stage == "timechart" and tokens):
        return _in_stats(tokens[stage == "timechart" :], known)
    if stage == "timechart":
        return [(each, "step") for each in INTERVALS]
    if stage in ("top", "uniq"):
        return _keys(known) if len(tokens) < 2 or _due(tokens[-1]) else []  # noqa: PLR2004  a number and by
    if stage in ("sort", "fields"):
        orders = [(each, "order") for each in ("desc", "asc") if stage == "sort"]
        return named if not tokens or _due(tokens[-1]) else orders
    return []


def _due(token: Token) -> bool:
    """Whether a name must follow."""
    return token.signs(",", "(") or token.says("by")


def _columns(text: str) -> Offers:
    """What the rows of a query's last ``stats`` hold; nothing where there is none."""
    for stage in parse(text).stages:
        if isinstance(stage, Stats):
            keys = [(name(key.field.name), "key") for key in stage.keys if key.field.name]
            return [*keys, *((name(each.column), "column") for each in stage.aggregations)]
    return []


def _keys(known: Catalog) -> Offers:
    return [("bucket(", "steps of time"), *_fields(known)]


def _fields(known: Catalog) -> Offers:
    return [(name(field.name), f"{field.kind}, {field.count:,}") for field in known.fields]


def _in_filter(tokens: list[Token], named: Offers, known: Catalog) -> Offers:
    field = _compared(tokens)
    return [*named, ("not", "negation")] if field is None else _values(field, known)


def _compared(tokens: list[Token]) -> str | None:
    """The field whose value is due: after an operator, within ``:(…)`` and ``:[…]``; None where none is."""
    place = len(tokens) - 1
    while place >= 0 and (tokens[place].signs(",") or tokens[place].says("or", "to")):
        place -= 2  # the value before
    if place >= 1 and tokens[place].signs("(", "[") and tokens[place - 1].signs(":"):
        place -= 1
    elif place != len(tokens) - 1:
        return None
    if place >= 1 and tokens[place].signs(*COMPARING) and tokens[place - 1].kind in ("word", "string"):
        return tokens[place - 1].text
    return None


def _values(field: str, known: Catalog) -> Offers:
    found = known.find(field)
    if found is None:
        return []
    offers: list[tuple[str, str]] = []
    for value, count in found.top:
        text = rendered(value)
        plain = not isinstance(value, str) or (bare(text) and text.lower() not in KEYWORDS)
        offers.append((text if plain else quoted(text), f"{count:,}"))
    return offers


def _in_stats(tokens: list[Token], known: Catalog) -> Offers:
    opened = _opened(tokens)
    if opened == "bucket" and tokens[-1].signs(","):
        return [(each, "step") for each in INTERVALS]
    if opened == "bucket" or opened in AGGREGATES:
        return _fields(known)
    if opened == "if":
        return _in_filter(tokens, _fields(known), known)
    if any(token.says("by") for token in tokens):
        return _keys(known) if _due(tokens[-1]) else []
    if not tokens or tokens[-1].signs(","):
        return [
            (f"{each}(" if AGGREGATES[each].takes_field else f"{each}()", "function") for each in AGGREGATES
        ]
    return [(each, "") for each in ("as", "by", "if (")]


def _opened(tokens: list[Token]) -> str:
    """The word before the innermost parenthesis that is open; empty where none is."""
    depth = 0
    for place in range(len(tokens) - 1, -1, -1):
        depth += tokens[place].signs(")") - tokens[place].signs("(")
        if depth < 0:
            return tokens[place - 1].text.lower() if place else ""
    return ""
