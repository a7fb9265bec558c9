"""What a call really used, learnt after it was logged: the row and every sum of it, put right once.

A stream that was cut has estimated usage until its provider is asked. The same event id, logged again as
``reconciled``, replaces the figures of a row that was estimated or unknown: tokens, cost, where they come
from. When it counts, for whom and for which model stays. The window is put right too, but nobody is
alerted about by a correction: the user's next call judges.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import BigInteger, ColumnElement, Select, Text, UpdateBase, and_, or_, select, update

from loopwatch.config.project import MOST_WINDOW
from loopwatch.records.call import Call
from loopwatch.records.moments import moment, span_micros
from loopwatch.store.dialect import Rows, Types
from loopwatch.store.statements import Query, Statements
from loopwatch.store.sums import Entry, add_buckets, add_sums
from loopwatch.store.tables import calls, users

OPEN = ("estimated", "unknown")
"""Sources that a later truth replaces; the provider's own count is one already."""
_FIGURES = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
    "cost_nano",
)
_KEY: Types = {"project_id": Text, "event_id": Text}


async def correct(on: Statements, entries: Sequence[Entry], now: int) -> None:
    """Correct rows that are there, with the figures of ``entries``; of one event id the first counts.

    Compare and set: where another process has corrected a row since it was read, nothing happens.
    """
    if not entries:
        return
    keys = [(entry.project_id, entry.call.event_id) for entry in entries]
    before = {(row[0], row[1]): _stored(row) for row in await _originals(on, keys)}
    settled = {(row[0], row[1]) for row in await _settle(on, [_settling(entry) for entry in entries])}
    changed = [
        (before[key], entry)
        for key, entry in zip(keys, entries, strict=True)
        if key in settled & before.keys()
    ]
    # The sums forget the row as it was, and take it in as it is.
    await add_sums(on, [old for old, _ in changed], sign=-1)
    await add_sums(on, [_as_settled(old, entry) for old, entry in changed])
    kept = now - 2 * span_micros(MOST_WINDOW * 60)
    live = [(old, entry) for old, entry in changed if old.call.at > moment(kept)]
    await add_buckets(on, [old for old, _ in live], sign=-1)
    await add_buckets(on, [_as_settled(old, entry) for old, entry in live])
    # A second stage of windows that has summed the old figures is told by this that it is behind.
    await _revise(on, sorted({(old.project_id, old.user) for old, _ in changed}))


def _stored(row: Any) -> Entry:
    """The entry that a row was, as far as sums are concerned."""
    project_id, event_id, user, at, feature, provider, asked, answered, *figures, cost = row
    names = _FIGURES[:-1]
    call = Call(
        event_id=event_id,
        at=moment(at),
        received_at=moment(at),
        user_id=user or None,
        feature=feature or None,
        provider=provider,
        request_model=asked,
        response_model=answered,
        **dict(zip(names, figures, strict=True)),
    )
    return Entry(project_id, call, cost)


def _as_settled(old: Entry, entry: Entry) -> Entry:
    """The old entry with the new figures."""
    figures = {name: getattr(entry.call, name) for name in _FIGURES[:-1]}
    return Entry(old.project_id, msgspec.structs.replace(old.call, **figures), entry.cost_nano)


def _settling(entry: Entry) -> tuple[Any, ...]:
    tokens = (getattr(entry.call, name) for name in _FIGURES[:-1])
    return (entry.project_id, entry.call.event_id, *tokens, entry.cost_nano)


@Query
def _originals(dialect: str) -> tuple[Rows, Select[Any]]:
    asked = Rows(dialect, "o", _KEY)
    of = calls.c
    columns = (of.user_id, of.at_us, of.feature, of.provider, of.request_model, of.response_model)
    figures = (of[name] for name in _FIGURES)
    wanted = select(of.project_id, of.event_id, *columns, *figures)
    return asked, wanted.join_from(asked.table, calls, _same(asked))


@Query
def _settle(dialect: str) -> tuple[Rows, UpdateBase]:
    asked = Rows(dialect, "t", {**_KEY, **dict.fromkeys(_FIGURES, BigInteger)})
    new = {name: asked.c[name] for name in _FIGURES}
    return asked, (
        update(calls)
        .where(_same(asked), or_(*(calls.c.usage_source == one for one in OPEN)))
        .values(**new, usage_source="reconciled", estimate_method=None)
        .returning(calls.c.project_id, calls.c.event_id)
    )


@Query
def _revise(dialect: str) -> tuple[Rows, UpdateBase]:
    asked = Rows(dialect, "v", {"project_id": Text, "user_id": Text})
    mine = and_(users.c.project_id == asked.c.project_id, users.c.user_id == asked.c.user_id)
    return asked, update(users).where(mine).values(revision=users.c.revision + 1)


def _same(asked: Rows) -> ColumnElement[bool]:
    return and_(calls.c.project_id == asked.c.project_id, calls.c.event_id == asked.c.event_id)
