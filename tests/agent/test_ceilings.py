"""The ceilings: outcome after outcome, and in whole runs."""

from pathlib import Path
from typing import Any

import pytest

from loopwatch.agent.ceilings import Ceilings
from loopwatch.config.limits import Limits
from loopwatch.records.breach import Breach
from loopwatch.records.money import nano_usd
from loopwatch.records.outcome import Outcome
from loopwatch.testing.answers import answer, hanging, looping
from loopwatch.testing.steps import Usage
from tests.agent.clocks import HastyClock
from tests.agent.runs import SEED_BLOCK, calls, capabilities, finish, profile, run
from tests.processes import ended

OUTCOMES: dict[str, Outcome] = {"E": "error", "P": "progressed", "F": "finished", "X": "fatal"}
ARMED = profile(loopDetection=SEED_BLOCK)
FILES = profile(capabilities=capabilities("files"))
LIST = calls(("list_files", {}))


def ceilings(**limits: Any) -> Ceilings:
    return Ceilings(Limits.model_validate({"maxParallel": 1, "replayMaxBytes": 1} | limits), "a")


def breach(outcomes: str, **limits: Any) -> tuple[int, Breach] | None:
    """The first breach of a string of outcomes, and after how many."""
    judge = ceilings(**limits)
    for number, letter in enumerate(outcomes, 1):
        judge.count(OUTCOMES[letter])
        found = judge.after(OUTCOMES[letter])
        if found is not None:
            return number, found
    return None


def test_t5_consecutive_errors_fire_at_their_count() -> None:
    found = breach("EEE", maxConsecutiveErrors=3)
    assert found is not None
    assert found[0] == 3
    assert (found[1].limit, found[1].threshold, found[1].observed, found[1].turns) == (
        "consecutive_errors",
        3,
        3,
        3,
    )


def test_t6_a_turn_that_progressed_clears_them_and_one_that_finished_does_not() -> None:
    assert breach("EEPEE", maxConsecutiveErrors=3) is None
    judge = ceilings()
    assert [judge.count(OUTCOMES[letter]) for letter in "EF"] == [1, 0]
    assert judge.streak == 1


@pytest.mark.parametrize(
    ("outcomes", "number", "observed"), [("EEEP", 4, 0.75), ("EEEE", 4, 1.0), ("PPEEE", 5, 0.75)]
)
def test_t8_the_error_rate_fires_over_a_full_window_after_a_good_turn_too(
    outcomes: str, number: int, observed: float
) -> None:
    found = breach(outcomes, maxErrorRate=0.5, errorRateWindow=4)
    assert found is not None
    assert (found[0], found[1].limit, found[1].observed, found[1].window) == (
        number,
        "error_rate",
        observed,
        4,
    )


@pytest.mark.parametrize("outcomes", ["EEEF", "EEPP", "EEEX", "EPEP"])
def test_t8_the_error_rate_does_not_fire_at_its_threshold_or_at_the_end(outcomes: str) -> None:
    assert breach(outcomes, maxErrorRate=0.5, errorRateWindow=4) is None


def test_t9_a_rate_of_zero_fires_at_any_error() -> None:
    found = breach("PPPE", maxErrorRate=0, errorRateWindow=3)
    assert found is not None
    assert found[0] == 4
    assert found[1].observed == pytest.approx(1 / 3)


def test_where_both_fire_the_consecutive_errors_are_told() -> None:
    found = breach("EEE", maxConsecutiveErrors=3, maxErrorRate=0.1, errorRateWindow=3)
    assert found is not None
    assert found[1].limit == "consecutive_errors"


@pytest.mark.parametrize(("spent", "stops"), [(0.9, False), (1.0, True), (1.1, True), (None, False)])
def test_t11_cost_stops_at_its_ceiling_and_never_where_nothing_is_priced(
    spent: float | None,
    stops: bool,  # noqa: FBT001
) -> None:
    nano = None if spent is None else nano_usd(spent)
    found = ceilings(maxCost=1.0).between(seconds=0, spent_nano=nano)
    assert (found is not None) == stops
    assert found is None or (found.limit, found.observed) == ("cost", spent)


# In whole runs.


