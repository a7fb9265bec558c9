"""A ceiling that stopped an agent."""

from typing import Literal

import msgspec

CeilingName = Literal["turns", "runtime", "consecutive_errors", "error_rate", "cost", "step_loops"]

TerminalStatus = Literal[
    "completed",
    "exhausted",
    "timed_out",
    "limit_exceeded",
    "canceled",
    "model_error",
    "auth_error",
    "internal_error",
]
"""How an agent, or a run, ended: by its own call of ``finish``, at a ceiling, or otherwise."""

_STATUSES: dict[CeilingName, TerminalStatus] = {"turns": "exhausted", "runtime": "timed_out"}


class Breach(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, tag="limit_exceeded"
):
    """Which ceiling, where it stands (``threshold``), and where the agent stood (``observed``).

    ``turns`` are the agent's so far; ``window`` is the error rate's.
    """

    limit: CeilingName
    threshold: float
    observed: float
    turns: int
    agent_id: str
    window: int | None = None

    @property
    def status(self) -> TerminalStatus:
        """How the agent ends."""
        return _STATUSES.get(self.limit, "limit_exceeded")


def exit_code(root: TerminalStatus, *, breached: bool) -> int:
    """The exit code of a run: 1 where it failed, 3 where a ceiling stopped any of its agents, else 0.

    A run that was canceled and breached nothing is done: 0.
    """
    if root in ("model_error", "auth_error", "internal_error"):
        return 1
    return 3 if breached else 0
