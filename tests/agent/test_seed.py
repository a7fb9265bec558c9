"""Every figure that the first seed prints for a run comes out of one, over a real socket."""

from pathlib import Path

from loopwatch.records.journal import fold
from loopwatch.testing.answers import Answer, answer, looping
from loopwatch.testing.steps import Loop, Role, Say
from tests.agent.clocks import HastyClock
from tests.agent.runs import SEED_BLOCK, calls, capabilities, finish, profile, run

LOOP_LINE = "void 0;\n"
ARMED = profile(loopDetection=SEED_BLOCK)
CODING = profile(loopDetection=SEED_BLOCK, capabilities=capabilities("responses-as-code"))


def program(code: str) -> Answer:
    return answer(f"```python\n{code}\n```")


def looped(blank: int = 0) -> Answer:
    """The seed's loop, after so many blanks: characters, and no word."""
    return Answer([Role(), Say([" " * blank] if blank else []), Loop(LOOP_LINE)])


async def test_reading_it_the_turn_and_the_run(tmp_path: Path) -> None:
    good, answers = program("print(1)"), []
    failing = {
        40: program("print("),
        41: program("x ="),
        60: program("1/0"),
        80: answer("…", finish="length"),
    }
    for turn in range(1, 97):
        if turn == 14:
            answers += [looped(38_900 - 2 * 12_261), looped()]
        if turn in (20, 21, 22, 23):
            answers.append(looped())
        if turn == 24:
            answers.append(looped(136_150 - 38_900 - 5 * 12_261))
        last = program("finish('done')") if turn == 96 else good
        answers.append(failing.get(turn, last))
    done = await run(tmp_path, *answers, agents=(CODING,), clock=HastyClock())
    assert done.result.status == "completed"
    turn_14 = done.of("turn_outcome")[13]
    responses = {turn_14.pop(key) for key in ("responseChars",)}
    assert responses
    assert turn_14 == {
        "type": "turn_outcome",
        "outcome": "progressed",
        "consecutiveErrors": 0,
        "turns": 14,
        "loopAborts": 2,
        "loopAbortWords": 6130,
        "loopAbortChars": 38900,
    }
    assert (
        "loop detection discarded 2 looping model responses on turn 14 before one completed, throwing away"
        " 6130 words of generated output (38900 characters); it was all paid for and none of it entered the"
        " context."
    ) in done.logged("warn")
    by_type = done.errors.pop("byType")
    assert by_type == {"model_length_capped": 1, "program_throw": 1, "transpile_syntax": 2}
    assert {key: value for key, value in done.errors.items() if key != "byType"} == {
        "turns": 96,
        "errors": 4,
        "maxConsecutive": 2,
        "modelApi": 1,
        "transpile": 2,
        "programFault": 1,
        "sandboxLimit": 0,
        "missingCompletion": 0,
        "loopAborts": 7,
        "loopAbortWords": 21455,
        "loopAbortChars": 136150,
    }
    assert done.logged("info")[0] == (
        "loop detection: armed — a reply is abandoned after 3000 consecutive words during which 2 or more"
        " words have each occurred more than 32 times in the last 256, or once it passes 250000 characters"
    )
    assert done.journal.damage == []


async def test_what_happens_on_a_trip_when_every_attempt_loops(tmp_path: Path) -> None:
    shell = profile(loopDetection=SEED_BLOCK, capabilities=capabilities("files"))
    working = [calls(("list_files", {}))] * 13
    done = await run(
        tmp_path,
        *working,
        *[looping(LOOP_LINE)] * 4,
        finish(),
        agents=(shell,),
        limits={"maxModelRetries": 3},
        clock=HastyClock(),
    )
    assert (
        "model turn 14 — model looped every attempt: model looped: 2 words repeated across 3000 consecutive"
        " words, 3065 words into the reply (3065 words, 12261 characters read before it was abandoned);"
        " discarded 4 response(s) totalling 49044 characters of generated output"
    ) in done.logged("error")
    assert done.of("turn_outcome")[13] == {
        "type": "turn_outcome",
        "outcome": "error",
        "error": "model_api",
        "errorType": "model_response_loop",
        "consecutiveErrors": 1,
        "turns": 14,
        "loopAborts": 4,
        "loopAbortWords": 12260,
        "loopAbortChars": 49044,
    }
    bodies = [request.raw for request in done.provider.requests]
    assert len({*bodies[13:18]}) == 1  # the same request goes out again, byte for byte
    with done.result.folder.journal.open("rb") as lines:
        record = fold(lines)
    assert [reply.turn for reply in record.replies["implementer"]] == [*range(1, 14), 15]
    assert done.result.status == "completed"


async def test_nothing_of_a_discarded_reply_stays_and_the_model_is_told_nothing(tmp_path: Path) -> None:
    done = await run(
        tmp_path,
        looping("zanzibar quux;\n"),
        answer("Prose."),
        finish(),
        agents=(ARMED,),
        limits={"maxTurns": 9, "maxCost": 1, "maxConsecutiveErrors": 4},
        clock=HastyClock(),
    )
    assert done.errors["loopAborts"] == 1
    everything = done.raw + done.result.folder.summary.read_text(encoding="utf-8") + str(done.events)
    assert "zanzibar" not in everything
    for request in done.provider.requests:
        sent = request.raw.decode().lower()
        assert not [
            word for word in ("loop", "ceiling", "limit", "repeat", "zanzibar", "error") if word in sent
        ]
    assert [request.ended for request in done.provider.requests] == ["dropped", "finished", "finished"]


async def test_a_run_that_armed_nothing_says_nothing_of_loops(tmp_path: Path) -> None:
    done = await run(tmp_path, finish())
    assert done.logged() == ["limits: no ceiling is armed — only the host's clock bounds the run"]
    assert [done.errors[key] for key in ("loopAborts", "loopAbortWords", "loopAbortChars")] == [0, 0, 0]
