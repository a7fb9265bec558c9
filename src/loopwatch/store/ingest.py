"""The transaction that takes calls in: everything that follows from a batch, or nothing of it.

Users first (their rows are the lock between processes), then which calls are new, the calls, their
sums, their users' windows, and what the windows say.
"""

import logging
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

import msgspec
from sqlalchemy import Insert, Select, Text, and_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from loopwatch.config.project import ProjectSettings
from loopwatch.records.alert import Alert
from loopwatch.records.call import Call
from loopwatch.records.moments import micros, span_micros
from loopwatch.records.money import nano_usd
from loopwatch.store.crossings import Judge, decide
from loopwatch.store.dialect import Rows, execute_many
from loopwatch.store.projects import Projects
from loopwatch.store.sums import Entry, add_buckets, add_sums, touch_users
from loopwatch.store.tables import calls
from loopwatch.store.windows import User, Windows
from loopwatch.velocity.window import Span, span

_log = logging.getLogger(__name__)

Price = Callable[[Call, ProjectSettings], int | None]
"""What a call of a project costs, in nano-USD; None where that is unknown. Pure and quick: asked once a
call, and again where a transaction is repeated."""
Outcome = Literal["stored", "duplicate", "conflict", "no project"]
"""What became of a call: kept; known already by its event id; known with other contents, so the first one
holds; or nothing, because its project does not exist."""

_SAME = ("user_id", "request_model", "input_tokens", "output_tokens")
"""What a second call with the same event id is compared by."""


_INSERT: Insert = calls.insert()
_COLUMNS = tuple(column.name for column in calls.columns if column.name != "id")
"""All but the one that the database numbers by itself."""


class Written(NamedTuple):
    """What a batch did: an outcome for each entry, in their order, and the alerts that it caused."""

    outcomes: list[Outcome]
    alerts: list[Alert]


class Ingest(NamedTuple):
    """Everything that taking calls in needs."""

    projects: Projects
    windows: Windows
    judge: Judge
    price: Price

    def _cost(self, call: Call, settings: ProjectSettings) -> int | None:
        """What a call costs. A price that fails is an unknown one: the call was made all the same."""
        try:
            return self.price(call, settings)
        except Exception:  # noqa: BLE001  whatever it is, the call is kept
            _log.exception("no price for a call: its cost is stored as unknown")
            return None

    def _priced(self, entry: Entry, settings: ProjectSettings) -> Entry:
        """The entry with its cost, and its plan's monthly price where the call or the settings say it."""
        call, plan = entry.call, entry.call.plan
        said = call.plan_revenue_usd
        price = settings.plans.get(plan) if said is None and plan is not None else said
        revenue = None if price is None else nano_usd(price)
        return Entry(entry.project_id, call, self._cost(call, settings), revenue)

    async def write(self, connection: AsyncConnection, entries: Sequence[Entry], now: int) -> Written:
        """Do it, in the transaction that ``connection`` is in. ``now`` is the moment that windows end."""
        current = await self.projects.current(connection, {entry.project_id for entry in entries})
        settings = {project_id: one.settings for project_id, one in current.items()}
        known = [
            self._priced(entry, settings[entry.project_id])
            for entry in entries
            if entry.project_id in settings
        ]
        await touch_users(connection, known)
        outcomes, fresh = await _sorted_out(connection, known)
        if fresh:
            await execute_many(connection, _INSERT, _COLUMNS, [_row(entry) for entry in fresh])
            await add_sums(connection, fresh)
            await add_buckets(connection, fresh)
        alerts = await self._judged(connection, fresh, settings, now)
        every = iter(outcomes)
        return Written(
            [next(every) if entry.project_id in current else "no project" for entry in entries], alerts
        )

    async def _judged(
        self,
        connection: AsyncConnection,
        fresh: Sequence[Entry],
        settings: dict[str, ProjectSettings],
        now: int,
    ) -> list[Alert]:
        bounds = {
            project_id: span(now, span_micros(one.window.total_seconds()))
            for project_id, one in settings.items()
        }
        spans: dict[User, Span] = {
            (entry.project_id, entry.user): bounds[entry.project_id] for entry in fresh if entry.user
        }
        fills = await self.windows.fills(connection, spans, fresh)
        return await decide(connection, self.judge, settings, fills, fresh, now=now)


async def _sorted_out(
    connection: AsyncConnection, entries: Sequence[Entry]
) -> tuple[list[Outcome], list[Entry]]:
    """What each entry is, and those that are new, in the order of their keys."""
    asked, statement = _there(connection.dialect.name)
    keys = [(entry.project_id, entry.call.event_id) for entry in entries]
    found = await connection.execute(statement, asked.bind(keys))
    there: dict[tuple[str, str], tuple[Any, ...]] = {(row[0], row[1]): tuple(row[2:]) for row in found}
    outcomes: list[Outcome] = []
    fresh: list[Entry] = []
    for entry in entries:
        key, contents = (entry.project_id, entry.call.event_id), _contents(entry)
        if key not in there:
            there[key] = contents
            fresh.append(entry)
            outcomes.append("stored")
        else:
            outcomes.append("duplicate" if there[key] == contents else "conflict")
    fresh.sort(key=lambda entry: (entry.project_id, entry.call.event_id))
    return outcomes, fresh


@cache
def _there(dialect: str) -> tuple[Rows, Select[Any]]:
    asked = Rows(dialect, "e", {"project_id": Text, "event_id": Text})
    same = and_(calls.c.project_id == asked.c.project_id, calls.c.event_id == asked.c.event_id)
    columns = (calls.c.project_id, calls.c.event_id, *(calls.c[name] for name in _SAME))
    return asked, select(*columns).join_from(asked.table, calls, same)


def _contents(entry: Entry) -> tuple[Any, ...]:
    call = entry.call
    return entry.user, call.request_model, call.input_tokens, call.output_tokens


def _row(entry: Entry) -> tuple[Any, ...]:
    """A call as its row, in the order of ``_COLUMNS``."""
    call = entry.call
    return (
        entry.project_id,
        call.event_id,
        micros(call.at),
        micros(call.received_at),
        entry.user,
        call.feature or "",
        call.plan,
        entry.plan_revenue_nano,
        call.provider,
        call.request_model,
        call.response_model,
        call.input_tokens,
        call.cache_read_input_tokens,
        call.cache_creation_input_tokens,
        call.output_tokens,
        call.reasoning_output_tokens,
        call.usage_source,
        call.estimate_method,
        call.latency_ms,
        entry.cost_nano,
        call.loop_aborts,
        call.loop_abort_words,
        call.loop_abort_chars,
        call.loop_rule,
        msgspec.json.encode(call.generation_ids).decode() if call.generation_ids else None,
    )
