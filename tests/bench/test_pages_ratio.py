"""What the reports behind the pages cost over a million calls, against the bare query over the sums."""

import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from loopwatch.store.opening import Store, open_store
from loopwatch.store.sums import month_of
from loopwatch.store.tables import SUMMED
from tests.bench.million import CALLS, USERS, fill
from tests.store.servers import postgres

ROUNDS = 5
_SUMS = ", ".join(f"SUM({name})" for name in SUMMED)
BY_DAY = (
    f"SELECT hour_us - hour_us % 86400000000, {_SUMS} FROM hourly "  # noqa: S608  names of our columns
    "WHERE project_id = :project AND hour_us >= :since GROUP BY 1 ORDER BY 1"
)
BY_USER = (
    f"SELECT user_id, {_SUMS} FROM user_months "  # noqa: S608
    "WHERE project_id = :project AND month = :month GROUP BY user_id ORDER BY SUM(cost_nano) DESC LIMIT 100"
)
Work = Callable[[], Awaitable[Any]]


@pytest.fixture(scope="module")
def postgres_url() -> Iterator[str]:
    with postgres() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/loopwatch.db"
    address: str = request.getfixturevalue("postgres_url")
    return address


async def test_reports_over_a_million_calls(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    async with open_store(url, upgrade=True) as store:
        project = (await store.projects.create("Bench")).id
        await fill(store, project)
        bare, pages = works(store, project)
        best: dict[str, float] = {}
        for _ in range(ROUNDS):
            for name, work in {**bare, **{name: page for name, (_, page) in pages.items()}}.items():
                start = time.perf_counter()
                await work()
                best[name] = min(best.get(name, 60), time.perf_counter() - start)
        assert await store.users.count(project) == USERS
        assert (
            await store.reports.totals(project, store.database.clock.now() - timedelta(days=31))
        ).calls == CALLS
    with capsys.disabled():
        for name, seconds in best.items():
            if name in pages:
                against = pages[name][0]
                ratio = f"{seconds / best[against]:.2f}x the bare sums {against} (budget 3x)"
                line = f"{url.partition(':')[0]:10} {name}: {seconds * 1e3:.1f} ms, {ratio}"
                print(f"\n{line}", end="")  # noqa: T201  what `make bench` is for
        print()  # noqa: T201


def works(store: Store, project: str) -> tuple[dict[str, Work], dict[str, tuple[str, Work]]]:
    """The bare queries, and each report with the one that it is measured against."""
    now = store.database.clock.now()
    month, week, since = month_of(now), now - timedelta(days=7), now - timedelta(days=30)
    values = {"project": project, "month": month, "since": store.database.now() - 30 * 86_400_000_000}

    def plain(statement: str) -> Work:
        async def work() -> None:
            async with store.database.engine.connect() as connection:
                used = {key: value for key, value in values.items() if f":{key}" in statement}
                (await connection.execute(text(statement), used)).all()

        return work

    reports, series, users = store.reports, store.series, store.users
    by_day: dict[str, Work] = {
        "totals": lambda: reports.totals(project, since),
        "features": lambda: reports.by("feature", project, since),
        "models": lambda: reports.models(project, since),
        "days": lambda: series.project(project, "day", since),
        "hours of a week": lambda: series.project(project, "hour", week),
        "a user's days": lambda: series.user(project, "user-7", "day", since),
        "a user's window": lambda: series.window(project, "user-7", now - timedelta(hours=1)),
        "a user's models": lambda: reports.user_models(project, "user-7"),
        "a user's calls": lambda: reports.recent(project, user_id="user-7"),
        "recent calls": lambda: reports.recent(project),
        "loops cut": lambda: reports.loops(project),
    }
    by_user: dict[str, Work] = {
        "users by margin": lambda: users.list(project),
        "users found": lambda: users.list(project, search="r-77"),
        "money": lambda: reports.money(project),
    }
    pages = {name: ("by day", work) for name, work in by_day.items()}
    pages |= {name: ("by user", work) for name, work in by_user.items()}
    return {"by day": plain(BY_DAY), "by user": plain(BY_USER)}, pages
