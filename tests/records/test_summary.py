"""The summary of a run, written and read back."""

import json

import pytest

from loopwatch.errors import InputError
from loopwatch.records.rollup import Rollup
from loopwatch.records.summary import FORMAT, VERSION, JournalState, RunSummary, Summary, decode, encode

SUMMARY = RunSummary(
    format=FORMAT,
    version=VERSION,
    session_id="s1",
    recorder="loopwatch",
    started_at="2026-01-01T00:00:00.000Z",
    finished_at="2026-01-01T00:00:01.000Z",
    status="completed",
    exit_code=0,
    models={"a": "m"},
    config={"agents": []},
    journal=JournalState(bytes=1, entries=1),
    summary=Summary(
        terminal_status="completed",
        execution_mode="tool_calling",
        duration_secs=1.0,
        errors=Rollup().errors.sums(),
        agents_spawned=0,
        subagent_count=0,
        max_subagent_depth=0,
        cost=None,
        work_cost=None,
        slot_costs=[],
        loop_abort_unpriced=0,
        effective_tools=["finish"],
        limits={"maxParallel": 1},
        limit_hit=None,
    ),
)


def test_it_is_read_back_as_it_was() -> None:
    assert decode(encode(SUMMARY)) == SUMMARY


def test_what_must_be_there_is_there_even_where_it_is_nothing() -> None:
    figures = json.loads(encode(SUMMARY))["summary"]
    assert figures["errors"] == dict.fromkeys(
        (
            *("turns", "errors", "maxConsecutive", "modelApi", "transpile", "programFault"),
            *("sandboxLimit", "missingCompletion", "loopAborts", "loopAbortWords", "loopAbortChars"),
        ),
        0,
    )
    assert {key: figures[key] for key in ("cost", "workCost", "limitHit")} == dict.fromkeys(
        ("cost", "workCost", "limitHit")
    )
    assert not {"byType", "toolCalls", "providerStats", "stepLoops"} & figures.keys()


def test_what_later_versions_add_is_passed_over() -> None:
    document = json.loads(encode(SUMMARY))
    document["mood"] = document["summary"]["errors"]["worse"] = {"a": [1]}
    assert decode(json.dumps(document).encode()) == SUMMARY


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"version": 2}, "it is of version 2, and this loopwatch reads 1: upgrade it"),
        ({"format": "other"}, "it is no summary of a run"),
        ({"summary": 1}, "it is no summary of a run: "),
    ],
)
def test_what_cannot_be_read_is_refused(change: dict[str, object], said: str) -> None:
    document = json.loads(encode(SUMMARY)) | change
    with pytest.raises(InputError, match=said):
        decode(json.dumps(document).encode())
    with pytest.raises(InputError, match="no summary"):
        decode(b"\xff")
