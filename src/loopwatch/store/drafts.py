"""Rows of the outbox: written in the transaction of what they tell about, whole, once.

``folding`` rows are alerts that wait to be told together (``storms``); all others are one delivery each.
"""

from collections.abc import Iterable, Sequence
from functools import cache

from loopwatch.records.delivery import Draft
from loopwatch.store.dialect import Upsert, insert
from loopwatch.store.statements import Statements, execute_many
from loopwatch.store.tables import outbox

SUMMARY = "summary"
"""Stands for the channel of an alert that is told together with others."""
_COLUMNS = ("id", "project_id", "alert_id", "channel", "body", "state", "created_us", "due_us", "attempts")
Row = tuple[str, str, str | None, str, str, str, int, int, int]


def pending(drafts: Iterable[Draft], now: int, alert_id: str | None = None, rank: int = 0) -> list[Row]:
    """The rows of deliveries, due at once.

    ``rank`` orders those of one moment: each channel delivers by the time of writing.
    """
    written = now + rank
    return [
        (one.id, one.place.project, alert_id, one.place.channel, one.body, "pending", written, now, 0)
        for one in drafts
    ]


def folding(alert_id: str, project_id: str, now: int, due: int) -> Row:
    """The row of an alert that is told with others, ``due`` then."""
    return (f"{alert_id}.{SUMMARY}", project_id, alert_id, SUMMARY, "", "folding", now, due, 0)


async def write(on: Statements, rows: Sequence[Row]) -> None:
    """Keep them; one that is there already stays as it is."""
    if rows:
        await execute_many(on, _unless_there(on.dialect.name), _COLUMNS, rows)


@cache
def _unless_there(dialect: str) -> Upsert:
    return insert(dialect, outbox).on_conflict_do_nothing()
