"""The filter of a query in a tree: ``or`` binds loosest, then ``and`` or nothing at all, then ``not``."""

from loopwatch.query.cursor import COMPARING, DEEPEST, Cursor
from loopwatch.query.diagnostics import Span
from loopwatch.query.syntax import (
    OPERATORS,
    All,
    Any,
    Compares,
    Exists,
    Field,
    Filter,
    Not,
    OneOf,
    Operator,
    Says,
    Within,
    Word,
)

FOREIGN = {"=": ":", "==": ":", "=~": ":", "!~": "!="}
"""What other languages write for our operators."""


def parse_filter(cursor: Cursor) -> Filter:
    """Everything up to the end of the stage or an unopened ``)``. Wrong clauses are told and left out."""
    parts = [_all(cursor)]
    while _joint(cursor, "or", "||"):
        parts.append(_all(cursor))
    return _joined(Any, parts)


def _all(cursor: Cursor) -> Filter | None:
    """Conditions side by side. One that is missing (nothing before or after a joint) is told."""
    parts: list[Filter | None] = []
    while True:
        joined = _joint(cursor, "and", "&&")
        ended = cursor.ends() or cursor.token.signs(")") or cursor.keyword("or")
        if ended or (joined and not parts):
            if joined or not parts:
                cursor.tell("a condition is missing here", None, "field:value")
            if ended:
                return _joined(All, parts) if parts else None
        parts.append(_not(cursor))


def _joint(cursor: Cursor, word: str, sign: str) -> bool:
    if cursor.says(word):
        return True
    if not cursor.token.signs(sign) or (sign == "||" and cursor.following.kind == "end"):
        return False
    cursor.tell(f"{sign} is written {word}", suggestion=word, warning=True)
    cursor.take()
    return True


def _joined(whole: type[All] | type[Any], parts: list[Filter | None]) -> Filter:
    kept = tuple(part for part in parts if part is not None)
    return kept[0] if len(kept) == 1 else whole(kept) if kept else All(())


def _not(cursor: Cursor) -> Filter | None:
    negated = False
    while cursor.keyword("not") or cursor.token.signs("-", "!"):
        cursor.take()
        negated = not negated
    if cursor.ends() or cursor.token.signs(")"):
        cursor.tell("nothing is negated here", None, "field:value")
        return None
    part = _part(cursor)
    if not negated or part is None:
        return part
    return part.part if isinstance(part, Not) else Not(part)


def _part(cursor: Cursor) -> Filter | None:
    if cursor.token.signs("("):
        return _parenthesis(cursor)
    opening = cursor.token
    field = cursor.field()
    if field is None:
        cursor.tell(f"{opening.text} stands for nothing here", None, "field:value", "a word")
        cursor.take()
        return None
    if cursor.token.signs(*COMPARING):
        return _predicate(cursor, field)
    if field.name == "*" and opening.kind == "word":
        return All(())
    return Says(Word(field.name, opening.kind == "string", field.span))


def _parenthesis(cursor: Cursor) -> Filter | None:
    opening = cursor.take()
    if cursor.depth >= DEEPEST:
        cursor.tell(f"more than {DEEPEST} parentheses within each other", opening.span)
        _skip_parenthesis(cursor)
        return None
    if cursor.takes(")"):
        cursor.tell("nothing stands in these parentheses", opening.span.to(cursor.behind), "field:value")
        return None
    cursor.depth += 1
    inner = parse_filter(cursor)
    cursor.depth -= 1
    if not cursor.takes(")"):
        cursor.tell("this parenthesis is not closed", opening.span, ")")
    return inner


def _skip_parenthesis(cursor: Cursor) -> None:
    depth = 1
    while depth and not cursor.ends():
        token = cursor.take()
        depth += token.signs("(") - token.signs(")")


def _predicate(cursor: Cursor, field: Field) -> Filter | None:
    operator = _operator(cursor)
    if operator == ":" and cursor.token.signs("("):
        return _one_of(cursor, field)
    if operator == ":" and cursor.token.signs("["):
        return _range(cursor, field)
    literal = cursor.literal()
    if literal is None:
        cursor.tell(f"{field.name} is compared with nothing", field.span.to(cursor.behind), "a value", "*")
        return None
    if operator == ":" and literal.text == "*" and not literal.quoted:
        return Exists(field)
    return Compares(field, operator, literal)


def _operator(cursor: Cursor) -> Operator:
    """The operator that is next; ``f:>5`` is ``f > 5``, and other languages' operators are told."""
    written = cursor.take()
    sign = FOREIGN.get(written.text, written.text)
    if sign != written.text:
        cursor.tell(f"{written.text} is written {sign}", written.span, suggestion=sign, warning=True)
    if sign == ":" and cursor.token.signs("!=", ">", ">=", "<", "<=", "="):
        sign = FOREIGN.get(cursor.token.text, cursor.token.text)
        cursor.take()
    return next(operator for operator in OPERATORS if operator == sign)


def _one_of(cursor: Cursor, field: Field) -> Filter | None:
    opening = cursor.take()
    literals: list[Word] = []
    while not (cursor.ends() or cursor.token.signs(")")):
        literal = None if cursor.keyword("or") and literals else cursor.literal()
        if literal is not None:
            literals.append(literal)
        if not (cursor.says("or") or cursor.takes(",")) and not cursor.token.signs(")") and not cursor.ends():
            cursor.tell("between two values stands or", None, "or", ")")
            if literal is None:
                cursor.take()
    if not cursor.takes(")"):
        cursor.tell("this parenthesis is not closed", opening.span, ")")
    if not literals:
        cursor.tell("no value stands in these parentheses", opening.span.to(cursor.behind), "a value")
        return None
    return OneOf(field, tuple(literals))


def _range(cursor: Cursor, field: Field) -> Filter | None:
    opening = cursor.take()
    low = cursor.literal()
    joined = cursor.says("to") or cursor.takes(",")
    high = cursor.literal() if joined else None
    closed = cursor.takes("]")
    span = Span(opening.span.start, cursor.behind.end)
    if low is None or high is None or not closed:
        cursor.tell("a range is [a to b]", span, "[a to b]", suggestion=f"{field.name}:[* to *]")
        while not (cursor.ends() or closed):
            closed = cursor.take().signs("]")
        return None
    return Within(field, _bound(low), _bound(high))


def _bound(literal: Word) -> Word | None:
    return None if literal.text == "*" and not literal.quoted else literal
