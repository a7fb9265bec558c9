"""What a turn may come to: every error of a model, and how each is recorded."""

from pathlib import Path
from typing import Any

import pytest

from loopwatch.testing.answers import Answer, answer, hanging, status
from loopwatch.testing.steps import CallTool, Done, Finish, Raw, Role, Say, Usage
from tests.agent.clocks import HastyClock
from tests.agent.runs import calls, capabilities, finish, profile, run

FILES = profile(capabilities=capabilities("files"))
BAD_CALL = Answer(
    [Role(), CallTool(0, "c", "finish", '{"result":'), Finish("tool_calls"), Usage(10, 5, cost=0.5), Done()]
)


async def test_g7_an_unreadable_reply_is_billed_and_is_no_work(tmp_path: Path) -> None:
    done = await run(tmp_path, BAD_CALL, finish(usage=Usage(10, 5, cost=0.01)), clock=HastyClock())
    assert (done.summary["cost"], done.summary["workCost"]) == (0.51, 0.01)
    assert done.errors["byType"] == {"model_parse": 1}
    assert [usage["figure"] for usage in done.of("usage")] == ["total", "work"]
    assert done.summary["rejectedResponses"]["count"] == 1
    assert done.summary["rejectedResponses"]["cost"]["actual"] == 0.5
    assert done.outcomes() == ["model_parse", "finished"]
    assert len({request.raw for request in done.provider.requests}) == 1


async def test_a_reply_that_was_cut_for_its_length_is_rejected_whole(tmp_path: Path) -> None:
    capped = answer("Far too l", finish="length", usage=Usage(10, 100, cost=0.2))
    done = await run(tmp_path, capped, finish(usage=Usage(10, 5, cost=0.01)))
    assert done.outcomes() == ["model_length_capped", "finished"]
    (rejected,) = done.of("response_rejected")
    assert rejected["errorType"] == "model_length_capped"
    assert (done.summary["cost"], done.summary["workCost"]) == (0.21, 0.01)
    assert "Far too l" not in done.raw
    assert len({request.raw for request in done.provider.requests}) == 1


async def test_a_call_that_takes_too_long_is_an_error_turn_and_asked_again(tmp_path: Path) -> None:
    done = await run(tmp_path, hanging("Let me"), finish(), limits={"modelCallTimeoutSecs": 1})
    assert done.outcomes() == ["model_timeout", "finished"]
    assert done.journal.rollup.errors.by_type == {"model_timeout": 1}


@pytest.mark.parametrize(
    ("given", "ended", "kind"),
    [
        (status(401), "auth_error", "missing_credential"),
        (status(403), "auth_error", "missing_credential"),
        (status(400), "model_error", "fatal_status"),
        (status(503), "model_error", "retry_exhausted"),
    ],
)
async def test_what_a_provider_refuses_ends_the_run(
    tmp_path: Path, given: Answer, ended: str, kind: str
) -> None:
    done = await run(tmp_path, given, limits={"maxModelRetries": 1}, clock=HastyClock())
    assert (done.result.status, done.result.exit_code) == (ended, 1)
    (outcome,) = done.of("turn_outcome")
    assert outcome == {"type": "turn_outcome", "outcome": "fatal", "consecutiveErrors": 0, "turns": 1}
    assert f'"kind":"{kind}"' in done.raw
    assert done.errors["errors"] == 0


async def test_calls_side_by_side_answer_in_their_order(tmp_path: Path) -> None:
    wanted: list[tuple[str, dict[str, Any]]] = [
        ("write_file", {"path": "a.txt", "text": "A"}),
        ("read_file", {"path": "a.txt"}),
        ("read_file", {"path": "b.txt"}),
        ("list_files", {}),
        ("delete_file", {"path": "a.txt"}),
        ("read_file", {"file": "a.txt"}),
        ("read_file", "[1]"),  # type: ignore[list-item]
    ]
    done = await run(tmp_path, calls(*wanted), finish(), agents=(FILES,))
    results = [message for message in done.messages() if message["role"] == "tool"]
    assert [result["tool_call_id"] for result in results] == [f"call_{number}" for number in range(7)]
    assert [result["content"].splitlines()[0][:60] for result in results] == [
        "Wrote 1 bytes to a.txt.",
        "A",
        "Error: No such file or directory",
        "a.txt",
        "Error: there is no tool of this name; there are read_file, w",
        "Error: the arguments are wrong: path: Field required; file: ",
        "Error: the arguments must be an object",
    ]
    assert done.errors["toolFailures"] == {
        "calls": 4,
        "byClass": {"bad_arguments": 2, "failed": 1, "unknown_tool": 1},
    }
    assert (done.summary["toolCalls"], done.errors["errors"]) == (8, 0)


