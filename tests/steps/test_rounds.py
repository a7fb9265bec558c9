"""Rules that compare rounds: cycle, sweep, recycled."""

import pytest

from loopwatch.steps.step import Step
from tests.steps.runs import call, paced, rule, say, verdict


def rounds(period: int, copies: int) -> list[Step]:
    return [call("read_file", f"text {n}", path=f"{n}.py") for n in range(period)] * copies


@pytest.mark.parametrize("period", [2, 3, 4, 5, 7])
def test_three_rounds_are_a_loop_and_two_are_care(period: int) -> None:
    assert rule(rounds(period, 2)) is None
    loop = verdict(rounds(period, 3))
    assert loop is not None
    assert (loop.rule, loop.onset, loop.steps, loop.period, loop.repeats) == (
        "cycle",
        0,
        3 * period,
        period,
        3,
    )


def test_a_malformed_call_and_the_request_to_retry_are_a_round() -> None:
    steps = [say("count [call]"), say("Your call was malformed.", role="system")] * 3
    assert rule(steps) == "cycle"


def test_a_round_whose_outcome_moves_is_none() -> None:
    steps = [one for n in range(40) for one in (call("scan", f"{n} left"), call("read_file", "x", path="a"))]
    assert rule(steps) is None


def test_sleeping_and_asking_may_go_on() -> None:
    steps = [call("sleep", "", seconds=15), call("job", "pending")] * 40
    assert rule(paced(steps, 15)) is None
    assert rule(paced(steps * 2, 15)) == "cycle"


def test_clicking_and_looking_may_go_on() -> None:
    steps = [call("click", "clicked", text="Next"), call("screenshot", "taken")]
    assert rule(steps * 11) is None
    assert rule(steps * 12) == "cycle"


def test_a_sweep_that_starts_over_is_seen_before_its_second_end() -> None:
    loop = verdict(rounds(40, 2))
    assert loop is not None
    assert (loop.rule, loop.onset, loop.steps, loop.period) == ("sweep", 40, 50, 40)


def test_seven_files_may_be_read_again() -> None:
    assert rule(rounds(30, 1) + rounds(7, 1)) is None


def test_a_change_makes_every_earlier_result_out_of_date() -> None:
    suite = [call("run_test", "passed", target=f"t{n}") for n in range(12)]
    edits = [call("edit_file", "edited", path="a.py", old=f"o{n}", new=f"n{n}") for n in range(4)]
    assert rule([one for edit in edits for one in (*suite, edit)]) is None
    assert rule(suite * 2) == "sweep"


def test_other_page_borders_do_not_make_a_pass_new() -> None:
    first = [call("read", f"lines from {n}", path="big", offset=n, limit=100) for n in range(0, 3_000, 100)]
    second = [call("read", f"lines from {n}", path="big", offset=n, limit=100) for n in range(50, 3_000, 100)]
    assert rule(first) is None
    assert rule([*first, *second]) == "sweep"


def test_few_steps_in_no_order_bring_nothing_new() -> None:
    order = [0, 1, 0, 2, 1, 0, 1, 2, 0, 1, 0, 2, 0, 1, 2, 1, 0, 2, 1, 2]
    steps = [call("read_file", f"text {n}", path=f"{n}.py") for n in order]
    assert rule(steps) == "recycled"
    assert rule([call("play", f"result {n}", hand=f"{n}") for n in order]) is None


def test_a_pass_over_known_pages_after_a_change_is_no_repetition() -> None:
    pages = [
        call("read", f"rows of {n}", path="big", start_line=n, end_line=n + 99) for n in range(0, 1_500, 100)
    ]
    edit = call("write_file", "written", path="big", content="new")
    assert rule([*pages, edit, *pages]) is None
    assert rule([*pages, call("read_file", "x", path="y"), *pages]) == "sweep"


def test_many_things_read_in_parts_are_followed() -> None:
    steps = [
        call("read", f"{n} {k}", path=f"file {'x' * n}", offset=k, limit=10)
        for n in range(40)
        for k in (0, 10)
    ]
    assert rule(steps) is None
