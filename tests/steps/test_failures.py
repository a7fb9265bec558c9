from tests.steps.runs import call, paced, rule, verdict

GONE = "404 page not found"


def test_varied_arguments_with_the_same_error_are_a_loop() -> None:
    steps = [call("fetch", GONE, url=f"https://x.test/tides?port=a&page={n}") for n in range(6)]
    loop = verdict(steps)
    assert loop is not None
    assert (loop.rule, loop.onset, loop.repeats) == ("failure", 0, 6)
    assert rule(steps[:5]) is None


def test_what_an_error_echoes_does_not_make_it_another() -> None:
    steps = [
        call("sql", f"ERROR: column boat_{n * 7} does not exist", query=f"boat_{n * 7} of x")
        for n in range(6)
    ]
    assert rule(steps) == "failure"


def test_figures_in_an_error_do_not_make_it_another() -> None:
    steps = [call("parse", f"ParseError: row {n}, column {n + 3}", text=f"t {n}") for n in range(6)]
    assert rule(steps) == "failure"


def test_dead_entries_of_a_list_are_work() -> None:
    words = "oak elm ash fir yew box bay fig gum ivy".split()
    steps = [call("head", GONE, url=f"{word}{word}") for word in words]
    assert rule(steps[:9]) is None
    assert rule([*steps[:8], call("head", "200 OK", url="z"), *steps[8:]]) is None


def test_a_closed_account_closes_every_call() -> None:
    words = "oak elm ash fir yew box".split()
    assert rule([call("draw_map", "403 account locked", of=word) for word in words]) == "failure"


def test_tools_that_fail_in_turn_are_a_loop() -> None:
    steps = [
        step
        for n in range(6)
        for step in (call("a", "Error: boom", x=f"{n} oak"), call("b", "Error: bang", y=f"{n} elm"))
    ]
    assert rule(steps) in {"failure", "stuck"}


def test_a_search_that_finds_nothing_may_be_widened_for_long() -> None:
    steps = [call("grep", "No matches found", pattern=f"name{n}", path="src") for n in range(14)]
    assert rule(steps[:13]) is None
    assert rule(steps) == "failure"
    mixed = [
        one for n, step in enumerate(steps) for one in (step, call("read_file", f"text {n}", path=f"{n}"))
    ]
    assert rule(mixed) is None


def test_the_same_answer_to_other_questions_is_a_loop() -> None:
    answer = "1. Ferry, Wikipedia. 2. Boats of Saltwick. 3. Tides and times."
    assert rule([call("web_search", answer, query=f"ferry {n} {'x' * n}") for n in range(10)]) == "failure"


def test_pages_past_the_end_are_a_loop() -> None:
    assert rule([call("get_rows", '{"items": []}', page=n) for n in range(20)]) == "failure"


def test_a_command_that_fails_again_after_each_reading_is_stuck() -> None:
    steps = [
        step
        for n in range(9)
        for step in (
            call("sh", "make: *** missing separator", command="make"),
            call("read_file", f"t{n}", path=f"{n}"),
        )
    ]
    loop = verdict(steps)
    assert loop is not None
    assert (loop.rule, loop.onset, loop.period, loop.repeats) == ("stuck", 0, None, 7)


def test_repairs_that_do_not_help_at_once_get_more_patience() -> None:
    steps = [
        step
        for n in range(9)
        for step in (
            call("run_tests", "1 failed: test_sum", target="tests"),
            call("edit_file", "edited", path="a.py", old=f"o{n}", new=f"n{n}"),
        )
    ]
    assert rule(steps[:16]) is None
    assert rule(steps) == "stuck"


def test_fewer_failures_are_progress() -> None:
    steps = [
        step
        for n in range(40, 0, -1)
        for step in (
            call("run_tests", f"{n} failed, {60 - n} passed in {n}.3 s", target="tests"),
            call("edit_file", "edited", path="a.py", old=f"o{n}", new=f"n{n}"),
        )
    ]
    assert rule(steps) is None


def test_a_success_ends_a_streak() -> None:
    bad = [call("fetch", GONE, url=f"u?page={n}") for n in range(5)]
    assert rule([*bad, call("fetch", "200 OK", url="u"), *bad]) is None


def test_a_slow_retry_with_new_ids_is_a_back_off() -> None:
    steps = [call("post", "503 busy", id=f"a{n}") for n in range(12)]
    assert rule(paced(steps, 20)) is None
    assert rule(paced(steps, 1)) == "failure"


def test_failures_after_work_get_more_patience() -> None:
    steps = [
        step
        for n in range(12)
        for step in (
            call("compile", "Error: missing separator", file=f"part {n}"),
            call("edit_file", "edited", path="a.py", old=f"o{n}", new=f"n{n}"),
        )
    ]
    assert rule(steps[:22]) is None
    assert rule(steps) == "failure"


def test_a_list_whose_every_entry_is_dead_is_left_to_the_tool_s_own_count() -> None:
    words = "oak elm ash fir yew box bay fig gum ivy".split()
    steps = [call(f"fetch_{word}", GONE, url=word * 2) for word in words * 2]
    assert rule(steps[:12]) is None


def test_an_agent_with_many_tools_and_calls_is_followed() -> None:
    assert rule([call(f"t{n}", f"Error: {'x' * n}", a=f"{n}") for n in range(90)]) is None
