"""Write corpus/traces_further.jsonl.gz: agent runs that were written after the rules, of everyday work.

A second look at what `make_unseen_traces.py` asks: what the rules made of these runs when they were first
read is in docs/explanation/steps.md.
"""

import random
from collections.abc import Iterator
from typing import Any

from tools.make_traces import Made, Maker, Tape, labelled, write


def research(draw: random.Random) -> Iterator[Made]:
    """A search on the web, of whose pages some want cookies or scripts."""
    tape = Tape(draw, 5)
    for number in range(14):
        tape.call("web_search", "\n".join(tape.sentence(8) for _ in range(5)), query=tape.sentence(3))
        blocked = 4 <= number < 9
        tape.call(
            "fetch",
            "Please enable JavaScript and cookies to continue" if blocked else tape.sentence(80),
            url=f"https://{tape.word()}-{tape.word()}.test/{tape.hex(6)}",
        )
    tape.say(tape.sentence(30))
    yield "five pages in a row want cookies", None, tape.steps
    tape = Tape(draw, 4)
    for _ in range(10):
        tape.call("rg", "", pattern=f"{tape.word()}_{tape.word()}", path="src")
    tape.call("rg", "src/a.py:12: def find_me():", pattern="find_me", path="src")
    tape.call("read", tape.sentence(50), path="src/a.py")
    yield "ten patterns without a hit", None, tape.steps


def office(draw: random.Random) -> Iterator[Made]:
    """Mail, sheets and forms."""
    tape = Tape(draw, 1.5)
    for number in range(30):
        tape.call("archive_message", "archived", id=f"msg_{number}")
    yield "thirty messages archived", None, tape.steps
    tape = Tape(draw, 1)
    for row in range(2, 42):
        tape.call("set_cell", "ok", cell=f"B{row}", value=draw.choice(["yes", "no", "yes"]))
    yield "forty cells", None, tape.steps
    tape = Tape(draw, 2)
    for field in ("name", "street", "city", "zip", "country", "phone", "mail", "birthday", "tax id"):
        tape.call("focus", "focused", selector=f"#{field}")
        tape.call("type", "typed", text=tape.word())
    tape.call("click", "Thank you for registering.", selector="#submit")
    yield "a form", None, tape.steps
    tape = Tape(draw, 3)
    for number in range(15):
        tape.call(
            "add_comment", "comment posted", pr=88, line=draw.randint(1, 900) + number, body=tape.sentence(8)
        )
    yield "fifteen remarks on one change", None, tape.steps


def cluster(draw: random.Random) -> Iterator[Made]:
    """A pod that crashes until the fifth repair."""
    tape = Tape(draw, 12)
    for _ in range(5):
        tape.call(
            "bash",
            f"web-{tape.hex(5)}  0/1  CrashLoopBackOff  {draw.randint(1, 9)}m",
            command="kubectl get pods",
        )
        tape.call("bash", f"panic: missing env {tape.word().upper()}_URL", command="kubectl logs deploy/web")
        tape.call("edit_file", "edited", path="deploy.yaml", old=tape.sentence(3), new=tape.sentence(3))
        tape.call("bash", "deployment.apps/web configured", command="kubectl apply -f deploy.yaml")
    tape.call("bash", f"web-{tape.hex(5)}  1/1  Running  1m", command="kubectl get pods")
    yield "another variable is missing each time", None, tape.steps


def rebase(draw: random.Random) -> Iterator[Made]:
    """A rebase with a conflict in each commit."""
    tape = Tape(draw, 10)
    for number in range(9):
        path = f"src/{tape.word()}_{number}.c"
        tape.call("bash", f"CONFLICT (content): Merge conflict in {path}", command="git rebase --continue")
        tape.call("read", tape.sentence(40), path=path)
        tape.call("write", "ok", path=path, content=tape.sentence(40))
        tape.call("bash", "", command=f"git add {path}")
    tape.call("bash", "Successfully rebased and updated refs/heads/topic.", command="git rebase --continue")
    yield "nine conflicts", None, tape.steps


