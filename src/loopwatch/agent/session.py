"""What the agents of one run share: its record, its bill, its tools' folder, and the places at work."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from loopwatch.agent.billing import Bill
from loopwatch.agent.folder import RunFolder
from loopwatch.agent.journal import Journal
from loopwatch.agent.members import Member
from loopwatch.agent.secrecy import Secrets
from loopwatch.client.model import ModelClient
from loopwatch.clock import Clock
from loopwatch.config.document import Profile
from loopwatch.config.loading import Config
from loopwatch.records.breach import TerminalStatus
from loopwatch.records.journal import fields
from loopwatch.records.rollup import Rollup
from loopwatch.records.rows import (
    Header,
    Level,
    Log,
    Message,
    ModelErrorRow,
    ModelIO,
    ProgramCall,
    ProgramRow,
    Row,
    Toolset,
    TurnStarted,
)
from loopwatch.steps.loop import StepLoop
from loopwatch.steps.monitor import StepMonitor
from loopwatch.steps.step import Step

log = logging.getLogger("loopwatch.agent")

Emit = Callable[[dict[str, Any]], None]
"""Takes an event: an object that JSON can carry."""

RECORD_ONLY = (Header, Toolset, Message, ModelIO, ModelErrorRow, ProgramRow, ProgramCall)
"""Rows that are no events: they hold texts, or are for whoever reads the run again."""
EVENT_ONLY = (TurnStarted,)

_speaking: ContextVar[tuple["Session", str] | None] = ContextVar("loopwatch_speaking", default=None)
"""Whose model is being asked in this place."""


@dataclass(eq=False)
class Session:
    """One run. ``members`` and ``clients`` are by the profile's id; ``stopping`` is set once it is cut."""

    config: Config
    task: str
    folder: RunFolder
    work: Path
    journal: Journal
    members: dict[str, Member]
    clients: dict[str, ModelClient]
    secrets: Secrets
    environment: dict[str, str]
    clock: Clock
    emit: Emit
    bill: Bill = field(default_factory=Bill)
    rollup: Rollup = field(default_factory=Rollup)
    stopping: TerminalStatus | None = None
    deaf: Exception | None = None
    """What the listener to events raised; it is told nothing more."""

    def __post_init__(self) -> None:
        """Begin the clock."""
        self.places = asyncio.Semaphore(self.config.limits.max_parallel)
        self._began = self.clock.monotonic()
        self._agents: dict[str, int] = {}
        self._monitors: dict[str, StepMonitor] = {}
        self._told_of_journal = False

    @property
    def seconds(self) -> float:
        """How long it has been running."""
        return self.clock.monotonic() - self._began

    @property
    def moment(self) -> str:
        """Now, as records have it."""
        return iso(self.clock.now())

    def record(self, row: Row, agent_id: str | None = None) -> None:
        """Take a row into the journal, the sums and the events, wherever it belongs."""
        at = self.moment
        self.rollup.add(row, agent_id)
        if not isinstance(row, EVENT_ONLY):
            self.journal.append(row, timestamp=at, agent_id=agent_id)
        if not isinstance(row, RECORD_ONLY):
            self._emit(fields(row, agent_id), at)
        if self.journal.damage and not self._told_of_journal:
            self._told_of_journal = True
            self.log("warn", self._lost())

    def log(self, level: Level, message: str, agent_id: str | None = None) -> None:
        """A line for people."""
        self.record(Log(level=level, message=self.secrets.hide(message)), agent_id)

    def announce(self, document: dict[str, Any]) -> None:
        """An event that is in no journal."""
        self._emit(document, self.moment)

    def new_agent_id(self, label: str) -> str:
        """An id for an agent that begins: the root's label alone, a number behind every other."""
        self._agents[label] = self._agents.get(label, 0) + 1
        return (
            label if len(self._agents) == 1 and self._agents[label] == 1 else f"{label}-{self._agents[label]}"
        )

    def observe(self, step: Step, profile: Profile) -> StepLoop | None:
        """Have the steps watched: the verdict where this one makes a loop, and then all begins anew.

        One monitor, the root's, follows the run; an agent whose profile says how it is to be watched has
        one of its own.
        """
        watcher = self.config.root if profile.steps is None else profile
        monitor = self._monitors.get(watcher.id) or StepMonitor(watcher.step_settings)
        verdict = monitor.observe(step)
        self._monitors[watcher.id] = monitor if verdict is None else StepMonitor(watcher.step_settings)
        return verdict

    @contextmanager
    def speaking(self, agent_id: str) -> Iterator[None]:
        """What the client says in here is said on this agent's stream."""
        token = _speaking.set((self, agent_id))
        try:
            yield
        finally:
            _speaking.reset(token)

    def _emit(self, document: dict[str, Any], at: str) -> None:
        if self.deaf is None:
            try:
                self.emit({**document, "timestamp": at, "sessionId": self.folder.session_id})
            except Exception as error:  # noqa: BLE001  raised again by the run, once the record is whole
                self.deaf = error

    def _lost(self) -> str:
        if self.journal.failure is not None:
            return f"the journal could not be written ({self.journal.failure}): it records nothing more"
        most = self.config.limits.replay_max_bytes
        return f"the journal has reached its {most} bytes (replayMaxBytes): it records nothing more"


class ClientLog(logging.Handler):
    """Puts what the model client warns of on the stream of the agent that asked."""

    def __init__(self, session: Session) -> None:
        """Take the run whose agents these are."""
        super().__init__(logging.WARNING)
        self._session = session

    def emit(self, record: logging.LogRecord) -> None:
        """Take one."""
        speaking = _speaking.get()
        if speaking is not None and speaking[0] is self._session:
            self._session.log("warn", record.getMessage(), speaking[1])

    def __enter__(self) -> Self:
        """Begin to listen."""
        logging.getLogger("loopwatch.client").addHandler(self)
        return self

    def __exit__(self, *error: object) -> None:
        """Listen no more."""
        logging.getLogger("loopwatch.client").removeHandler(self)


def iso(moment: datetime) -> str:
    """A moment in UTC, to the millisecond."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
