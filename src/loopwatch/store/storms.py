"""Alerts in great number: the first of a project go out one by one, those after them in one message.

Nobody reads three thousand messages, and a channel takes one a second. So within any minute a project's
first alerts (``alertBurst``, the worst of a batch first) are composed as they are raised; each one after
them is recorded all the same and waits, as a row of the outbox, for the message that tells of all of them
a minute after the first. In a storm that lasts, that is one message a minute, whichever server writes it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import BigInteger, Select, Text, UpdateBase, and_, case, func, select, update

from loopwatch.config.project import ProjectSettings
from loopwatch.records.alert import Alert
from loopwatch.records.delivery import Draft
from loopwatch.store.alerts import alert_of
from loopwatch.store.dialect import Rows
from loopwatch.store.drafts import Row, folding, pending, write
from loopwatch.store.engines import Database
from loopwatch.store.projects import Projects
from loopwatch.store.statements import Query, Remote, Statements
from loopwatch.store.tables import alerts, outbox, projects

MINUTE = 60_000_000
"""In which alerts are counted, and for which those beyond the first are gathered."""

Compose = Callable[[Alert, ProjectSettings], Sequence[Draft]]
"""What is to be sent about an alert, to every channel that the settings name. Pure."""
Summarise = Callable[[Sequence[Alert], ProjectSettings], Sequence[Draft]]
"""The same about many alerts of one project, the worst first."""


def severity(alert: Alert) -> tuple[float, int, str]:
    """Sorts the worst first: the farthest above its threshold, whatever the rule; then the most tokens."""
    return -alert.observed / max(alert.threshold, 1), -alert.tokens, alert.user_id


async def tell(
    on: Statements,
    compose: Compose,
    raised: Iterable[Alert],
    settings: Mapping[str, ProjectSettings],
    now: int,
) -> None:
    """Write down what is to be sent about alerts, in the transaction that raised them."""
    by_project: dict[str, list[Alert]] = defaultdict(list)
    for alert in sorted(raised, key=severity):
        by_project[alert.project_id].append(alert)
    told = await _told(on, [one for one in sorted(by_project) if settings[one].channels], now)
    rows: list[Row] = []
    for project_id, every in by_project.items():
        mine = settings[project_id]
        count, due = told.get(project_id, (0, now))
        alone = max(0, mine.alert_burst - count) if mine.channels else len(every)
        for rank, alert in enumerate(every[:alone]):
            rows += pending(compose(alert, mine), now, alert.id, rank)
        rows += (folding(alert.id, project_id, now, due) for alert in every[alone:])
    await write(on, rows)


async def _told(on: Statements, wanted: Sequence[str], now: int) -> dict[str, tuple[int, int]]:
    """Of each project the alerts of the last minute, and when those that wait are told.

    Holds the projects until the commit, so that two servers never count past each other.
    """
    if not wanted:
        return {}
    await _hold(on, [(one,) for one in wanted])
    found = await _count(on, [(one, now - MINUTE) for one in wanted])
    return {row[0]: (int(row[1]), now + MINUTE if row[2] is None else int(row[2])) for row in found}


@Query
def _hold(dialect: str) -> tuple[Rows, Select[Any]]:
    asked = Rows(dialect, "p", {"id": Text})
    held = select(projects.c.id).join_from(asked.table, projects, projects.c.id == asked.c.id)
    return asked, held.order_by(projects.c.id).with_for_update(of=projects)  # SQLite has one writer anyway


@Query
def _count(dialect: str) -> tuple[Rows, Select[Any]]:
    asked = Rows(dialect, "c", {"id": Text, "since": BigInteger})
    of = outbox.c
    recent = and_(of.project_id == asked.c.id, of.created_us > asked.c.since, of.alert_id.is_not(None))
    due = func.min(case((of.state == "folding", of.due_us)))
    return asked, (
        select(asked.c.id, func.count(of.alert_id.distinct()), due)
        .select_from(asked.table.outerjoin(outbox, recent))
        .group_by(asked.c.id)
    )


class Storms:
    """The alerts that wait to be told together, of all projects."""

    def __init__(self, database: Database, every: Projects) -> None:
        self._database = database
        self._projects = every

    async def summarise(self, compose: Summarise) -> int:
        """Write the messages that are due; how many alerts they tell of. Whoever comes second finds none."""
        of = outbox.c
        due = select(of.project_id).where(of.state == "folding", of.due_us <= self._database.now())
        async with self._database.reading() as connection:
            ids = (await connection.execute(due.distinct().order_by(of.project_id))).scalars().all()
        return sum([await self._summarised(project_id, compose) for project_id in ids])

    async def _summarised(self, project_id: str, compose: Summarise) -> int:
        of = outbox.c
        mine = and_(of.project_id == project_id, of.state == "folding")
        waiting = select(alerts, of.id.label("row_id")).join_from(outbox, alerts, alerts.c.id == of.alert_id)
        async with self._database.writing() as connection:
            on = Remote(connection)
            await _hold(on, [(project_id,)])
            found = (await connection.execute(waiting.where(mine))).all()
            settings = (await self._projects.current(on, [project_id]))[project_id].settings
            worst = sorted(map(alert_of, found), key=severity)
            await write(on, pending(compose(worst, settings), self._database.now()) if worst else [])
            await _fold(on, [(row.row_id,) for row in found])
        return len(found)


@Query
def _fold(dialect: str) -> tuple[Rows, UpdateBase]:
    asked = Rows(dialect, "f", {"id": Text})
    return asked, update(outbox).where(outbox.c.id == asked.c.id).values(state="folded")
