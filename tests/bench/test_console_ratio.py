"""Pages over 10,000 users and 1,000,000 calls against the bare rollup query: a ratio within one run, printed."""

import sqlite3
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from tests.server.console.guest import Guest, member
from tests.server.house import serving

USERS = 10_000
CALLS = 1_000_000
ROUNDS = 7
PAGES = (
    "/dashboard",
    "/dashboard/now",
    "/dashboard/users?order=cost",
    "/dashboard/users/u77",
    "/dashboard/alerts",
)

NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < :calls)"
CALLED = f"""
INSERT INTO calls (project_id, event_id, at_us, received_us, user_id, feature, plan, plan_revenue_nano, provider,
  request_model, input_tokens, cache_read_input_tokens, cache_creation_input_tokens, output_tokens,
  reasoning_output_tokens, usage_source, cost_nano, loop_aborts, loop_abort_words, loop_abort_chars)
{NUMBERS} SELECT :project, 'e' || i, :since + (i * 7919) % :span, :since + (i * 7919) % :span, 'u' || (i % :users),
  'f' || (i % 7), 'pro', 49000000000, 'openai', 'm' || (i % 3), 900 + i % 100, 0, 0, 100, 0, 'provider', 210000,
  i % 997 = 0, 0, (i % 997 = 0) * 1000 FROM n
"""  # noqa: S608  our own pieces
SUMS = """count(*), sum(input_tokens), 0, 0, sum(output_tokens), 0, sum(cost_nano), 0, 0, sum(loop_aborts), 0,
  sum(loop_abort_chars)"""
NAMES = """calls, input_tokens, cache_read_input_tokens, cache_creation_input_tokens, output_tokens,
  reasoning_output_tokens, cost_nano, unpriced, latency_ms, loop_aborts, loop_abort_words, loop_abort_chars"""
ROLLED = (
    f"""INSERT INTO hourly (project_id, hour_us, feature, provider, model, {NAMES})
    SELECT project_id, at_us - at_us % 3600000000, feature, provider, request_model, {SUMS}
    FROM calls GROUP BY 1, 2, 3, 4, 5""",  # noqa: S608  our own pieces
    f"""INSERT INTO user_months (project_id, month, user_id, feature, provider, model, {NAMES}, plan_revenue_nano, last_us)
    SELECT project_id, :month, user_id, feature, provider, request_model, {SUMS}, max(plan_revenue_nano), max(at_us)
    FROM calls GROUP BY 1, 2, 3, 4, 5, 6""",  # noqa: S608  our own pieces
    """INSERT INTO users (project_id, user_id, plan, plan_revenue_nano, first_us, last_us)
    SELECT project_id, user_id, 'pro', 49000000000, min(at_us), max(at_us) FROM calls GROUP BY 1, 2""",
)
BARE = """SELECT user_id, sum(calls), sum(input_tokens + output_tokens), sum(cost_nano), sum(unpriced),
  max(plan_revenue_nano) - sum(cost_nano) AS margin, max(last_us) FROM user_months
  WHERE project_id = :project AND month = :month GROUP BY user_id ORDER BY margin, user_id LIMIT 26"""


def fill(path: Path, project: str) -> dict[str, object]:
    """Write the calls, and the sums that the server would have kept beside them."""
    now = datetime.now(UTC)
    since = int(now.replace(day=1, hour=0, minute=0, second=0, microsecond=0).timestamp()) * 1_000_000
    span = max(3_600_000_000, int(now.timestamp() * 1_000_000) - since)
    named: dict[str, object] = {"project": project, "month": now.year * 100 + now.month}
    with closing(sqlite3.connect(path)) as database:
        database.execute(CALLED, {**named, "calls": CALLS, "users": USERS, "since": since, "span": span})
        for statement in ROLLED:
            database.execute(statement, named)
        database.execute("ANALYZE")
        database.commit()
    return named


async def best(ask: Callable[[], Awaitable[object]]) -> float:
    """The CPU and waiting of the quickest of some rounds, in seconds."""
    spent = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        await ask()
        spent.append(time.perf_counter() - began)
    return min(spent)


async def test_pages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.db"
    async with serving(path) as house, member(house) as owner:
        named = fill(path, house.project)
        with closing(sqlite3.connect(path)) as database:

            async def bare() -> object:
                return database.execute(BARE, named).fetchall()

            against = await best(bare)
        lines = []
        for page in PAGES:
            spent = await best(partial(looked, owner, page))
            lines.append(
                f"{page:30} {spent / against:.2f}x the bare rollup (budget 3x; {against * 1000:.0f} ms)"
            )
    with capsys.disabled():
        print("", *lines, sep="\n")  # noqa: T201  what `make bench` is for


async def looked(owner: Guest, page: str) -> object:
    seen = await owner.open(page)
    assert seen.status == 200
    return seen
