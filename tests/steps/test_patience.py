"""What the rules wait for: wishes with a number, locks, audits, watches, nods, and what they do not."""

import pytest

from loopwatch.steps.wishes import times_asked
from tests.steps.runs import call, paced, rule, say


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("Ping the printer twelve times.", 12),
        ("run it 5x, please", 5),
        ("do that twice", 2),
        ("ten more times", 10),
        ("a thousand 99999 times", 1_000),
        ("Good times", 0),
        ("at 10:30", 0),
        ("", 0),
    ],
)
def test_how_often_a_user_wants_it_is_read(text: str, times: int) -> None:
    assert times_asked(text) == times


def test_as_often_as_the_user_wants_it_is_no_loop() -> None:
    ping = call("ping", "request timed out", host="printer")
    asked = say("Ping it twelve times.", role="user")
    assert rule([asked, *[ping] * 12]) is None
    assert rule([asked, *[ping] * 30]) == "repeat"
    assert rule([say("Ping it.", role="user"), *[ping] * 14]) == "repeat"


@pytest.mark.parametrize(
    "error",
    [
        "E: Could not get lock /var/lib/dpkg/lock. It is held by process 44",
        "pg_isready: no response",
        "Error: address already in use",
        "fatal: the database system is starting up",
    ],
)
def test_what_passes_is_waited_for(error: str) -> None:
    assert rule(paced([call("sh", error, command="./up")] * 9, 10)) is None
    assert rule(paced([call("sh", error, command="./up")] * 20, 10)) == "repeat"


def test_a_program_that_is_missing_is_not_waited_for() -> None:
    steps = [call("sh", "bash: frob: command not found", command="frob")] * 5
    assert rule(paced(steps, 20)) == "repeat"


def test_what_an_inspection_finds_is_no_failure_of_its_own() -> None:
    ports = [call("scan_port", "connection refused", host="h", port=n) for n in range(24)]
    assert rule(ports) is None
    denied = [call("check_access", "denied", user=f"{a}{b}") for a in "abcd" for b in "efgh"]
    assert rule(denied) is None
    assert rule([call("check_access", "denied", user="a")] * 5) == "repeat"


def test_numbered_things_that_are_missing_are_a_list() -> None:
    assert rule([call("get", "404 Not Found", path=f"/users/{n}") for n in range(8)]) is None
    assert rule([call("unzip", "Error: encrypted", name=f"box_{n}.zip") for n in range(9)]) is None
    assert rule([call("unzip", "Error: encrypted", name=f"box_{n}.zip") for n in range(20)]) == "failure"


def test_whoever_asks_once_a_minute_keeps_watch() -> None:
    probe = call("probe", "200 OK", url="u")
    assert rule(paced([probe] * 100, 60)) is None
    assert rule(paced([probe] * 130, 60)) == "repeat"


def test_a_nod_to_what_others_did_is_no_repetition() -> None:
    work = [call("embed", f"stored {n}", role=f"m{n % 3}", text=f"part {n}") for n in range(20)]
    nod = call("ack", "ok", role="reducer")
    assert rule([step for one in work for step in (one, nod)]) is None
    assert rule([nod] * 6) == "repeat"


def test_what_is_begun_anew_and_stays_pending_is_no_poll() -> None:
    assert rule([call("delegate", "pending", to="b")] * 10) == "poll"
    assert rule([call("job_status", "pending", id="b")] * 10) is None


def test_calls_that_add_may_be_repeated() -> None:
    melody = [call("add_note", "added", pitch=pitch) for pitch in ("C", "C", "G")]
    assert rule(melody * 6) is None
    assert rule(melody * 30) == "cycle"


def test_an_answer_that_is_nothing_but_an_id_is_that_id() -> None:
    assert rule([call("f", f"{n:016x}f0") for n in range(20)]) is None
    assert rule([call("f", f"made {n:016x}f0") for n in range(20)]) == "repeat"


def test_entries_of_a_list_that_is_said_are_no_repetition() -> None:
    lines = [say(f"Line {n}: please enter the value for {word * 3}.") for n, word in enumerate("abcdefghij")]
    assert rule(lines) is None
    same = [say(f"Please enter now the right value for {word * 3}.") for word in "abcdefghij"]
    assert rule(same) == "text"


def test_a_lesson_with_figures_says_something_new() -> None:
    steps = []
    for one in range(2, 9):
        steps += [
            say(f"What is {one} times {11 - one}?", role="tutor"),
            say(f"{one * (11 - one)}", role="pupil"),
            say("Correct!", role="tutor"),
        ]
    assert rule(steps) is None


def test_noise_around_a_failure_does_not_make_it_another() -> None:
    noise = [f"GET /{word * 3}\nserved {word}\nError: build failed\nwent {word}{word}" for word in "abcdefg"]
    assert rule([call("sh", text, command="make") for text in noise]) == "repeat"


def test_nothing_to_do_is_nothing_done() -> None:
    said = "On branch main\nnothing to commit, working tree clean"
    steps = [call("sh", said, command=f'git commit -m "{word * 4}"') for word in "abcdefghijklmnop"]
    assert rule(steps) == "failure"