async def test_r21_a_model_that_loops_for_ever_is_stopped_by_a_ceiling(tmp_path: Path) -> None:
    done = await run(
        tmp_path,
        looping("void 0;\n"),
        agents=(ARMED,),
        limits={"maxConsecutiveErrors": 3, "maxModelRetries": 1},
        clock=HastyClock(),
    )
    assert (done.result.status, done.result.exit_code) == ("limit_exceeded", 3)
    assert done.outcomes() == ["model_response_loop"] * 3
    (exceeded,) = done.of("limit_exceeded")
    assert exceeded == {
        "type": "limit_exceeded",
        "limit": "consecutive_errors",
        "threshold": 3,
        "observed": 3,
        "turns": 3,
    }
    assert done.summary["limitHit"] | {"agentId": ""} == exceeded | {"agentId": ""}
    assert done.errors["loopAborts"] == len(done.provider.requests) == 6


async def test_a_model_that_answers_prose_for_ever(tmp_path: Path) -> None:
    done = await run(tmp_path, answer("I shall do it at once."), limits={"maxTurns": 4})
    assert (done.result.status, done.result.exit_code) == ("exhausted", 3)
    assert done.outcomes() == ["missing_completion_no_call"] * 4
    assert done.summary["limitHit"]["limit"] == "turns"
    roles = [message["role"] for message in done.messages()]
    assert roles == ["system", "user", *["assistant", "user"] * 3]
    assert len({message["content"] for message in done.messages() if message["role"] == "user"}) == 2


async def test_turns_that_suffice_are_no_breach(tmp_path: Path) -> None:
    done = await run(tmp_path, LIST, LIST, finish(), agents=(FILES,), limits={"maxTurns": 3})
    assert (done.result.status, done.result.exit_code, done.summary["limitHit"]) == ("completed", 0, None)


async def test_an_error_rate(tmp_path: Path) -> None:
    rate = {"maxErrorRate": 0.5, "errorRateWindow": 4}
    script = (answer("Prose."), answer("Prose."), answer("Prose."), LIST)
    done = await run(tmp_path, *script, agents=(FILES,), limits=rate)
    assert done.result.status == "limit_exceeded"
    assert done.outcomes()[-1] == "progressed"
    assert (done.summary["limitHit"]["observed"], done.summary["limitHit"]["window"]) == (0.75, 4)


async def test_cost_is_read_between_turns(tmp_path: Path) -> None:
    dear = calls(("list_files", {}), usage=Usage(1_000, 10, cost=0.6))
    done = await run(tmp_path, dear, agents=(FILES,), limits={"maxCost": 1})
    assert done.result.status == "limit_exceeded"
    assert (done.summary["limitHit"]["limit"], done.summary["limitHit"]["observed"]) == ("cost", 1.2)
    assert (done.summary["cost"], done.summary["workCost"]) == (1.2, 1.2)


async def test_a_run_whose_time_is_up_is_cut_wherever_it_is(tmp_path: Path) -> None:
    done = await run(tmp_path, hanging("Let me"), limits={"maxRuntimeSecs": 1})
    assert (done.result.status, done.result.exit_code) == ("timed_out", 3)
    assert done.outcomes() == ["fatal"]
    assert done.summary["limitHit"]["limit"] == "runtime"
    assert done.provider.requests[0].ended == "dropped"


async def test_a_tool_that_hangs_is_ended_with_the_run(tmp_path: Path) -> None:
    shell = profile(capabilities=capabilities("shell"))
    hang = calls(("shell", {"command": "echo $$ > pid; sleep 1000"}))
    done = await run(tmp_path, hang, agents=(shell,), limits={"maxRuntimeSecs": 1})
    assert done.result.status == "timed_out"
    assert ended(int((done.result.folder.work / "pid").read_bytes()))


async def test_steps_that_go_round_are_an_event_and_a_ceiling(tmp_path: Path) -> None:
    again = calls(("read_file", {"path": "missing.txt"}))
    done = await run(tmp_path, again, agents=(FILES,), limits={"maxStepLoops": 2, "maxTurns": 60})
    assert (done.result.status, done.result.exit_code) == ("limit_exceeded", 3)
    loops = done.of("step_loop")
    assert [loop["loops"] for loop in loops] == [1, 2]
    assert done.summary["stepLoops"]["count"] == 2
    assert done.summary["limitHit"]["limit"] == "step_loops"
    assert "going in circles" not in str([request.body for request in done.provider.requests])


async def test_an_agent_whose_steps_are_not_to_be_watched_is_not(tmp_path: Path) -> None:
    again = calls(("read_file", {"path": "missing.txt"}))
    calm = FILES | {"steps": {"enabled": False}}
    done = await run(tmp_path, again, agents=(calm,), limits={"maxStepLoops": 1, "maxTurns": 12})
    assert (done.result.status, done.of("step_loop")) == ("exhausted", [])
