from typing import Any

import msgspec
import pytest

from loopwatch.query.flatten import LONGEST, finished_run, flat, unfinished_run
from loopwatch.records import journal, summary
from loopwatch.records.rows import FORMAT as JOURNAL_FORMAT

AGENTS: list[dict[str, Any]] = [
    {
        "id": "implementer",
        "name": "Implementer",
        "modelSlot": "primary",
        "instructions": "x" * (LONGEST + 1),
        "loopDetection": {"enabled": True, "windowWords": 256},
        "capabilities": [{"id": "shell", "params": {"timeoutSecs": 30}}, {"id": "files", "enabled": False}],
    },
    {"id": "critic", "name": "Critic", "capabilities": ["spawn"]},
]
RUN = {
    "format": "loopwatch-summary",
    "version": 1,
    "sessionId": "20261130-120000-00000000",
    "recorder": "loopwatch 0.1.0",
    "preset": "one",
    "startedAt": "2026-11-30T12:00:00.000Z",
    "finishedAt": "2026-11-30T12:00:09.500Z",
    "status": "completed",
    "exitCode": 0,
    "models": {"implementer": "acme/alpha", "critic": "acme/beta"},
    "config": {"preset": "one", "agents": AGENTS},
    "summary": {
        "terminalStatus": "completed",
        "executionMode": "tool_calling",
        "durationSecs": 9.5,
        "errors": {
            "turns": 4, "errors": 1, "maxConsecutive": 1, "modelApi": 1, "transpile": 0, "programFault": 0,
            "sandboxLimit": 0, "missingCompletion": 0, "loopAborts": 3, "loopAbortWords": 12_000,
            "loopAbortChars": 49_044, "byType": {"model_response_loop": 1},
        },
        "agentsSpawned": 1,
        "subagentCount": 1,
        "maxSubagentDepth": 1,
        "cost": 0.75,
        "workCost": None,
        "slotCosts": [
            {
                "profileId": "implementer", "modelId": "acme/alpha", "tokens": {"uncachedInput": 100, "output": 20},
                "cost": {"comparable": 0.5},
            },
            {"profileId": "critic", "modelId": "acme/alpha", "tokens": {"output": 3}, "cost": {"actual": 0.25}},
            {"profileId": "critic", "modelId": "acme/beta", "tokens": {}, "cost": {}},
        ],
        "loopAbortUnpriced": 2,
        "effectiveTools": ["shell", "finish"],
        "limits": {"maxTurns": 9, "maxParallel": 4},
        "limitHit": None,
    },
    "journal": {"bytes": 1_000, "entries": 9},
}  # fmt: skip


@pytest.fixture(name="run")
def a_run() -> dict[str, Any]:
    return dict(finished_run(summary.decode(msgspec.json.encode(RUN))))


def test_the_whole_summary_is_there_under_its_own_names(run: dict[str, Any]) -> None:
    assert run["summary.errors.loopAbortChars"] == 49_044.0
    assert run["summary.errors.byType.model_response_loop"] == 1.0
    assert run["summary.slotCosts.count"] == 3.0
    assert run["summary.loopAbortUnpriced"] == 2.0
    assert run["limits.maxTurns"] == run["summary.limits.maxTurns"] == 9.0


def test_who_it_was_and_how_it_ended(run: dict[str, Any]) -> None:
    held = {
        name: run[name]
        for name in ("model", "armed", "preset", "state", "limit", "mode", "has.summary", "agents")
    }
    assert held == {
        "model": "acme/alpha", "armed": True, "preset": "one", "state": "completed", "limit": "none",
        "mode": "tool_calling", "has.summary": True, "agents": 2.0,
    }  # fmt: skip
    assert run["finished"] - run["started"] == 9_500.0


def test_profiles_and_what_they_may_do(run: dict[str, Any]) -> None:
    assert run["root.loopDetection.enabled"] is True
    assert run["agent.critic.name"] == "Critic"
    assert (run["agent.implementer.model"], run["agent.critic.model"]) == ("acme/alpha", "acme/beta")
    assert [run[f"cap.{name}"] for name in ("shell", "files", "spawn", "responses-as-code")] == [
        True,
        False,
        False,
        False,
    ]
    assert run["cap.shell.timeoutSecs"] == 30.0
    assert run["agent.critic.cap.spawn"] is True
    assert run["tool.finish"] is True


def test_prose_is_no_value(run: dict[str, Any]) -> None:
    assert "root.instructions" not in run
    assert not any(isinstance(value, str) and len(value) > LONGEST for value in run.values())


def test_spending_is_summed_by_model_and_what_is_unknown_is_absent(run: dict[str, Any]) -> None:
    assert (run["model.acme/alpha.tokens"], run["model.acme/alpha.cost"]) == (123.0, 0.75)
    assert "model.acme/beta.cost" not in run
    assert run["cost"] == 0.75
    assert "summary.workCost" not in run


def test_a_run_without_a_summary_is_unfinished() -> None:
    header = {
        "type": "header", "seq": 0, "timestamp": "2026-11-30T12:00:00.000Z", "format": JOURNAL_FORMAT, "version": 1,
        "sessionId": "s", "recorder": "loopwatch 0.1.0", "task": "secret", "config": RUN["config"], "models": RUN["models"],
    }  # fmt: skip
    document = unfinished_run(journal.fold([msgspec.json.encode(header) + b"\n"]))
    assert (document["state"], document["has.summary"], document["model"]) == (
        "unfinished",
        False,
        "acme/alpha",
    )
    assert "finished" not in document
    assert "cost" not in document
    assert "secret" not in document.values()


def test_whatever_is_nested_becomes_flat() -> None:
    value = {"a": {"b c": [1, {"d": 2}], "e": None}, "f": float("nan"), "g": "", "h": False}
    assert dict(flat(value, "x")) == {"x.a.b c.count": 2.0, "x.g": "", "x.h": False}