def audits(draw: random.Random) -> Iterator[Made]:
    """Surveys whose findings sound like failures."""
    tape = Tape(draw, 1)
    for port in range(20, 44):
        tape.call("scan_port", "open" if port == 22 else "connection refused", host="10.0.0.5", port=port)
    yield "ports", None, tape.steps
    tape = Tape(draw, 2)
    for _ in range(12):
        tape.call("check_access", "denied", user=f"{tape.word()}.{tape.word()}", resource="payroll")
    yield "nobody may see the payroll", None, tape.steps
    tape = Tape(draw, 6)
    for number in range(11):
        tape.call("run_test", "FAILED", name=f"test_{tape.word()}_{tape.word()}_{number}")
    tape.say("All eleven fail: the fixture is broken.")
    yield "one test after the other", None, tape.steps
    tape = Tape(draw, 2)
    for number in range(20):
        tape.call("GET", "404" if 5 <= number < 12 else "200", path=f"/users/{number}")
    yield "users that are gone", None, tape.steps
    tape = Tape(draw, 2)
    for number in range(30):
        tape.call(
            "ocr_page",
            "(blank page)" if 10 <= number < 19 else tape.sentence(30),
            document="scan.pdf",
            page=number,
        )
    yield "blank pages", None, tape.steps


def packages(draw: random.Random) -> Iterator[Made]:
    """Things that are there already."""
    tape = Tape(draw, 3)
    for _ in range(9):
        name = tape.word()
        tape.call("bash", f"Requirement already satisfied: {name} in ./.venv", command=f"pip install {name}")
    yield "all of them installed", None, tape.steps
    tape = Tape(draw, 1)
    for _ in range(25):
        tape.call("bash", "", command=f"rm -f build/{tape.word()}/{tape.hex(4)}.o")
    yield "silent deletions", None, tape.steps
    tape = Tape(draw, 4)
    for number in range(12):
        tape.call("migrate", "OK", revision=f"{number:04}")
    yield "migrations", None, tape.steps


def flaky(draw: random.Random) -> Iterator[Made]:
    """A test that is run again to see whether it is flaky."""
    tape = Tape(draw, 9)
    tape.look_around(3)
    for _ in range(4):
        tape.call("pytest", f"1 failed, 30 passed in {draw.uniform(3, 4):.2f}s", node="tests/test_net.py")
    tape.call("pytest", "31 passed in 3.14s", node="tests/test_net.py")
    for _ in range(4):
        tape.call("pytest", f"31 passed in {draw.uniform(3, 4):.2f}s", node="tests/test_net.py")
    tape.say("It is flaky.")
    yield "four failures, five successes", None, tape.steps


def knobs(draw: random.Random) -> Iterator[Made]:
    """Buttons that are pressed several times, each press another step."""
    for tool, count in (("zoom_in", 8), ("volume_up", 10), ("increase_contrast", 8), ("key_press", 20)):
        tape = Tape(draw, 1)
        for _ in range(count):
            tape.call(tool, "ok")
        tape.say("Is that better?")
        yield f"{tool}, {count} times", None, tape.steps
    tape = Tape(draw, 1)
    for _ in range(6):
        for note in ("C4", "C4", "G4", "G4", "A4", "A4", "G4"):
            tape.call("add_note", "added", pitch=note, length="1/4")
    yield "a melody", None, tape.steps


def lesson(draw: random.Random) -> Iterator[Made]:
    """A tutor and a pupil."""
    tape = Tape(draw, 6)
    for _ in range(14):
        one, other = draw.randint(2, 9), draw.randint(2, 9)
        tape.say(f"What is {one} times {other}?", role="tutor")
        tape.say(f"{one * other}", role="pupil")
        tape.say("Correct!", role="tutor")
    yield "times tables", None, tape.steps
    tape = Tape(draw, 5)
    for _ in range(12):
        tape.user("next")
        tape.call("next_card", f"{tape.word()} = {tape.word()}")
        tape.say("Do you know it?")
    yield "flash cards", None, tape.steps
    tape = Tape(draw, 8)
    for _ in range(10):
        tape.user("continue")
        tape.say(tape.sentence(80))
    yield "a tale, continued", None, tape.steps


