"""A run in one document: what was declared, how it ended, and every figure of it.

``summary.json`` of a run folder is a ``RunSummary``. Field names are those of the first seed's system, in
camelCase; queries name them by their path: ``summary.errors.loopAbortChars``. They are read for years: a
field may be added, none changes its meaning, and a reader ignores those that it does not know.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from loopwatch.errors import InputError
from loopwatch.records.breach import Breach, TerminalStatus
from loopwatch.records.spending import Cost, Tokens

FILE = "summary.json"
"""Its name in the folder of a run."""
FORMAT = "loopwatch-summary"
VERSION = 1
ExecutionMode = Literal["tool_calling", "responses_as_code"]


class _Part(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """What the parts have in common: how they are written. A field with a default is left out at it."""


class ToolFailures(_Part, frozen=True, kw_only=True):
    """Calls of tools that failed, and in which way; none of them is an error turn."""

    calls: int
    by_class: Mapping[str, int] = {}


class Errors(_Part, frozen=True, kw_only=True):
    """Error turns and what was thrown away, over every agent.

    ``turns`` counts every outcome. ``errors`` is the sum of the five kinds, and of ``by_type``;
    ``max_consecutive`` the longest streak of any one agent. The three loop figures are sums over turns and
    no errors: all 0 where no detector was armed.
    """

    turns: int
    errors: int
    max_consecutive: int
    model_api: int
    transpile: int
    program_fault: int
    sandbox_limit: int
    missing_completion: int
    loop_aborts: int
    loop_abort_words: int
    loop_abort_chars: int
    by_type: Mapping[str, int] = {}
    tool_failures: ToolFailures | None = None


class SlotCost(_Part, frozen=True, kw_only=True):
    """What one agent's profile spent on one model; ``work_cost`` in US dollars, None: not known."""

    profile_id: str
    model_id: str
    tokens: Tokens = Tokens()
    cost: Cost = Cost()
    work_cost: float | None = None


class ProviderStats(_Part, frozen=True, kw_only=True):
    """Calls and turns by who served them; over all slices, turns - working - errors = fatal ones."""

    provider: str | None = None
    model: str | None = None
    calls: int
    tokens: Tokens
    cost: Cost
    rejected: int = 0
    turns: int
    working: int
    errors: Mapping[str, int] = {}


class Rejected(_Part, frozen=True, kw_only=True):
    """Whole replies that were paid for and not taken."""

    count: int
    tokens: Tokens = Tokens()
    cost: Cost = Cost()


class StepLoops(_Part, frozen=True, kw_only=True):
    """How often agents were seen repeating their steps, and by which rule."""

    count: int
    by_rule: Mapping[str, int] = {}


class Summary(_Part, frozen=True, kw_only=True):
    """The figures of a run. ``cost`` and ``work_cost`` in US dollars, null where nothing was reported.

    ``cost`` has all that was paid for, late prices of discarded replies included; ``work_cost`` only what
    the replies did that turns were given. ``loop_abort_unpriced`` counts discarded replies whose price
    nobody told; they are estimated in ``loop_abort_estimated_cost``, which is in no sum.
    ``agents_spawned`` counts sub-agents, ``subagent_count`` the different profiles among them;
    ``limit_hit`` is the ceiling that stopped the root, ``breaches`` counts those of every agent.
    """

    terminal_status: TerminalStatus
    execution_mode: ExecutionMode
    program_language: str | None = None
    duration_secs: float
    errors: Errors
    agents_spawned: int
    subagent_count: int
    max_subagent_depth: int
    cost: float | None
    work_cost: float | None
    slot_costs: Sequence[SlotCost]
    loop_abort_unpriced: int
    loop_abort_estimated_cost: float | None = None
    abandoned_unpriced: int = 0
    rejected_responses: Rejected | None = None
    provider_stats: Sequence[ProviderStats] = ()
    step_loops: StepLoops | None = None
    tool_calls: int = 0
    calls_by_tool: Mapping[str, int] = {}
    max_response_chars: int = 0
    max_response_output_tokens: int = 0
    effective_tools: Sequence[str]
    limits: Mapping[str, Any]
    limit_hit: Breach | None
    breaches: int = 0


class JournalState(_Part, frozen=True, kw_only=True):
    """What became of the journal: its size in bytes, its rows, and what it lacks."""

    bytes: int
    entries: int
    damage: Sequence[str] = ()


class RunSummary(_Part, frozen=True, kw_only=True):
    """A run: ``summary.json``. Moments are ISO 8601 in UTC; ``config`` is the document as it was declared.

    ``models`` has the model of each agent by the agent's id, ``status`` and ``exit_code`` how it ended.
    """

    format: str
    version: int
    session_id: str
    recorder: str
    preset: str | None = None
    started_at: str
    finished_at: str
    status: TerminalStatus
    exit_code: int
    models: Mapping[str, str]
    config: Mapping[str, Any]
    summary: Summary
    journal: JournalState


def encode(summary: RunSummary) -> bytes:
    """The document, indented, as it is on disk."""
    return msgspec.json.format(msgspec.json.encode(summary), indent=2) + b"\n"


def decode(data: bytes) -> RunSummary:
    """A document read back. Raises InputError for what is none, or is of a later version than this."""
    try:
        kind = msgspec.json.decode(data, type=_Kind)
        if kind.format != FORMAT:
            raise InputError("it is no summary of a run")
        if kind.version > VERSION:
            later = f"version {kind.version}, and this loopwatch reads {VERSION}"
            raise InputError(f"it is of {later}: upgrade it")
        return msgspec.json.decode(data, type=RunSummary)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"it is no summary of a run: {error}") from None


class _Kind(_Part, frozen=True, kw_only=True):
    format: str = ""
    version: int = 0
