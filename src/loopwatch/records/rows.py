"""The rows of a run's journal, beside those that are events too: what was asked, answered and done.

A discarded reply has no row: of it survive figures alone, on the turn that followed. Every row is an object
of one line with ``type``, ``seq`` (one count for the whole journal), ``timestamp`` and, of one agent,
``agentId``; further fields may come with later versions and are ignored by earlier ones.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from loopwatch.records.breach import Breach, TerminalStatus
from loopwatch.records.outcome import ErrorType, TurnOutcome
from loopwatch.records.spending import Cost, Spending, Tokens

FORMAT = "loopwatch-journal"
VERSION = 1


class _Row(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """What rows have in common: how they are written."""


class Header(_Row, frozen=True, kw_only=True, tag="header"):
    """The first row: whose journal it is, and the whole configuration, as it was declared."""

    format: str
    version: int
    session_id: str
    recorder: str
    task: str
    config: Mapping[str, Any]
    models: Mapping[str, str]
    """The model of each agent, by the agent's id in the configuration."""


class AgentRow(_Row, frozen=True, kw_only=True, tag="agent"):
    """An agent: once when it begins and, with its ``status``, once when it has ended."""

    profile_id: str
    name: str
    model_id: str
    mode: Literal["tool_calling", "responses_as_code"]
    parent: str | None = None
    depth: int = 0
    status: TerminalStatus | None = None


class Toolset(_Row, frozen=True, kw_only=True, tag="toolset"):
    """The tools that an agent's model is told of, once."""

    tools: Sequence[Mapping[str, Any]]


class Message(_Row, frozen=True, kw_only=True, tag="message"):
    """One message of an agent's context; ``index`` counts them from 0. A context only ever grows."""

    index: int
    message: Mapping[str, Any]


class ModelIO(_Row, frozen=True, kw_only=True, tag="model_io"):
    """The reply that a turn was given, to a request of the first ``messages`` of the context."""

    turn: int
    messages: int
    attempts: int = 1
    text: str = ""
    reasoning: str = ""
    tool_calls: Sequence[Mapping[str, str]] = ()
    finish_reason: str | None = None
    model: str | None = None
    provider: str | None = None
    generation_id: str | None = None
    seconds: float = 0.0


ModelErrorKind = Literal[
    "missing_credential",
    "fatal_status",
    "retry_exhausted",
    "image_unsupported",
    "unparseable",
    "timeout",
    "length_capped",
    "response_loop",
]


class ModelErrorRow(_Row, frozen=True, kw_only=True, tag="model_error"):
    """A turn's model gave no reply; ``discarded`` counts the replies that looped and were thrown away."""

    turn: int
    messages: int
    attempts: int
    kind: ModelErrorKind
    error_type: ErrorType
    discarded: int = 0
    message: str = ""


class ProgramRow(_Row, frozen=True, kw_only=True, tag="program"):
    """A program that a reply was, and how it ended; what it printed is in the context."""

    turn: int
    error_type: ErrorType | None = None
    calls: int = 0
    cpu_secs: float = 0.0
    seconds: float = 0.0


class ProgramCall(_Row, frozen=True, kw_only=True, tag="program_call"):
    """A tool that a program called: arguments and result, which are in no message."""

    turn: int
    tool: str
    arguments: Mapping[str, Any]
    result: str = ""


FailureKind = Literal["unknown_tool", "bad_arguments", "failed", "refused", "timeout"]


class ToolResult(_Row, frozen=True, kw_only=True, tag="tool_result"):
    """A tool was called; ``failure`` says in which way it failed. Texts are elsewhere."""

    turn: int
    tool: str
    call_id: str | None = None
    failure: FailureKind | None = None
    chars: int = 0
    seconds: float = 0.0
    clipped_from: int | None = None
    """Size of the whole result, in bytes, where only a part of it was kept."""


class ResponseRejected(_Row, frozen=True, kw_only=True, tag="response_rejected"):
    """A whole reply that was not taken: it was cut for its length, or cannot be read."""

    turn: int
    error_type: ErrorType
    profile_id: str
    model_id: str
    provider: str | None = None
    tokens: Tokens = Tokens()
    cost: Cost = Cost()


class StepLoopRow(_Row, frozen=True, kw_only=True, tag="step_loop"):
    """An agent was seen repeating its steps; ``loops`` counts this agent's."""

    rule: str
    onset: int
    steps: int
    period: int | None = None
    repeats: int
    loops: int


class LatePriceRow(_Row, frozen=True, kw_only=True, tag="late_price"):
    """What became of the look-ups of abandoned replies, once, at the end."""

    loops: int
    unpriced: int
    others: int = 0
    others_unpriced: int = 0
    estimated_cost: float | None = None
    """What the unpriced loops are estimated at, in US dollars; in no sum."""


Level = Literal["info", "warn", "error"]


class Log(_Row, frozen=True, kw_only=True, tag="log"):
    """A line for people."""

    level: Level
    message: str


class TurnStarted(_Row, frozen=True, kw_only=True, tag="turn_started"):
    """A turn begins; ``turn`` counts the agent's from 1."""

    turn: int


class CeilingRow(_Row, frozen=True, kw_only=True, tag="byte_ceiling"):
    """The journal has reached its size: it records nothing more, but for its end."""

    most: int


class End(_Row, frozen=True, kw_only=True, tag="end"):
    """The last row: how the run ended, and how many rows there are, this one included."""

    status: TerminalStatus
    entries: int


Row = (
    Header
    | AgentRow
    | Toolset
    | Message
    | ModelIO
    | ModelErrorRow
    | ProgramRow
    | ProgramCall
    | ToolResult
    | ResponseRejected
    | StepLoopRow
    | LatePriceRow
    | Log
    | TurnStarted
    | TurnOutcome
    | Spending
    | Breach
    | CeilingRow
    | End
)
"""Everything that a journal or a stream of events may hold."""


class Envelope(_Row, frozen=True, kw_only=True):
    """What every row has."""

    type: str
    seq: int = 0
    timestamp: str = ""
    agent_id: str | None = None
