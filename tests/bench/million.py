"""A million calls of ten thousand users within thirty days, put into a database by itself.

The rows are made by SQL, and the sums by SQL from the rows: what the writer would have left behind, in seconds.
"""

from sqlalchemy import text

from loopwatch.store.opening import Store
from loopwatch.store.sums import HOUR
from loopwatch.store.tables import SUMMED

CALLS, USERS, DAYS = 1_000_000, 10_000, 30
AT_ONCE = 100_000
"""Rows of a statement, which has its time limit."""

_NUMBERS = {
    "sqlite": "WITH RECURSIVE n(i) AS (SELECT :first UNION ALL SELECT i + 1 FROM n WHERE i < :last) ",
    "postgresql": "WITH n AS (SELECT generate_series(CAST(:first AS BIGINT), CAST(:last AS BIGINT)) AS i) ",
}
_CALLS = """
INSERT INTO calls (project_id, event_id, at_us, received_us, user_id, feature, provider, request_model,
    input_tokens, cache_read_input_tokens, cache_creation_input_tokens, output_tokens,
    reasoning_output_tokens, usage_source, latency_ms, cost_nano, loop_aborts, loop_abort_words,
    loop_abort_chars, plan, plan_revenue_nano) """
_ROWS = """
SELECT :project, 'e' || i, :begin + i * :step, :begin + i * :step, 'user-' || (i * 7919 % :users),
    'feature-' || (i % 5), 'openai', 'model-' || (i / 5 % 4), 900 + i % 200, i % 100, 0, 300 + i % 50, 0,
    'provider', 400 + i % 900, CASE WHEN i / 5 % 4 = 3 THEN NULL ELSE 1000 * (i % 2000) END,
    CASE WHEN i % 5000 = 0 THEN 1 ELSE 0 END, 0, CASE WHEN i % 5000 = 0 THEN 24522 ELSE 0 END, 'pro', 29000000000
FROM n"""
_OWN = {
    "calls": "COUNT(*)",
    "cost_nano": "COALESCE(SUM(cost_nano), 0)",
    "unpriced": "SUM(CASE WHEN cost_nano IS NULL THEN 1 ELSE 0 END)",
}
SUMS = ", ".join(_OWN.get(name, f"SUM({name})") for name in SUMMED)
_MONTH = {
    "sqlite": "CAST(strftime('%Y%m', at_us / 1000000, 'unixepoch') AS INTEGER)",
    "postgresql": "CAST(to_char(to_timestamp(at_us / 1000000) AT TIME ZONE 'UTC', 'YYYYMM') AS INTEGER)",
}


async def fill(store: Store, project: str) -> None:
    """Put everything into the project, the last call a moment ago."""
    dialect = store.database.dialect
    step = DAYS * 24 * HOUR // CALLS
    values = {"project": project, "users": USERS, "step": step}
    values["begin"] = store.database.now() - CALLS * step
    names, of = ", ".join(SUMMED), "feature, provider, request_model"
    hour = f"at_us - at_us % {HOUR}"
    month = _MONTH[dialect]
    numbers = _NUMBERS[dialect]
    rows = _CALLS + numbers + _ROWS if dialect == "sqlite" else numbers + _CALLS + _ROWS
    hours = f"SELECT project_id, {hour}, {of}, {SUMS} FROM calls GROUP BY project_id, {hour}, {of}"  # noqa: S608
    months = (
        f"SELECT project_id, {month}, user_id, {of}, {SUMS}, MAX(plan_revenue_nano), MAX(at_us) "  # noqa: S608
        f"FROM calls GROUP BY project_id, {month}, user_id, {of}"
    )
    users = (
        "SELECT project_id, user_id, MAX(plan), MAX(plan_revenue_nano), MIN(at_us), MAX(at_us) "
        "FROM calls GROUP BY project_id, user_id"
    )
    key = "feature, provider, model"
    statements = (
        f"INSERT INTO hourly (project_id, hour_us, {key}, {names}) {hours}",
        f"INSERT INTO user_months (project_id, month, user_id, {key}, {names}, plan_revenue_nano, last_us) {months}",
        f"INSERT INTO users (project_id, user_id, plan, plan_revenue_nano, first_us, last_us) {users}",
    )
    async with store.database.engine.begin() as connection:
        if dialect == "postgresql":
            await connection.execute(text("SET LOCAL statement_timeout = 0"))
        for first in range(0, CALLS, AT_ONCE):
            part = {**values, "first": first, "last": first + AT_ONCE - 1}
            await connection.execute(text(rows), part)
        for statement in statements:
            await connection.execute(text(statement))
    async with store.database.engine.connect() as connection:
        if dialect == "postgresql":
            connection = await connection.execution_options(isolation_level="AUTOCOMMIT")  # noqa: PLW2901
        await connection.execute(text("ANALYZE"))