def villagers(draw: random.Random) -> Iterator[Made]:
    """Simulated people, most of whom do little."""
    tape = Tape(draw, 2)
    for tick in range(16):
        for name in ("ada", "ben", "cat"):
            act = draw.choice(["rest", "rest", "work", "walk"])
            tape.call("act", f"{name} does it", role=name, action=act)
        tape.call("end_turn", f"turn {tick} is over", role="world")
    yield "rest, rest, work", None, tape.steps


def training(draw: random.Random) -> Iterator[Made]:
    """A search for parameters, of which some diverge."""
    tape = Tape(draw, 40)
    for number in range(18):
        bad = 3 <= number < 8
        tape.call(
            "train",
            "Error: loss is nan, stopped" if bad else f"accuracy {draw.uniform(0.7, 0.9):.4f}",
            lr=round(draw.uniform(0.0001, 0.5), 5),
            batch=draw.choice([16, 32, 64]),
        )
    yield "five of them diverge", None, tape.steps


def watch_pull(draw: random.Random) -> Iterator[Made]:
    """A branch that is looked at until a colleague has pushed."""
    tape = Tape(draw, 45)
    for _ in range(20):
        tape.call("bash", "Already up to date.", command="git pull")
    tape.call("bash", "Updating 1a2b..3c4d\nFast-forward", command="git pull")
    tape.say("It is there.")
    yield "twenty times up to date", None, tape.steps


def guarded_work(draw: random.Random) -> Iterator[Made]:
    """Steps that come with every piece of work."""
    tape = Tape(draw, 3)
    for number in range(18):
        tape.call("heartbeat", "ok")
        tape.call("process", f"{tape.sentence(6)}", record=number)
        tape.call("save_checkpoint", "saved")
    yield "a heartbeat and a checkpoint a record", None, tape.steps
    tape = Tape(draw, 4)
    for _ in range(15):
        tape.call("git", "On branch main, nothing to commit", args="status")
        tape.call("read", tape.sentence(30), path=f"src/{tape.word()}_{tape.hex(3)}.py")
    yield "git status between", None, tape.steps


# Loops.


def bare_calls(draw: random.Random) -> Iterator[Made]:
    """Calls that lack what they need, and tools that do not exist."""
    tape = Tape(draw, 4)
    onset = tape.look_around()
    for _ in range(16):
        tape.call("write_file", "Error: missing required parameter 'path'")
    yield "no arguments", onset, tape.steps
    tape = Tape(draw, 4)
    onset = tape.look_around()
    for number in range(20):
        name = ("find_symbol", "symbol_find", "lookup_symbol")[number % 3]
        tape.call(name, f"Unknown tool: {name}. Available tools: read, write, bash.", symbol="main")
    yield "tools that nobody has", onset, tape.steps


def no_reply(draw: random.Random) -> Iterator[Made]:
    """A question to somebody who is not there."""
    tape = Tape(draw, 5)
    onset = tape.look_around()
    for _ in range(20):
        tape.call("ask_human", "(no reply)", question="Which environment should I deploy to?")
    yield "nobody answers", onset, tape.steps


def in_place(draw: random.Random) -> Iterator[Made]:
    """What has been done already."""
    tape = Tape(draw, 5)
    onset = tape.look_around()
    for _ in range(18):
        tape.call("apply_patch", "patch is already applied", patch="--- a/x\n+++ b/x\n+y")
    yield "already applied", onset, tape.steps
    tape = Tape(draw, 6)
    onset = tape.look_around()
    for _ in range(20):
        tape.call(
            "bash",
            "On branch main\nnothing to commit, working tree clean",
            command=f'git commit -am "{tape.sentence(4)}"',
        )
    yield "nothing to commit", onset, tape.steps


def broken_build(draw: random.Random) -> Iterator[Made]:
    """A build that fails alike after each new edit."""
    tape = Tape(draw, 15)
    onset = tape.look_around()
    for _ in range(20):
        tape.call("edit_file", "edited", path="CMakeLists.txt", old=tape.sentence(2), new=tape.sentence(4))
        tape.call(
            "bash",
            "CMake Error at CMakeLists.txt:12 (find_package):\n  Could not find OpenSSL",
            command="cmake -B build",
        )
    yield "OpenSSL is not there", onset, tape.steps
    tape = Tape(draw, 30)
    onset = tape.look_around()
    for _ in range(20):
        tape.call(
            "train",
            "torch.cuda.OutOfMemoryError: CUDA out of memory",
            batch=draw.choice([64, 48, 32, 24, 16]),
            workers=draw.randint(1, 9),
        )
    yield "out of memory", onset, tape.steps


