"""A journal of a short run."""

from typing import Any

from loopwatch.records.journal import encode
from loopwatch.records.outcome import TurnOutcome
from loopwatch.records.rows import (
    FORMAT,
    VERSION,
    AgentRow,
    End,
    Header,
    Log,
    Message,
    ModelErrorRow,
    ModelIO,
    Row,
)
from loopwatch.records.spending import Cost, Spending, Tokens

AGENT = "implementer"


def header(**changes: Any) -> Header:
    fields: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "session_id": "s1",
        "recorder": "loopwatch",
        "task": "Do it – whatever it is. 🙂",
        "config": {"agents": []},
        "models": {},
    }
    return Header(**fields | changes)


def agent(**changes: Any) -> AgentRow:
    fields: dict[str, Any] = {"profile_id": AGENT, "name": "I", "model_id": "m", "mode": "tool_calling"}
    return AgentRow(**fields | changes)


ROWS: tuple[tuple[Row, str | None], ...] = (
    (header(), None),
    (Log(level="info", message="loop detection: armed"), AGENT),
    (agent(), AGENT),
    (Message(index=0, message={"role": "system", "content": "Be good."}), AGENT),
    (Message(index=1, message={"role": "user", "content": "Ünïcödé"}), AGENT),
    (
        Spending(
            profile_id=AGENT, model_id="m", figure="work", tokens=Tokens(output=5), cost=Cost(comparable=0.25)
        ),
        AGENT,
    ),
    (ModelIO(turn=1, messages=2, text="Hello"), AGENT),
    (Message(index=2, message={"role": "assistant", "content": "Hello"}), AGENT),
    (
        TurnOutcome(outcome="progressed", consecutive_errors=0, turns=1, loop_aborts=2, loop_abort_chars=9),
        AGENT,
    ),
    (
        ModelErrorRow(
            turn=2,
            messages=3,
            attempts=4,
            kind="response_loop",
            error_type="model_response_loop",
            discarded=4,
        ),
        AGENT,
    ),
    (
        TurnOutcome(
            outcome="error",
            error="model_api",
            error_type="model_response_loop",
            consecutive_errors=1,
            turns=2,
            loop_aborts=4,
        ),
        AGENT,
    ),
    (agent(status="completed"), AGENT),
)


def lines(*rows: tuple[Row, str | None]) -> list[bytes]:
    """The lines of rows."""
    return [
        encode(row, seq=number, timestamp="2026-01-01T00:00:00.000Z", agent_id=agent_id)
        for number, (row, agent_id) in enumerate(rows)
    ]


WHOLE = lines(*ROWS, (End(status="completed", entries=len(ROWS) + 1), None))