async def test_calls_without_ids_or_with_the_same_one_are_told_apart(tmp_path: Path) -> None:
    first, second = CallTool(0, None, "list_files", "{}"), CallTool(1, "x", "list_files", "{}")
    third = CallTool(2, "x", "list_files", "")
    script = Answer([Role(), first, second, third, Finish("tool_calls"), Done()])
    done = await run(tmp_path, script, finish(), agents=(FILES,))
    *_, said, _, _, _ = done.messages()
    ids = [call["id"] for call in said["tool_calls"]]
    assert len({*ids}) == 3
    assert [message["tool_call_id"] for message in done.messages()[-3:]] == ids


async def test_an_own_tool_is_called_and_its_errors_are_told(tmp_path: Path) -> None:
    def add(one: int, two: int = 2) -> int:
        """Add two numbers."""
        return one + two

    async def fail(reason: str) -> str:
        raise RuntimeError(reason + "\nand more")

    wanted = calls(("add", {"one": 40}), ("fail", {"reason": "no"}), ("add", {"one": "many"}))
    done = await run(tmp_path, wanted, finish(), tools=[add, fail])
    results = [message["content"] for message in done.messages() if message["role"] == "tool"]
    assert results[0] == "42"
    assert results[1] == "Error: RuntimeError: no and more"
    assert results[2].startswith("Error: the arguments are wrong: one: ")
    assert done.summary["effectiveTools"] == ["add", "fail", "finish"]
    (described,) = [
        one for one in done.provider.requests[0].body["tools"] if one["function"]["name"] == "add"
    ]
    assert described["function"]["description"] == "Add two numbers."
    assert described["function"]["parameters"]["required"] == ["one"]


async def test_usage_is_split_where_a_provider_reports_more_reasoning_than_there_is_room(
    tmp_path: Path,
) -> None:
    text = "x " * 100
    odd = answer(text, usage=Usage(100, 300, reasoning_tokens=290))
    done = await run(tmp_path, odd, finish())
    tokens, reconciled = done.of("usage")[0]["tokens"], done.of("usage")[0]["reconciled"]
    assert reconciled is True
    assert tokens["output"] + tokens["reasoning"] == 300
    assert tokens["output"] > 10


async def test_slices_by_provider_add_up(tmp_path: Path) -> None:
    script = (
        calls(("list_files", {}), usage=Usage(1, 1), provider="Acme"),
        answer("Prose.", usage=Usage(1, 1), provider="Zeta"),
        Answer([Role(), Say("x"), Finish("length"), Usage(1, 1), Done()], provider="Acme"),
        finish(usage=Usage(1, 1), provider="Acme"),
    )
    done = await run(tmp_path, *script, agents=(FILES,))
    stats = done.summary["providerStats"]
    assert [(one["provider"], one["calls"], one["turns"], one["working"]) for one in stats] == [
        ("Acme", 3, 3, 2),
        ("Zeta", 1, 1, 0),
    ]
    assert [one.get("rejected", 0) for one in stats] == [1, 0]
    assert sum(one["turns"] for one in stats) == done.errors["turns"] == 4


async def test_raw_garbage_is_no_reply(tmp_path: Path) -> None:
    garbage = Answer([Raw(b"data: {bad\n\n")])
    done = await run(tmp_path, garbage, finish(), clock=HastyClock())
    assert done.outcomes() == ["model_parse", "finished"]
