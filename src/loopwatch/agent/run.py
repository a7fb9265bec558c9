"""``Run``: one agent's whole piece of work under a configuration, and the durable record of it."""

import asyncio
import os
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from loopwatch.agent.agent import Ending
from loopwatch.agent.crew import Crew
from loopwatch.agent.folder import RunFolder, new_folder
from loopwatch.agent.journal import Journal
from loopwatch.agent.members import Member, members_of
from loopwatch.agent.programs.sandbox import can_confine
from loopwatch.agent.secrecy import plain_environment, secrets_of
from loopwatch.agent.session import ClientLog, Emit, Session
from loopwatch.agent.summing import recorder, summary_of
from loopwatch.agent.tools.tool import Tool, tool
from loopwatch.clock import Clock, SystemClock
from loopwatch.config.defects import Defect
from loopwatch.config.launch import launch_lines
from loopwatch.config.loading import Config, load_config
from loopwatch.errors import ConfigError, InputError
from loopwatch.records.breach import Breach, TerminalStatus, exit_code
from loopwatch.records.money import shown
from loopwatch.records.rows import FORMAT, VERSION, Header, LatePriceRow
from loopwatch.records.spending import Spending
from loopwatch.records.summary import RunSummary

RUNS = Path("runs")
LOOK_SECS = 0.2
"""How often it is looked whether the run was canceled, or its time is up."""


@dataclass(frozen=True, slots=True)
class Result:
    """How a run ended: its status, the exit code of ``loopwatch run``, and the result that the root gave."""

    status: TerminalStatus
    exit_code: int
    result: str | None = field(repr=False)
    folder: RunFolder
    summary: RunSummary = field(repr=False)

    @property
    def session_id(self) -> str:
        """The run's id."""
        return self.folder.session_id


