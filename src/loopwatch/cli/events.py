"""Events of a run as they are told: JSON lines for programs, plain lines for people."""

from collections.abc import Callable
from typing import Any, BinaryIO

import msgspec


class Writer:
    """Writes each event as one line of JSON, at once."""

    def __init__(self, out: BinaryIO) -> None:
        """Take where it goes."""
        self._out = out

    def __call__(self, event: dict[str, Any]) -> None:
        """Write one."""
        self._out.write(msgspec.json.encode(event) + b"\n")
        self._out.flush()


class Narrator:
    """Tells events in lines for people; ``brief``: only how turns ended, and what went wrong."""

    def __init__(self, tell: Callable[[str], object], *, brief: bool = False) -> None:
        """Take who says the lines."""
        self._tell = tell
        self._brief = brief
        self._spent = 0.0

    def __call__(self, event: dict[str, Any]) -> None:
        """Tell one, where there is anything to tell."""
        if event["type"] == "usage":
            cost = event["cost"]
            self._spent += cost.get("comparable", cost.get("actual", 0.0))
        line = _LINES.get(event["type"], _nothing)(event)
        if line is None or (self._brief and not _matters(event)):
            return
        if event["type"] == "turn_outcome" and self._spent:
            line += f" · {self._spent:.4f} USD so far"
        who = f"{event['agentId']}: " if event.get("agentId") else ""
        self._tell(f"{who}{line}")


def cut(number: int) -> str:
    """So many discarded replies, for people."""
    return f"{number:,} {'reply' if number == 1 else 'replies'} cut as {'a loop' if number == 1 else 'loops'}"


def _matters(event: dict[str, Any]) -> bool:
    """Whether it is told even briefly."""
    return event["type"] in ("turn_outcome", "limit_exceeded") or event.get("level") in ("warn", "error")


def _nothing(event: dict[str, Any]) -> str | None:
    del event
    return None


def _turn(event: dict[str, Any]) -> str:
    said = event.get("errorType", event["outcome"])
    loops = f" · {cut(event['loopAborts'])}" if "loopAborts" in event else ""
    return f"turn {event['turns']} {said}{loops}"


def _tool(event: dict[str, Any]) -> str:
    failed = f" ({event['failure']})" if "failure" in event else ""
    return f"  {event['tool']}{failed} · {event.get('seconds', 0):.1f} s"


def _limit(event: dict[str, Any]) -> str:
    return f"stopped at a ceiling: {event['limit']} at {event['observed']:g} of {event['threshold']:g}"


def _agent(event: dict[str, Any]) -> str:
    return f"ended: {event['status']}" if "status" in event else f"begins, asking {event['modelId']}"


_LINES: dict[str, Callable[[dict[str, Any]], str | None]] = {
    "agent": _agent,
    "limit_exceeded": _limit,
    "log": lambda event: f"{event['level']}: {event['message']}",
    "tool_result": _tool,
    "turn_outcome": _turn,
}
