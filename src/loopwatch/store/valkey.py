"""Windows in Valkey or Redis: the second stage, where many instances share many users.

The tables stay the truth. Each user has a revision there, one higher with every batch, and Valkey
remembers the revision that it has seen: a window that misses a batch, or has one that was undone, is
told by that and filled anew from the tables. So a Valkey that dies, forgets or falls behind costs
time, never an alert. While it does not answer, the tables sum the windows, as without it.
"""

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import msgspec
from sqlalchemy import BigInteger, Select, Text, and_, select
from valkey.asyncio import Valkey
from valkey.exceptions import ValkeyError

from loopwatch.clock import Clock
from loopwatch.errors import InputError
from loopwatch.records.moments import micros
from loopwatch.store.dialect import Rows
from loopwatch.store.statements import Query, Statements
from loopwatch.store.sums import Entry
from loopwatch.store.tables import calls, users
from loopwatch.store.windows import Fill, SqlWindows, User
from loopwatch.velocity.window import Span

TIMEOUT = 0.5
"""Seconds after which an answer is no longer waited for: a batch of callers waits with us."""
PAUSE = 5.0
"""Seconds before it is asked again, once it has not answered."""
_log = logging.getLogger(__name__)
_Call = tuple[int, int, int, int, int]
"""Time, fresh and cached tokens, cost, and 1 where the cost is unknown."""


class ValkeyWindows:
    """Windows outside of the database, checked against it."""

    waits = True

    def __init__(self, url: str, tables: SqlWindows, clock: Clock) -> None:
        try:
            self._client = Valkey.from_url(
                url, socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT, decode_responses=True
            )
        except ValueError:
            raise InputError("the store of windows must be valkey://HOST:PORT or redis://HOST:PORT") from None
        script = (files("loopwatch.store") / "windows.lua").read_text(encoding="utf-8")
        self._script = self._client.register_script(script)
        self._tables = tables
        self._clock = clock
        self._down_until: float | None = None

    async def fills(
        self, on: Statements, spans: Mapping[User, Span], added: Sequence[Entry]
    ) -> dict[User, Fill]:
        """What each user's window holds, the calls just ``added`` included."""
        if not spans:
            return {}
        if self._down_until is not None and self._clock.monotonic() < self._down_until:
            return await self._tables.fills(on, spans, added)
        revisions = await _revisions(on, list(spans))
        new: dict[User, list[_Call]] = defaultdict(list)
        for entry in added:
            new[entry.project_id, entry.user].append(_numbers(entry))
        try:
            return await self._asked(on, spans, revisions, new)
        except (ValkeyError, OSError, TimeoutError) as error:
            if self._down_until is None:
                _log.warning(
                    "Valkey does not answer (%s): the database sums the windows", type(error).__name__
                )
            self._down_until = self._clock.monotonic() + PAUSE
            return await self._tables.fills(on, spans, added)

    async def forget(self, gone: Sequence[User]) -> None:
        """Drop what is kept about users; what cannot be dropped now is recognised as old later."""
        try:
            await self._client.delete(*(_key(user) for user in gone))
        except (ValkeyError, OSError, TimeoutError):
            _log.info("Valkey does not answer: windows of deleted users expire by themselves")

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.aclose()

    async def _asked(
        self,
        on: Statements,
        spans: Mapping[User, Span],
        revisions: Mapping[User, int],
        new: Mapping[User, Sequence[_Call]],
    ) -> dict[User, Fill]:
        fills = await self._run(spans, revisions, new, refill=False)
        stale = [user for user in spans if user not in fills]
        if stale:
            held = await _held(on, {user: spans[user] for user in stale})
            fills |= await self._run({user: spans[user] for user in stale}, revisions, held, refill=True)
        if self._down_until is not None:
            self._down_until = None
            _log.info("Valkey answers again")
        return fills

    async def _run(
        self,
        spans: Mapping[User, Span],
        revisions: Mapping[User, int],
        new: Mapping[User, Sequence[_Call]],
        *,
        refill: bool,
    ) -> dict[User, Fill]:
        """Run the script once for all users; those whose window is not as it should be are left out."""
        asked = [(spans[user].after, revisions[user], new.get(user, ())) for user in spans]
        answer = await self._script(
            keys=[_key(user) for user in spans], args=[int(refill), msgspec.json.encode(asked)]
        )
        fills: dict[User, Fill] = {}
        for user, sums in zip(spans, answer, strict=True):
            if sums:
                fills[user] = Fill(*(int(float(value)) for value in sums))
        return fills


def _key(user: User) -> str:
    """One user's window. The length tells where the project ends and the user begins, whatever they hold."""
    return f"loopwatch:w:{len(user[0])}:{user[0]}:{user[1]}"


def _numbers(entry: Entry) -> _Call:
    call, cost = entry.call, entry.cost_nano
    at = micros(call.at)
    return at, call.fresh_tokens, call.cache_read_input_tokens, cost or 0, int(cost is None)


async def _revisions(on: Statements, wanted: Sequence[User]) -> dict[User, int]:
    return {(row[0], row[1]): row[2] for row in await _seen(on, wanted)}


@Query
def _seen(dialect: str) -> tuple[Rows, Select[Any]]:
    asked = Rows(dialect, "r", {"project_id": Text, "user_id": Text})
    same = and_(users.c.project_id == asked.c.project_id, users.c.user_id == asked.c.user_id)
    columns = (users.c.project_id, users.c.user_id, users.c.revision)
    return asked, select(*columns).join_from(asked.table, users, same)


async def _held(on: Statements, spans: Mapping[User, Span]) -> dict[User, list[_Call]]:
    """Every call that each window holds, from the tables."""
    held: dict[User, list[_Call]] = defaultdict(list)
    for row in await _within(on, [(*user, bounds.after) for user, bounds in spans.items()]):
        project_id, user_id, at, fresh, cached, cost = row
        held[project_id, user_id].append((at, fresh, cached, cost or 0, int(cost is None)))
    return held


@Query
def _within(dialect: str) -> tuple[Rows, Select[Any]]:
    asked = Rows(dialect, "h", {"project_id": Text, "user_id": Text, "after": BigInteger})
    of, call = asked.c, calls.c
    columns = (
        of.project_id,
        of.user_id,
        call.at_us,
        call.input_tokens - call.cache_read_input_tokens + call.output_tokens,
        call.cache_read_input_tokens,
        call.cost_nano,
    )
    mine = and_(call.project_id == of.project_id, call.user_id == of.user_id, call.at_us > of.after)
    return asked, select(*columns).join_from(asked.table, calls, mine)
