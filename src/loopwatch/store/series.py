"""How a project, a user and a user's window went over time: points at even steps, the empty ones too.

A project's hours and days come from the hourly sums, whatever the number of calls; a user's from their
single calls, by index, as far back as those are kept; a window's from its buckets.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

import msgspec
from sqlalchemy import ColumnElement, and_, case, func, select

from loopwatch.errors import InputError
from loopwatch.records.moments import micros, moment, span_micros
from loopwatch.store.engines import Database
from loopwatch.store.projects import Projects
from loopwatch.store.reports import Sums, summed, sums_of
from loopwatch.store.sums import HOUR
from loopwatch.store.tables import SUMMED, calls, hourly, window_buckets
from loopwatch.velocity.tokens import weighed
from loopwatch.velocity.window import BUCKET, bucket_of, rolled

Step = Literal["hour", "day"]
STEPS: Mapping[Step, int] = {"hour": HOUR, "day": 24 * HOUR}
"""In microseconds. Days are those of UTC."""
MOST_POINTS = 5_000
"""Points of a series: more than any screen is wide, and seven months of hours."""


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """The sums of one hour or day, which begins ``at``."""

    at: datetime
    sums: Sums


class WindowPoint(msgspec.Struct, frozen=True, kw_only=True):
    """What a user's window held at a moment, and what had come to it since the point before.

    ``tokens`` and ``added`` are weighed by the project's settings as they are now, ``cost_nano`` is the
    window's, in nano-USD. Exact to the bucket of five seconds; alerts are judged to the microsecond.
    """

    at: datetime
    tokens: int
    added: int
    calls: int
    cost_nano: int


class Series:
    """The series of all projects. ``since`` is rounded down to the step; ``until`` itself is left out.

    Raises InputError for more than ``MOST_POINTS`` points.
    """

    def __init__(self, database: Database, projects: Projects) -> None:
        self._database = database
        self._projects = projects

    async def project(
        self, project_id: str, step: Step, since: datetime, until: datetime | None = None
    ) -> list[Point]:
        """Everything that a project logged."""
        bounds = self._bounds(STEPS[step], since, until)
        of = hourly.c
        at = _stepped(of.hour_us, STEPS[step])
        wanted = select(at.label("at"), *summed(hourly)).where(
            of.project_id == project_id, of.hour_us >= bounds.start, of.hour_us < bounds.stop
        )
        return await self._points(bounds, wanted.group_by(at))

    async def user(
        self, project_id: str, user_id: str, step: Step, since: datetime, until: datetime | None = None
    ) -> list[Point]:
        """What one user logged; user "" is everybody anonymous."""
        bounds = self._bounds(STEPS[step], since, until)
        of = calls.c
        at = _stepped(of.at_us, STEPS[step])
        wanted = select(at.label("at"), *_of_calls()).where(
            of.project_id == project_id,
            of.user_id == user_id,
            of.at_us >= bounds.start,
            of.at_us < bounds.stop,
        )
        return await self._points(bounds, wanted.group_by(at))

    async def window(
        self, project_id: str, user_id: str, since: datetime, until: datetime | None = None
    ) -> list[WindowPoint]:
        """How full a user's window was, every five seconds; as far back as buckets are kept (12 hours)."""
        bounds = self._bounds(BUCKET, since, until)
        settings = (await self._projects.settings(project_id)).settings
        length = span_micros(settings.window.total_seconds())
        first = bucket_of(bounds.start - length)
        of = window_buckets.c
        wanted = select(of.start_us, of.fresh_tokens, of.cached_tokens, of.calls, of.cost_nano).where(
            and_(of.project_id == project_id, of.user_id == user_id),
            and_(of.start_us >= first, of.start_us < bounds.stop),
        )
        async with self._database.reading() as connection:
            added = {
                row[0]: (weighed(row[1], row[2], settings.cached_weight), row[3], row[4])
                for row in await connection.execute(wanted)
            }
        held = rolled(added, bounds, length)
        return [
            WindowPoint(
                at=moment(start + BUCKET),
                tokens=tokens,
                added=added.get(start, (0,))[0],
                calls=number,
                cost_nano=cost,
            )
            for start, (tokens, number, cost) in zip(bounds, held, strict=True)
        ]

    def _bounds(self, step: int, since: datetime, until: datetime | None) -> range:
        begin = micros(since)
        bounds = range(begin - begin % step, micros(until) if until else self._database.now() + 1, step)
        if len(bounds) > MOST_POINTS:
            raise InputError(f"a series has {MOST_POINTS:,} points at most: ask for less, or longer steps")
        return bounds

    async def _points(self, bounds: range, wanted: Any) -> list[Point]:
        async with self._database.reading() as connection:
            found = {row.at: sums_of(row) for row in await connection.execute(wanted)}
        return [Point(at=moment(at), sums=found.get(at, _NOTHING)) for at in bounds]


_NOTHING = Sums()


def _stepped(column: ColumnElement[int], step: int) -> ColumnElement[int]:
    return column - column % step


def _of_calls() -> Sequence[ColumnElement[Any]]:
    """``SUMMED`` over single calls."""
    of = calls.c
    own: dict[str, ColumnElement[Any]] = {
        "calls": func.count(),
        "cost_nano": func.coalesce(func.sum(of.cost_nano), 0),
        "unpriced": func.sum(case((of.cost_nano.is_(None), 1), else_=0)),
        "latency_ms": func.coalesce(func.sum(of.latency_ms), 0),
    }
    return [own.get(name, func.sum(of.get(name))).label(name) for name in SUMMED]
