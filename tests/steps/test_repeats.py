import pytest

from loopwatch.steps.step import Step
from tests.steps.runs import call, paced, rule, say, verdict

FAILS = "Error: the old text was not found in a.py"


def test_the_same_failing_call_is_a_loop_at_the_fifth_time() -> None:
    loop = verdict([call("read", "x", path="b"), *[call("edit", FAILS, path="a.py")] * 9])
    assert loop is not None
    assert (loop.rule, loop.onset, loop.steps, loop.period, loop.repeats) == ("repeat", 1, 6, 1, 5)
    assert rule([call("edit", FAILS, path="a.py")] * 4) is None


def test_a_failure_can_be_told_by_the_caller() -> None:
    assert rule([call("fetch", "", error="boom", url="u")] * 5) == "repeat"


def test_the_same_successful_call_is_a_loop_at_the_sixth_time() -> None:
    assert rule([call("list_dir", "a b", path=".")] * 5) is None
    assert rule([call("list_dir", "a b", path=".")] * 6) == "repeat"


def test_remarks_between_do_not_hide_it() -> None:
    assert (
        rule([one for n in range(6) for one in (call("ls", "a"), say(f"Thought number {n} is new."))])
        == "repeat"
    )


@pytest.mark.parametrize(
    "noise",
    [
        "done at 2031-05-02T10:00:{n:02}Z",
        "took {n}.5 s",
        "request_id=ab{n}f00d9",
        "at 0x7f{n}a",
        "wrote /tmp/x{n}/out",
        "pid 41{n}",
        "listed at 10:00:{n:02}",
    ],
)
def test_what_changes_by_itself_is_no_change(noise: str) -> None:
    assert rule([call("ls", f"a b\n{noise.format(n=number)}") for number in range(6)]) == "repeat"


@pytest.mark.parametrize("moving", ["{n} %", "{n} of 60", "page {n}", "{n} files", "names {n}-60"])
def test_a_result_that_moves_is_no_repetition(moving: str) -> None:
    assert rule([call("job", moving.format(n=number)) for number in range(60)]) is None


def test_a_cosmetic_argument_does_not_make_a_call_new() -> None:
    assert rule([call("run", "ok", name=f"idle{n}", command="true") for n in range(6)]) == "repeat"
    assert rule([call("think", "ok", thought=f"about {n}") for n in range(60)]) is None


def test_copies_inside_an_argument_do_not_make_a_call_new() -> None:
    steps = [call("sh", "a:1\n" * n, command=" && ".join(["grep x a"] * n)) for n in range(2, 9)]
    assert rule(steps) == "repeat"


def test_a_pending_answer_may_come_for_long() -> None:
    steps = paced([call("job_status", "in_progress", id=88)] * 50, 15)
    assert rule(steps) is None
    assert rule(paced([call("job_status", "in_progress", id=88)] * 61, 15)) == "poll"


def test_a_pending_answer_whose_figure_stands_still_may_come_less_long() -> None:
    steps = [call("job_status", "running, 62 %", id=88)] * 24
    assert rule(paced(steps[1:], 15)) is None
    assert rule(paced(steps, 15)) == "poll"


def test_a_terminal_answer_is_waited_for_in_vain() -> None:
    assert rule(paced([call("job_status", '{"state": "CANCELLED"}', id=1)] * 10, 15)) == "repeat"


def test_a_back_off_is_given_time() -> None:
    gaps = [0, 2, 6, 14, 30, 62, 126, 190, 254, 318]
    steps = [call("post", "503 service unavailable", t=float(t)) for t in gaps]
    assert rule(steps) is None
    assert rule(paced([steps[0]] * 10, 1)) == "repeat"


def test_scrolling_is_the_point() -> None:
    assert rule([call("scroll", "ok", down=800)] * 20) is None
    assert rule([call("computer", "[image]", action="key", text="Tab")] * 20) is None


def test_a_tool_that_waits_by_trade_is_never_a_loop_but_when_it_fails() -> None:
    quiet = [call("queue", "0")] * 500
    assert rule(quiet, waiting_tools={"queue"}) is None
    assert rule([one for step in quiet for one in (step, call("nap", ""))], waiting_tools={"queue"}) is None
    assert rule([call("queue", "Error: no such queue")] * 5, waiting_tools={"queue"}) == "repeat"


def test_watching_every_minute_is_cheap() -> None:
    assert rule(paced([Step(role="a", tool="depth", result="0")] * 39, 60)) is None


def test_what_waits_is_given_time_and_what_writes_a_little() -> None:
    assert rule(paced([call("ls", "a", path="out")] * 9, 12)) is None
    assert rule(paced([call("ls", "a", path="out")] * 10, 12)) == "repeat"
    assert rule(paced([call("ping", "pong")] * 23, 12)) is None
    assert rule([call("replace_next", "replaced", old="a", new="b")] * 9) is None
    assert rule(paced([call("job", "queued")] * 119, 30)) is None
    missing = call("shell", "ls: out.bin: No such file or directory", command="ls out.bin")
    assert rule(paced([missing] * 13, 12)) is None
    assert rule(paced([missing] * 14, 12)) == "repeat"


def test_a_round_with_a_retry_that_pauses_is_a_back_off() -> None:
    steps = [call("post", "503 busy"), call("sleep", "", seconds=20)] * 12
    assert rule(paced(steps, 20)) is None
