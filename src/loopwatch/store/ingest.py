"""The transaction that takes calls in: everything that follows from a batch, or nothing of it.

Users first (their rows are the lock between processes), then which calls are new, the calls, their
sums, their users' windows, and what the windows say.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import msgspec
from sqlalchemy import Insert, Select, Text, and_, select

from loopwatch.config.project import ProjectSettings
from loopwatch.records.alert import Alert
from loopwatch.records.call import Call
from loopwatch.records.moments import micros, span_micros
from loopwatch.records.money import nano_usd
from loopwatch.store.corrections import OPEN, correct
from loopwatch.store.crossings import Judge, decide
from loopwatch.store.dialect import Rows
from loopwatch.store.projects import Projects
from loopwatch.store.statements import Query, Statements, execute_many
from loopwatch.store.sums import Entry, add_buckets, add_sums, touch_users
from loopwatch.store.tables import calls
from loopwatch.store.windows import User, Windows
from loopwatch.velocity.window import Span, span

_log = logging.getLogger(__name__)

Price = Callable[[Call, ProjectSettings], int | None]
"""What a call of a project costs, in nano-USD; None where that is unknown. Pure and quick: asked once a
call, and again where a transaction is repeated."""
Outcome = Literal["stored", "corrected", "duplicate", "conflict", "no project"]
"""What became of a call: kept; kept in place of an estimate (``corrections``); known already by its event
id; known with other contents, so the first one holds; or nothing, because its project does not exist."""

_SAME = ("user_id", "request_model", "input_tokens", "output_tokens", "usage_source")
"""What a second call with the same event id is compared by: who and which model first, the source last."""


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
        if call.provider_cost_usd is not None:
            return nano_usd(call.provider_cost_usd)
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

    async def write(self, on: Statements, entries: Sequence[Entry], now: int) -> Written:
        """Do it, in a transaction. ``now`` is the moment that windows end."""
        current = await self.projects.current(on, {entry.project_id for entry in entries})
        settings = {project_id: one.settings for project_id, one in current.items()}
        known = [
            self._priced(entry, settings[entry.project_id])
            for entry in entries
            if entry.project_id in settings
        ]
        await touch_users(on, known)
        outcomes, fresh, corrections = await _sorted_out(on, known)
        await correct(on, corrections, now)
        if fresh:
            await execute_many(on, _INSERT, _COLUMNS, [_row(entry) for entry in fresh])
            await add_sums(on, fresh)
            await add_buckets(on, fresh)
        alerts = await self._judged(on, fresh, settings, now)
        every = iter(outcomes)
        return Written(
            [next(every) if entry.project_id in current else "no project" for entry in entries], alerts
        )

    async def _judged(
        self,
        on: Statements,
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
        fills = await self.windows.fills(on, spans, fresh)
        return await decide(on, self.judge, settings, fills, fresh, now=now)


async def _sorted_out(
    on: Statements, entries: Sequence[Entry]
) -> tuple[list[Outcome], list[Entry], list[Entry]]:
    """What each entry is; those that are new, in the order of their keys; those that correct a row."""
    found = await _there(on, [(entry.project_id, entry.call.event_id) for entry in entries])
    there: dict[tuple[str, str], tuple[Any, ...]] = {(row[0], row[1]): tuple(row[2:]) for row in found}
    stored = set(there)
    outcomes: list[Outcome] = []
    fresh: dict[tuple[str, str], Entry] = {}
    corrections: list[Entry] = []
    for entry in entries:
        key, contents = (entry.project_id, entry.call.event_id), _contents(entry)
        outcome = _outcome(there.get(key), contents)
        if outcome == "corrected" and key in stored:
            corrections.append(entry)
        elif outcome in ("stored", "corrected"):
            fresh[key] = entry
        if outcome in ("stored", "corrected"):
            there[key] = contents
        outcomes.append(outcome)
    return outcomes, [fresh[key] for key in sorted(fresh)], corrections


def _outcome(before: tuple[Any, ...] | None, contents: tuple[Any, ...]) -> Outcome:
    """What a call is beside the one of its event id. See ``_contents``."""
    if before is None:
        return "stored"
    *same, source = contents
    if source == "reconciled" and before[-1] in OPEN and before[:2] == contents[:2]:
        return "corrected"
    was_corrected = before[-1] == "reconciled" and source in OPEN and before[:2] == contents[:2]
    return "duplicate" if was_corrected or list(before[:-1]) == same else "conflict"


@Query
def _there(dialect: str) -> tuple[Rows, Select[Any]]:
    asked = Rows(dialect, "e", {"project_id": Text, "event_id": Text})
    same = and_(calls.c.project_id == asked.c.project_id, calls.c.event_id == asked.c.event_id)
    columns = (calls.c.project_id, calls.c.event_id, *(calls.c[name] for name in _SAME))
    return asked, select(*columns).join_from(asked.table, calls, same)


def _contents(entry: Entry) -> tuple[Any, ...]:
    call = entry.call
    return entry.user, call.request_model, call.input_tokens, call.output_tokens, call.usage_source


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