class Run:
    """One run of a configuration's root agent on a task.

    ``config`` is a ``Config``, a document, or the path of one. ``tools`` are functions, or ``Tool``s, that
    every agent has besides those of its profile. The record goes into a new folder in ``runs``; tools work
    in ``work``, by default a folder of the run's own. ``on_event`` is given each event as it comes; what it
    raises cancels the run, and is raised again once the record is whole.

    Raises ConfigError, with every defect, for a configuration that is refused: nothing is spent then.

    >>> result = Run("loopwatch.json", "Write a haiku into haiku.txt").start()
    >>> result.status
    'completed'
    """

    def __init__(
        self,
        config: Config | Mapping[str, Any] | os.PathLike[str] | str,
        task: str,
        *,
        tools: Sequence[Tool | Callable[..., Any]] = (),
        runs: os.PathLike[str] | str = RUNS,
        work: os.PathLike[str] | str | None = None,
        on_event: Emit | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Judge the configuration, and begin nothing."""
        self._config = _config(config)
        self._task = task.encode("utf-8", "replace").decode()
        if not self._task.strip():
            raise InputError("the task is empty: say what is to be done")
        own = [one if isinstance(one, Tool) else tool(one) for one in tools]
        self._members = members_of(self._config, own)
        self._runs = Path(runs)
        self._work = None if work is None else Path(work).resolve()
        if self._work is not None and not self._work.is_dir():
            raise InputError(f"{work}: there is no such folder to work in")
        self._emit: Emit = on_event or _ignore
        self._clock: Clock = clock if clock is not None else SystemClock()
        self._canceled = threading.Event()

    def start(self) -> Result:
        """Run to the end. Not within a running event loop: there, await ``astart``."""
        return asyncio.run(self.astart())

    def cancel(self) -> None:
        """End the run soon, from any thread; so does a file ``cancel`` in its folder."""
        self._canceled.set()

    async def astart(self) -> Result:
        """Run to the end."""
        await self._require_confinement()
        session = self._session()
        started_at = session.moment
        root = self._members[self._config.root.id]
        crew = Crew(session)
        ending: Ending | None = None
        try:
            with ClientLog(session):
                self._launch(session)
                ending = await self._watched(session, crew, root)
                await self._settle(session)
        except asyncio.CancelledError:
            ending = ending or Ending("canceled")  # or it was the look-up of prices that was cut
            raise
        finally:
            for client in session.clients.values():
                await client.aclose()
            result = await self._close(session, crew, root, ending or Ending("internal_error"), started_at)
        if session.deaf is not None:
            raise session.deaf
        return result

    async def _require_confinement(self) -> None:
        """Refuse a configuration whose programs cannot be shut in here. Raises ConfigError."""
        defects: list[Defect] = []
        for member in self._members.values():
            if member.programs is not None:
                reason = await can_confine(member.programs)
                if reason is not None:
                    defects.append(Defect(reason, agent=member.profile.name, locus="capabilities"))
        if defects:
            raise ConfigError(defects)

    def _session(self) -> Session:
        """The run's folder and all that its agents share. Raises InputError where nothing can be written."""
        folder = new_folder(self._runs, self._clock.now())
        work = self._work or folder.work
        names = [member.slot.api_key_env for member in self._members.values() if member.slot is not None]
        secret = [name for name in names if name is not None]
        secrets = secrets_of(secret)
        most = self._config.limits.replay_max_bytes
        try:
            work.mkdir(exist_ok=True)
            journal = Journal(folder.journal, most=most, redact=secrets.hide_bytes)
        except OSError as error:
            raise InputError(f"{folder.path}: the run cannot be recorded: {error.strerror}") from None
        return Session(
            config=self._config,
            task=self._task,
            folder=folder,
            work=work,
            journal=journal,
            members=self._members,
            clients={id_: member.client(self._config, self._clock) for id_, member in self._members.items()},
            secrets=secrets,
            environment=plain_environment(secret),
            clock=self._clock,
            emit=self._emit,
        )

    def _launch(self, session: Session) -> None:
        """Record whose run it is, and say what it will do."""
        session.record(
            Header(
                format=FORMAT,
                version=VERSION,
                session_id=session.folder.session_id,
                recorder=recorder(),
                task=self._task,
                config=self._config.declared,
                models={id_: member.model for id_, member in self._members.items()},
            )
        )
        root = self._members[self._config.root.id].label
        for warning in self._config.warnings:
            session.log("warn", str(warning), root)
        for line in launch_lines(self._config):
            session.log("info", line, root)

    async def _watched(self, session: Session, crew: Crew, root: Member) -> Ending:
        """The root's work, cut where the run is canceled or its time is up."""
        try:
            async with asyncio.TaskGroup() as group:
                work = group.create_task(crew.work(root, self._task))
                watch = group.create_task(self._watch(session, work))
                await asyncio.wait([work])
                watch.cancel()
            if work.cancelled():
                return self._cut(session, root)
            return work.result()
        except asyncio.CancelledError:
            session.stopping = session.stopping or "canceled"
            raise
        except Exception as error:  # noqa: BLE001  the record is to say that it was our own fault
            session.log("error", f"internal defect: {_where(error)}", root.label)
            return Ending("internal_error")

    def _cut(self, session: Session, root: Member) -> Ending:
        if session.stopping != "timed_out":
            return Ending("canceled")
        breach = Breach(
            limit="runtime",
            threshold=self._config.limits.max_runtime_secs or 0,
            observed=round(session.seconds, 3),
            turns=session.rollup.errors.turns,
            agent_id=root.label,
        )
        session.record(breach)
        return Ending("timed_out", breach=breach)

    async def _watch(self, session: Session, work: "asyncio.Task[Ending]") -> None:
        most = self._config.limits.max_runtime_secs
        while not work.done():
            await self._clock.sleep(LOOK_SECS)
            if self._canceled.is_set() or session.folder.cancel.exists() or session.deaf is not None:
                session.stopping = "canceled"
            elif most is not None and session.seconds >= most:
                session.stopping = "timed_out"
            if session.stopping is not None:
                work.cancel()
                return

    async def _settle(self, session: Session) -> None:
        """Look up, once, what abandoned replies cost."""
        bill = session.bill
        if not bill.waste and not bill.unpriced:
            return
        found, row = await bill.settle(self._clock.now())
        for spending in found:
            session.record(spending)
        session.record(row)
        session.log("info", _learnt(found, row), self._members[self._config.root.id].label)

    async def _close(
        self, session: Session, crew: Crew, root: Member, ending: Ending, started_at: str
    ) -> Result:
        """Write what is left to be written, whatever happened before."""
        code = exit_code(ending.status, breached=bool(session.rollup.breaches))
        summary = summary_of(
            session, ending, started_at=started_at, tools=crew.tool_names(root), mode=root.mode, code=code
        )
        await session.journal.close(ending.status, timestamp=session.moment)
        figures = msgspec.to_builtins(summary.summary)
        session.announce({"type": "session_summary", "summary": figures})
        summary = msgspec.structs.replace(summary, journal=session.journal.state)
        try:
            await asyncio.to_thread(session.folder.write_summary, summary)
        except OSError as error:
            session.announce(
                {"type": "log", "level": "error", "message": f"no summary was written: {error.strerror}"}
            )
            code = 1
        session.announce({"type": "session_ended", "status": ending.status})
        return Result(ending.status, code, ending.result, session.folder, summary)


def _config(given: Config | Mapping[str, Any] | os.PathLike[str] | str) -> Config:
    if isinstance(given, Config):
        return given
    if isinstance(given, Mapping):
        return load_config(msgspec.json.encode(given))
    return load_config(Path(given))


def _learnt(found: Sequence[Spending], row: LatePriceRow) -> str:
    """What was learnt of replies that were thrown away, in a line."""
    asked = row.loops + row.others
    replies = "1 abandoned reply" if asked == 1 else f"{asked} abandoned replies"
    if not found:
        return f"the price of {replies} is not known"
    amount = shown(sum(spending.cost.nano or 0 for spending in found))
    rest = f"; that of {asked - len(found)} is not known" if len(found) < asked else ""
    return f"the price of {replies} was looked up: {amount} for {len(found)}{rest}"


def _where(error: Exception) -> str:
    """An error of ours by its type and place; its text may hold anything."""
    found: BaseException = error
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    last = traceback.extract_tb(found.__traceback__)[-1:]
    place = "".join(f" at {Path(one.filename).name}:{one.lineno}" for one in last)
    return f"{type(found).__name__}{place}"


def _ignore(event: dict[str, Any]) -> None:
    del event
