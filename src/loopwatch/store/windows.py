"""The rolling windows in SQL: whole buckets and the edge bucket's calls, all users in one statement."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec
from sqlalchemy import BigInteger, Select, Text, case, cast, func, select

from loopwatch.store.dialect import Rows
from loopwatch.store.statements import Query, Statements
from loopwatch.store.sums import Entry
from loopwatch.store.tables import calls, window_buckets
from loopwatch.velocity.window import BUCKET, Span

User = tuple[str, str]
"""Project and user."""


class Fill(NamedTuple):
    """What a user's window holds. ``fresh`` tokens count in full, ``cached`` by the project's weight."""

    calls: int = 0
    fresh: int = 0
    cached: int = 0
    cost_nano: int = 0
    unpriced: int = 0


class Windows(Protocol):
    """Where windows are summed. Asked inside the transaction that wrote ``added``, which it must include."""

    @property
    def waits(self) -> bool:
        """Whether it asks somebody outside of the transaction's database, and waits for the answer."""

    async def fills(
        self, on: Statements, spans: Mapping[User, Span], added: Sequence[Entry]
    ) -> dict[User, Fill]:
        """What each user's window holds, the calls just ``added`` included."""

    async def forget(self, users: Sequence[User]) -> None:
        """Drop what is kept about users outside of the database."""

    async def close(self) -> None:
        """Let go of connections."""


class SqlWindows:
    """Windows from the tables: always right, for they are what the transaction itself has written."""

    waits = False

    async def fills(
        self, on: Statements, spans: Mapping[User, Span], added: Sequence[Entry]
    ) -> dict[User, Fill]:
        """What each user's window holds; ``added`` is in the tables already."""
        del added
        if not spans:
            return {}
        rows = await _sums(on, [(*user, span.after, span.edge) for user, span in spans.items()])
        return {(row[0], row[1]): _fill(row[2], row[3]) for row in rows}

    async def forget(self, users: Sequence[User]) -> None:
        """Nothing is kept elsewhere."""

    async def close(self) -> None:
        """Nothing is held."""


def _fill(whole: str | bytes, edge: str | bytes) -> Fill:
    """The sums of whole buckets and of the edge's calls together; null where there were none."""
    return Fill(
        *((one or 0) + (other or 0) for one, other in zip(_FIGURES(whole), _FIGURES(edge), strict=True))
    )


_FIGURES = msgspec.json.Decoder(list[int | None]).decode


@Query
def _sums(dialect: str) -> tuple[Rows, Select[Any]]:
    """The users and bounds that it wants, and what sums their windows.

    Each sum is one walk along an index. Grouped by user in one join, SQLite sorts what it sums, and a
    window of an hour cost twice as much full as empty.
    """
    wanted = Rows(
        dialect, "w", {"project_id": Text, "user_id": Text, "after": BigInteger, "edge": BigInteger}
    )
    one, bucket, call = wanted.c, window_buckets.c, calls.c
    figures = func.json_array if dialect == "sqlite" else func.json_build_array
    whole = select(
        figures(
            *map(
                func.sum,
                (bucket.calls, bucket.fresh_tokens, bucket.cached_tokens, bucket.cost_nano, bucket.unpriced),
            )
        )
    ).where(bucket.project_id == one.project_id, bucket.user_id == one.user_id, bucket.start_us > one.edge)
    edge = select(
        figures(
            func.count(),
            func.sum(call.input_tokens - call.cache_read_input_tokens + call.output_tokens),
            func.sum(call.cache_read_input_tokens),
            func.sum(func.coalesce(call.cost_nano, 0)),
            func.sum(case((call.cost_nano.is_(None), 1), else_=0)),
        )
    ).where(
        call.project_id == one.project_id,
        call.user_id == one.user_id,
        call.at_us > one.after,
        call.at_us < one.edge + BUCKET,
    )
    sums = (each.correlate(wanted.table).scalar_subquery() for each in (whole, edge))
    return wanted, select(one.project_id, one.user_id, *(cast(each, Text) for each in sums))
