"""A query's text read into a tree. Never fails: what is wrong is told and left out, and the rest stands."""

from loopwatch.query.cursor import Cursor
from loopwatch.query.diagnostics import nearest
from loopwatch.query.filters import parse_filter
from loopwatch.query.stages import parse_stage
from loopwatch.query.syntax import All, Filter, Source, Stage, Tree

SOURCES: tuple[Source, ...] = ("runs", "calls")
LONGEST = 100_000
"""Characters of a query that are read."""


def parse(text: str) -> Tree:
    """The tree of ``text``, with everything that is wrong with it in the order of its place."""
    cursor = Cursor(text[:LONGEST])
    if len(text) > LONGEST:
        cursor.tell(f"only the first {LONGEST:,} characters of a query are read", cursor.tokens[-1].span)
    source = _source(cursor)
    filter_ = _filter(cursor)
    stages: list[Stage] = []
    while cursor.token.kind != "end":
        if cursor.takes("|"):
            stages.extend(parse_stage(cursor))
        else:
            cursor.tell(f"{cursor.token.text} closes nothing here", None, "|", "a condition")
            cursor.skip_stage()
            cursor.skip_joint()
    return Tree(source, filter_, tuple(stages), tuple(sorted(cursor.diagnostics, key=lambda each: each.span)))


def _filter(cursor: Cursor) -> Filter:
    return All(()) if cursor.ends() else parse_filter(cursor)


def _source(cursor: Cursor) -> Source | None:
    """``from runs`` or ``from calls`` at the beginning; None without."""
    if not (cursor.keyword("from") and cursor.following.kind == "word"):
        return None
    opening = cursor.take().span
    token = cursor.take()
    for source in SOURCES:
        if token.text.lower() == source:
            return source
    span = opening.to(token.span)
    cursor.tell(f"there is no {token.text} to ask", span, *SOURCES, suggestion=nearest(token.text, SOURCES))
    return None
