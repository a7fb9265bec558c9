"""Whether a user may spend on, asked before a call: ``GET /api/v1/check``, remembered for a minute.

An outage lets every call through, and is remembered too, so that a server that does not answer is not
waited for by each call. A key that is refused (401, 403) lets none through.
"""

import asyncio
import sys
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from http import HTTPStatus
from typing import Any, NamedTuple, TypeVar

from loopwatch.clock import Clock
from loopwatch.errors import CapReached, ProjectKeyRefused
from loopwatch.sdk.forking import renewed_after_fork
from loopwatch.sdk.labels import Labels
from loopwatch.sdk.link import REFUSED, Answer, Link

K = TypeVar("K")
V = TypeVar("V")

FRESH_SECONDS = 60.0
OPEN_SECONDS = 10.0
"""How long an outage is remembered, at first; twice as long each time, up to a minute."""
ASKERS = 4
"""Threads that ask at a time for an application on asyncio; none is started before a question."""
REMEMBERED = 10_000
"""Answers and announcements that are kept; beyond it the oldest is forgotten."""
Key = tuple[str, str, str]


class Downgrade(NamedTuple):
    """A user's call that another model answers, since the plan's cap is reached."""

    user_id: str
    from_model: str
    to_model: str


class Decision(NamedTuple):
    """What a server said of a call; ``model`` is another one that is to answer it."""

    allowed: bool = True
    model: str | None = None
    spend: float | None = None
    cap: float | None = None
    refused: int | None = None


class Caps:
    """Asks the server, one question at a time for each user, plan and model."""

    def __init__(
        self,
        link: Link,
        clock: Clock,
        on_downgrade: Callable[[Downgrade], None],
        on_refused: Callable[[int], None],
    ) -> None:
        self._link = link
        self._clock = clock
        self._on_downgrade = on_downgrade
        self._on_refused = on_refused
        self._lock = threading.Lock()
        self._known: dict[Hashable, tuple[float, Decision]] = {}
        self._asking: dict[Key, Future[Decision]] = {}
        self._told: dict[Hashable, None] = {}
        self._open_until = 0.0
        self._open_for = OPEN_SECONDS
        self._threads: ThreadPoolExecutor | None = None
        renewed_after_fork(self)

    def model_for(self, labels: Labels, model: str) -> str:
        """The model that may answer. Raises CapReached, ProjectKeyRefused."""
        key = _key(labels, model)
        decision = self._remembered(key)
        return self._judge(key, self._ask(key) if decision is None else decision)

    async def model_for_async(self, labels: Labels, model: str) -> str:
        """As ``model_for``; the event loop goes on meanwhile."""
        key = _key(labels, model)
        decision = self._remembered(key)
        if decision is None:
            decision = await self._ask_elsewhere(key)
        return self._judge(key, decision)

    async def _ask_elsewhere(self, key: Key) -> Decision:
        """Ask in a thread of our own: the application's may all be waiting for this very call."""
        if not _on_asyncio():
            trio: Any = sys.modules.get("trio")
            return self._ask(key) if trio is None else await trio.to_thread.run_sync(self._ask, key)
        with self._lock:
            if self._threads is None:
                self._threads = ThreadPoolExecutor(ASKERS, thread_name_prefix="loopwatch-caps")
            asked = self._threads.submit(self._ask, key)
        return await asyncio.wrap_future(asked)

    def forget(self) -> None:
        """Begin anew in a forked child: who was asking there is not here."""
        self._lock = threading.Lock()
        self._asking = {}
        self._threads = None

    def _judge(self, key: Key, decision: Decision) -> str:
        user, plan, model = key
        if decision.refused is not None:
            raise ProjectKeyRefused(decision.refused)
        if decision.allowed:
            return model
        if decision.model is None:
            raise CapReached(user, plan, decision.spend, decision.cap)
        downgrade = Downgrade(user, model, decision.model)
        with self._lock:
            told = downgrade in self._told
            _remember(self._told, downgrade, None)
        if not told:
            self._on_downgrade(downgrade)
        return decision.model

    def _remembered(self, key: Key) -> Decision | None:
        now = self._clock.monotonic()
        with self._lock:
            until, decision = self._known.get(key, (0.0, Decision()))
            if now < until:
                return decision
            return Decision() if now < self._open_until else None

    def _ask(self, key: Key) -> Decision:
        mine: Future[Decision] = Future()
        known = self._remembered(key)  # by now: others may have waited in vain meanwhile
        if known is not None:
            return known
        with self._lock:
            first = self._asking.setdefault(key, mine)
        if first is not mine:
            return first.result()
        decision = Decision()
        try:
            decision = self._answered(key, self._link.check(*key))
        finally:
            with self._lock:
                del self._asking[key]
            mine.set_result(decision)
        return decision

    def _answered(self, key: Key, answer: Answer) -> Decision:
        now = self._clock.monotonic()
        if answer.status in REFUSED:
            self._on_refused(answer.status)
            decision = Decision(refused=answer.status)
        elif answer.status == HTTPStatus.OK and answer.document is not None:
            decision = _read(answer.document)
        else:
            with self._lock:
                self._open_until = now + max(self._open_for, answer.retry_after or 0.0)
                self._open_for = min(2 * self._open_for, FRESH_SECONDS)
            return Decision()
        with self._lock:
            self._open_for = OPEN_SECONDS
            _remember(self._known, key, (now + FRESH_SECONDS, decision))
        return decision


def _on_asyncio() -> bool:
    """Whether asyncio runs here, and not trio, which the vendors' clients know as well."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _key(labels: Labels, model: str) -> Key:
    return (labels.user_id or "", labels.plan or "", model)


def _read(document: dict[str, object]) -> Decision:
    spend, cap = _number(document.get("currentSpend")), _number(document.get("cap"))
    if document.get("allowed", True) is not False:
        return Decision(spend=spend, cap=cap)
    other = document.get("alternativeModel")
    swaps = document.get("action") == "downgrade" and isinstance(other, str) and other != ""
    return Decision(allowed=False, model=str(other) if swaps else None, spend=spend, cap=cap)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _remember(memory: dict[K, V], key: K, value: V) -> None:
    memory.pop(key, None)
    memory[key] = value
    if len(memory) > REMEMBERED:
        del memory[next(iter(memory))]