def refused_form(draw: random.Random) -> Iterator[Made]:
    """A form that is refused whatever is typed."""
    tape = Tape(draw, 4)
    onset = tape.look_around()
    for _ in range(16):
        tape.call("type", "typed", selector="#mail", text=f"{tape.word()}@example.test")
        tape.call("click", "Please enter a valid phone number", selector="#submit")
    yield "the phone number is wanted", onset, tape.steps


def plan_flips(draw: random.Random) -> Iterator[Made]:
    """A plan that is put this way and that."""
    tape = Tape(draw, 4)
    onset = tape.look_around()
    for number in range(24):
        tape.call(
            "todo_write", "updated", todos=[{"what": "fix login", "state": ("open", "doing")[number % 2]}]
        )
    yield "open, doing, open", onset, tape.steps


def same_summary(draw: random.Random) -> Iterator[Made]:
    """The same thing asked with other settings, the same answer."""
    tape = Tape(draw, 6)
    onset = tape.look_around()
    answer = tape.sentence(20)
    for number in range(20):
        tape.call("summarise", answer, document="minutes.md", temperature=round(0.1 + number * 0.03, 2))
    yield "twenty temperatures", onset, tape.steps


def failing_help(draw: random.Random) -> Iterator[Made]:
    """Sub-agents that come back with nothing."""
    tape = Tape(draw, 20)
    onset = tape.look_around()
    for _ in range(16):
        tape.call(
            "run_agent", "The agent finished: I could not complete the task.", task="Migrate the database."
        )
    yield "could not complete", onset, tape.steps


def same_token(draw: random.Random) -> Iterator[Made]:
    """A page that names itself as the next one."""
    tape = Tape(draw, 2)
    onset = tape.look_around()
    names = ", ".join(tape.word() for _ in range(5))
    for _ in range(20):
        tape.call("list_files", f'{{"files":["{names}"],"nextPageToken":"tok_b"}}', pageToken="tok_b")
    yield "the token never changes", onset, tape.steps


def moving_window(draw: random.Random) -> Iterator[Made]:
    """A question about the last minute, asked each second."""
    tape = Tape(draw, 2)
    onset = tape.look_around()
    for number in range(50):
        start = 1_790_000_000 + 2 * number
        tape.call("query_metrics", "0 rows", start=start, end=start + 60, metric="errors")
    yield "nothing in any window", onset, tape.steps


def traces_of_stack(draw: random.Random) -> Iterator[Made]:
    """One exception whose trace differs in its addresses."""
    tape = Tape(draw, 8)
    onset = tape.look_around()
    for _ in range(18):
        frames = "\n".join(
            f"  at 0x{tape.hex(12)} in frame_{n} (lib.so+{draw.randint(100, 999)})" for n in range(6)
        )
        tape.call("run_binary", f"Segmentation fault (core dumped)\n{frames}", args="--input data.bin")
    yield "segmentation fault", onset, tape.steps


def cd_ls(draw: random.Random) -> Iterator[Made]:
    """Looks at the same few places in no fixed order."""
    tape = Tape(draw, 3)
    onset = tape.look_around()
    places = {place: tape.sentence(6) for place in ("src", "docs", "tests", "build")}
    for _ in range(40):
        place = draw.choice([*places])
        tape.call("bash", places[place], command=f"ls {place}")
    yield "four folders", onset, tape.steps


LEGIT: tuple[Maker, ...] = (
    *(research, office, cluster, rebase, audits, packages, flaky, knobs, lesson, villagers, training),
    *(watch_pull, guarded_work),
)
LOOPS: tuple[Maker, ...] = (
    *(bare_calls, no_reply, in_place, broken_build, refused_form, plan_flips, same_summary, failing_help),
    *(same_token, moving_window, traces_of_stack, cd_ls),
)


def traces() -> Iterator[dict[str, Any]]:
    """Every run, the same ones each time."""
    return labelled((*LEGIT, *LOOPS))


if __name__ == "__main__":
    write("traces_further.jsonl.gz", traces())
