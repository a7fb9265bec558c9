"""A project's calls as documents that can be asked: metadata only, page by page."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Literal

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from loopwatch.records.moments import moment
from loopwatch.records.money import usd
from loopwatch.store.engines import Database
from loopwatch.store.sums import month_of
from loopwatch.store.tables import alerts, calls, user_months

PAGE = 5_000
"""Calls that are read at once."""

MILLIS = 1_000
"""Microseconds in the milliseconds that documents hold moments in."""

Value = bool | float | str
Margins = Mapping[tuple[str, int], int]
Alerted = Mapping[str, list[tuple[int, int]]]

_SAME = {
    "user": "user_id",
    "feature": "feature",
    "plan": "plan",
    "provider": "provider",
    "model": "request_model",
    "responseModel": "response_model",
    "usageSource": "usage_source",
    "loopRule": "loop_rule",
    "inputTokens": "input_tokens",
    "cacheReadInputTokens": "cache_read_input_tokens",
    "cacheCreationInputTokens": "cache_creation_input_tokens",
    "outputTokens": "output_tokens",
    "reasoningOutputTokens": "reasoning_output_tokens",
    "latencyMs": "latency_ms",
    "loopAborts": "loop_aborts",
    "loopAbortWords": "loop_abort_words",
    "loopAbortChars": "loop_abort_chars",
}
"""Fields of a document that are columns of a call."""


class CallCorpus:
    """The calls of one project, one document each. ``query`` asks it by its ``Corpus`` protocol.

    Beside what was logged a document has ``tokens`` (all input, cache writes, output), ``cost`` in US
    dollars where it is known (``has.cost``), ``margin``, which is the user's for that month (the plan's
    price, once, less all that the month cost), and ``alert``: whether it lies in a window that raised one.
    """

    source: Literal["calls"] = "calls"

    def __init__(self, database: Database, project_id: str) -> None:
        self._database = database
        self._project = project_id

    async def pages(self) -> AsyncIterator[Sequence[Mapping[str, Value]]]:
        """Every call there was when the first page was read, in the order of their arrival."""
        async with self._database.reading() as connection:
            margins, alerted = await self._margins(connection), await self._alerted(connection)
        last = 0
        while True:
            wanted = select(calls).where(calls.c.project_id == self._project, calls.c.id > last)
            async with self._database.reading() as connection:
                rows = (await connection.execute(wanted.order_by(calls.c.id).limit(PAGE))).all()
            if not rows:
                return
            last = rows[-1].id
            yield [_document(row, margins, alerted) for row in rows]

    async def _margins(self, connection: AsyncConnection) -> Margins:
        """What each user's plan left in each month, where a plan with a price is known."""
        price = func.max(user_months.c.plan_revenue_nano)
        wanted = (
            select(user_months.c.user_id, user_months.c.month, price, func.sum(user_months.c.cost_nano))
            .where(user_months.c.project_id == self._project, user_months.c.user_id != "")
            .group_by(user_months.c.user_id, user_months.c.month)
            .having(price.is_not(None))
        )
        rows = await connection.execute(wanted)
        return {(user, month): int(revenue) - int(cost) for user, month, revenue, cost in rows}

    async def _alerted(self, connection: AsyncConnection) -> Alerted:
        """The windows, as their end and beginning, that raised an alert, of each user and in order."""
        wanted = select(alerts.c.user_id, alerts.c.at_us, alerts.c.window_us).where(
            alerts.c.project_id == self._project
        )
        windows: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for user, at, window in await connection.execute(wanted.order_by(alerts.c.at_us)):
            windows[user].append((at, at - window))
        return windows


def _document(row: Any, margins: Margins, alerted: Alerted) -> Mapping[str, Value]:
    held: dict[str, Value] = {"id": row.event_id}
    for name, column in _SAME.items():
        value = getattr(row, column)
        if value is not None and value != "":
            held[name] = value if isinstance(value, str) else float(value)
    held["at"] = float(row.at_us // MILLIS)
    held["tokens"] = float(row.input_tokens + row.cache_creation_input_tokens + row.output_tokens)
    held["has.cost"] = row.cost_nano is not None
    held["has.user"] = row.user_id != ""
    if row.cost_nano is not None:
        held["cost"] = usd(row.cost_nano)
    margin = margins.get((row.user_id, month_of(moment(row.at_us))))
    if margin is not None:
        held["margin"] = usd(margin)
    held["alert"] = _lies_in(alerted.get(row.user_id, []), row.at_us)
    return held


def _lies_in(windows: list[tuple[int, int]], at: int) -> bool:
    """Whether a moment lies in one of a user's windows: in the first that ends at or after it."""
    place = bisect_left(windows, (at,))
    return place < len(windows) and windows[place][1] < at
