"""One step of an agent's run, as whoever runs the agent tells it."""

from collections.abc import Mapping
from typing import Any

import msgspec


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """What one step did and what came of it.

    ``role`` is the agent's name, or ``user`` or ``system`` for what they say. ``tool`` is the tool that
    was called, None where something was only said. ``result`` is what came back, or, without a tool,
    what was said. ``error`` is set where the call failed and the caller knows it; else the failure is
    told from the result. ``text`` is what the model said beside its call. ``tokens`` counts input and
    output of the model call, ``t`` is in seconds on any clock that does not go back.
    """

    role: str
    tool: str | None = None
    args: Mapping[str, Any] = {}
    result: str = ""
    error: str | None = None
    text: str | None = None
    tokens: int = 0
    t: float = 0.0

    def __repr__(self) -> str:
        """Who did what and when; arguments, results and texts stay out of it."""
        return f"Step({self.role!r}, {self.tool!r}, t={self.t:g})"
