"""Write corpus/traces_added.jsonl.gz: agent runs made by rule, for the figures of `loopwatch.steps`.

Legitimate runs that repeat themselves for good reasons, and loops that try not to look like loops. Each
family is a function that yields runs of other sizes, paces and words; what repeats is what the family is
about. `tools/make_cases.py` does the same for replies.
"""

import gzip
import json
import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

Run = list[dict[str, Any]]
Made = tuple[str, int | None, Run]
"""A note, the onset of a loop (None: legitimate), the steps."""
Maker = Callable[[random.Random], Iterator[Made]]
"""A family."""
WORDS = (
    "harbour ladder orchard kettle mirror saddle lantern bridge pepper canvas marble thistle rocket velvet"
    " copper willow anchor basket candle dragon engine feather garden hammer island jacket kernel lemon"
    " meadow needle"
).split()
VARIANTS = 3


class Tape:
    """Records steps with a clock that goes on by a pace."""

    def __init__(self, draw: random.Random, pace: float = 5.0) -> None:
        """Start with what the user wants."""
        self.draw, self.pace, self.t, self.tokens = draw, pace, 0.0, 4_000
        self.steps: Run = []
        self.user("Please see to it.")

    def user(self, text: str) -> None:
        """The user says something."""
        self._add("user", None, {}, text, 20.0)

    def system(self, text: str) -> None:
        """The harness says something."""
        self._add("system", None, {}, text, 0.1)

    def say(self, text: str, role: str = "assistant") -> None:
        """An agent says something."""
        self._add(role, None, {}, text, self.pace)

    def call(
        self, tool: str, result: str, role: str = "assistant", pace: float | None = None, **args: Any
    ) -> None:
        """An agent calls a tool."""
        self._add(role, tool, args, result, self.pace if pace is None else pace)

    def _add(self, role: str, tool: str | None, args: dict[str, Any], result: str, pace: float) -> None:
        self.t += pace * self.draw.uniform(0.8, 1.2)
        self.tokens += 200
        self.steps.append(
            {
                "role": role,
                "tool": tool,
                "args": args,
                "result": result,
                "tokens": 0 if role in {"user", "system"} else self.tokens,
                "t": round(self.t, 2),
            }
        )

    def look_around(self, count: int = 4) -> int:
        """Healthy steps before; answers with the number of the next step."""
        for _ in range(count):
            word = self.word()
            self.call("read_file", f"{self.sentence()}", path=f"src/{word}_{self.draw.randint(1, 999)}.py")
        return len(self.steps)

    def word(self) -> str:
        """Some word."""
        return self.draw.choice(WORDS)

    def sentence(self, count: int = 12) -> str:
        """Words that say nothing in particular, and each time something else."""
        return " ".join(self.draw.choices(WORDS, k=count)).capitalize() + f" {self.draw.randint(1, 9_999)}."

    def hex(self, digits: int = 8) -> str:
        """A random id."""
        return f"{self.draw.randrange(16**digits):0{digits}x}"


def poll_bar(draw: random.Random) -> Iterator[Made]:
    """Polls whose bar grows."""
    for variant in range(VARIANTS):
        tape = Tape(draw, 5 + 10 * variant)
        for share in range(0, 101, 4):
            bar = "#" * (share // 5)
            tape.call("job_status", f"[{bar:<20}] {share}% eta 00:{draw.randint(10, 59)}", id="build-7")
        tape.say("It is built.")
        yield "a progress bar to its end", None, tape.steps


def ci_wait(draw: random.Random) -> Iterator[Made]:
    """Waits for a pipeline, with and without sleeping between."""
    for variant, count in enumerate((12, 25, 30)):
        tape = Tape(draw, 20)
        tape.call("shell", "pushed", command="git push origin fix")
        for _ in range(count):
            if variant:
                tape.call("shell", "", command="sleep 30", pace=30)
            tape.call("shell", "build\tpending\t0\nlint\tpass\t12s", command="gh pr checks 88")
        tape.call("shell", "build\tpass\t4m10s\nlint\tpass\t12s", command="gh pr checks 88")
        tape.say("The pipeline is green.")
        yield f"{count} pending answers", None, tape.steps


def pages(draw: random.Random) -> Iterator[Made]:
    """An API paged through whose pages look the same."""
    for variant in range(VARIANTS):
        tape = Tape(draw, 2)
        for page in range(1, 40):
            if variant == 0:
                tape.call("list_orders", '{"count": 50, "has_more": true}', page=page, page_size=50)
            elif variant == 1:
                tape.call(
                    "http_get",
                    "200 OK, 50 rows stored",
                    url=f"https://api.example.test/v1/rows?cursor={tape.hex()}",
                )
            else:
                tape.call("click", "20 more rows loaded", text="Load more")
                if page > 18:
                    break
        tape.say("All rows are here.")
        yield "equal-looking pages", None, tape.steps


def wizard(draw: random.Random) -> Iterator[Made]:
    """A browser agent that clicks and looks."""
    tape = Tape(draw, 4)
    for _ in range(9):
        tape.call("click", "clicked", text="Next")
        tape.call("screenshot", "screenshot taken")
    tape.say("The form is filled in.")
    yield "next and screenshot nine times", None, tape.steps


def backoff_ok(draw: random.Random) -> Iterator[Made]:
    """Retries with pauses, then success."""
    for variant, (error, count) in enumerate(
        (
            ("429 Too Many Requests, retry after 8 s", 6),
            ("504 gateway time-out", 9),
            ("connection refused", 7),
        )
    ):
        tape = Tape(draw, 4)
        tape.look_around(2)
        pace = 2.0
        for _ in range(count):
            tape.call(
                "http_post",
                f"{error} (request {tape.hex()})",
                url="https://api.example.test/v1/report",
                pace=pace,
            )
            pace = min(60.0, pace * (2 if variant else 1.5))
        tape.call("http_post", "201 created", url="https://api.example.test/v1/report")
        tape.say("Posted.")
        yield f"{count} failures, then success", None, tape.steps


def server_up(draw: random.Random) -> Iterator[Made]:
    """Waits until a server answers or a file is there."""
    for variant in range(2):
        tape = Tape(draw, 12)
        tape.call("shell", "started in the background", command="make serve &")
        command, answer = (
            ("curl -s localhost:8080", "curl: (7) connection refused"),
            ("ls build/out.bin", "ls: build/out.bin: No such file or directory"),
        )[variant]
        for _ in range(9):
            tape.call("shell", answer, command=command)
        tape.call("shell", "ok" if variant == 0 else "build/out.bin", command=command)
        tape.say("It is up.")
        yield "nine attempts, twelve seconds apart", None, tape.steps


def test_fix(draw: random.Random) -> Iterator[Made]:
    """Tests and repairs that get on."""
    for variant in range(VARIANTS):
        tape = Tape(draw, 20)
        failed = 14
        while failed:
            tape.call(
                "run_tests",
                f"{failed} failed, {60 - failed} passed in {draw.uniform(1, 9):.2f}s",
                target="tests",
            )
            for _ in range(1 + variant):
                tape.call(
                    "edit_file", "edited", path="src/bank.py", old=tape.sentence(4), new=tape.sentence(4)
                )
            failed = max(0, failed - draw.randint(0, 2))
        tape.call("run_tests", "60 passed in 3.1s", target="tests")
        yield "fewer failures, though not each time", None, tape.steps


def hard_bug(draw: random.Random) -> Iterator[Made]:
    """One test that is repaired at the seventh attempt."""
    for _ in range(2):
        tape = Tape(draw, 25)
        for _ in range(7):
            tape.call(
                "run_tests",
                f"1 failed: test_rounding ({draw.uniform(1, 3):.2f} s)",
                target="tests/test_money.py",
            )
            tape.call("read_file", tape.sentence(30), path=f"src/{tape.word()}_{draw.randint(1, 99)}.py")
            tape.call("edit_file", "edited", path="src/money.py", old=tape.sentence(5), new=tape.sentence(5))
        tape.call("run_tests", "12 passed", target="tests/test_money.py")
        yield "a hard bug", None, tape.steps


def green_refactor(draw: random.Random) -> Iterator[Made]:
    """Small changes, each with the same green tests, lint and types."""
    for variant in range(2):
        tape = Tape(draw, 8)
        for number in range(14):
            tape.call(
                "edit_file",
                "edited",
                path=f"src/part_{number % (3 + variant)}.py",
                old=tape.sentence(3),
                new=tape.sentence(3),
            )
            tape.call("shell", "All checks passed!", command="ruff check")
            tape.call("shell", "Success: no issues found in 44 source files", command="mypy")
            tape.call("shell", "212 passed in 4.31s", command="pytest -q")
        yield "always green", None, tape.steps


def batch(draw: random.Random) -> Iterator[Made]:
    """The same done to many things."""
    for variant in range(4):
        tape = Tape(draw, 3)
        for number in range(40):
            if variant == 0:
                tape.call(
                    "rename_file", "renamed", source=f"img_{number}.png", target=f"photo_{number:03}.png"
                )
            elif variant == 1:
                tape.call("shell", "", command=f"mv notes/{tape.word()}{number}.txt archive/")
            elif variant == 2:
                tape.call(
                    "shell",
                    "# Copyright the authors. Licensed under Apache 2.0, see LICENSE.",
                    command=f"head -1 src/m{number}.py",
                )
            else:
                tape.call(
                    "create_issue", "created", title=f"Part {number}", body="See the list.", labels=["chore"]
                )
        tape.say("All forty are done.")
        yield "forty of them", None, tape.steps


def link_check(draw: random.Random) -> Iterator[Made]:
    """A list in which some, neighbours among them, are dead."""
    for _ in range(2):
        tape = Tape(draw, 2)
        for number in range(30):
            dead = 8 <= number < 14 or number == 20
            tape.call(
                "http_head",
                "404 Not Found" if dead else "200 OK",
                url=f"https://{tape.word()}-{tape.hex(4)}.test/{tape.word()}/{tape.word()}",
            )
        tape.say("Seven of thirty links are dead.")
        yield "six dead links in a row", None, tape.steps


def lint_report(draw: random.Random) -> Iterator[Made]:
    """A checker that reports the same of many files."""
    tape = Tape(draw, 2)
    for number in range(25):
        bad = number % 3 == 0
        tape.call(
            "check_header",
            "header missing" if bad else "ok",
            path=f"lib/{tape.word()}/{tape.word()}_{number}.c",
        )
    yield "findings, not failures", None, tape.steps


def repl(draw: random.Random) -> Iterator[Made]:
    """A session at a prompt."""
    for _ in range(2):
        tape = Tape(draw, 6)
        for number in range(30):
            name = tape.word()
            tape.call(
                "python",
                "" if number % 2 else f"{draw.random():.4f}",
                code=f"{name} = fit(data, k={number})" if number % 2 else "score(data)",
            )
        yield "assign and score", None, tape.steps


def map_reduce(draw: random.Random) -> Iterator[Made]:
    """Many sub-agents, each with a part, all reading the same first."""
    for variant in range(2):
        tape = Tape(draw, 3)
        for number in range(8):
            tape.call("spawn_agent", f"agent{number} started", task=f"Summarise part {number} of the report.")
        for _ in range(3 + variant):
            for number in range(8):
                tape.call(
                    "read_file",
                    tape.sentence(20),
                    role=f"agent{number}",
                    path=f"parts/{number}/{tape.hex()}.md",
                )
        for number in range(8):
            tape.call(
                "read_file",
                "Be brief. Name your sources. Use plain words.",
                role=f"agent{number}",
                path="STYLE.md",
            )
        for number in range(8):
            tape.call("report", "received", role=f"agent{number}", to="assistant", text=tape.sentence(20))
        tape.say(tape.sentence(40))
        yield "eight sub-agents side by side", None, tape.steps


def best_of(draw: random.Random) -> Iterator[Made]:
    """The same task to several agents at once, to choose among their answers."""
    tape = Tape(draw, 1)
    for number in range(12):
        tape.call("spawn_agent", f"agent{number} started", task="Write a limerick on tides.")
    for number in range(12):
        tape.say(tape.sentence(20), role=f"agent{number}")
    yield "twelve tries of one task", None, tape.steps


def games(draw: random.Random) -> Iterator[Made]:
    """Agents that play in turns with few moves."""
    tape = Tape(draw, 2)
    for _ in range(20):
        tape.call("roll_dice", f"you rolled {draw.randint(1, 6)}", role="ann")
        tape.call("roll_dice", f"you rolled {draw.randint(1, 6)}", role="bob")
    yield "dice", None, tape.steps
    tape = Tape(draw, 2)
    for _ in range(20):
        for role in ("ann", "bob"):
            hand = draw.choice(["rock", "paper", "scissors"])
            tape.call("play", draw.choice(["draw", "won", "lost"]), role=role, hand=hand)
    yield "rock, paper, scissors", None, tape.steps
    tape = Tape(draw, 4)
    for _ in range(30):
        for role in ("white", "black"):
            tape.say(
                f"My move is {draw.choice('NBRQK')}{draw.choice('abcdefgh')}{draw.randint(1, 8)}.", role=role
            )
    yield "chess, said", None, tape.steps
    tape = Tape(draw, 3)
    for _ in range(40):
        tape.call(
            "move",
            draw.choice(["moved", "moved", "blocked by a wall"]),
            direction=draw.choice(["north", "east", "south", "west"]),
        )
    yield "a maze", None, tape.steps


def chat(draw: random.Random) -> Iterator[Made]:
    """A chat bot that answers equal questions equally."""
    for variant in range(2):
        tape = Tape(draw, 3)
        for _ in range(20):
            tape.user(draw.choice(["When do you open?", "And on Sundays?", "When do you open?"]))
            if variant:
                tape.call("opening_hours", "Mon-Sat 9 to 18", day="any")
            tape.say("We are open from nine to six, Monday to Saturday.")
        yield "equal questions, equal answers", None, tape.steps


def burst(draw: random.Random) -> Iterator[Made]:
    """The same five times because the user said so."""
    tape = Tape(draw, 2)
    for _ in range(6):
        tape.user("Run the benchmark four times and give me the figures.")
        for _ in range(4):
            tape.call("shell", "1200 req/s", command="make bench")
        tape.say("Four times 1200.")
    yield "asked for, and asked again", None, tape.steps


def watch_for_ever(draw: random.Random) -> Iterator[Made]:
    """A monitor: every minute, for as long as it takes, nothing new."""
    tape = Tape(draw, 60)
    for _ in range(38):
        tape.call("queue_depth", '{"depth": 0}', queue="mail")
    tape.call("queue_depth", '{"depth": 431}', queue="mail")
    tape.call("page_on_call", "sent", text="The queue grows.")
    yield "forty minutes of nothing, then something", None, tape.steps
    tape = Tape(draw, 15)
    for _ in range(50):
        tape.call("wait_for_message", "no new messages", timeout=15)
    yield "fifty waits for a message", None, tape.steps


def handoff_works(draw: random.Random) -> Iterator[Made]:
    """Agents that tell each other something."""
    for _ in range(2):
        tape = Tape(draw, 15)
        for _ in range(8):
            tape.call("send_message", tape.sentence(15), role="writer", to="editor")
            tape.call("send_message", tape.sentence(10), role="editor", to="writer")
        tape.call("send_message", "Thank you.", role="writer", to="editor")
        tape.call("send_message", "You are welcome.", role="editor", to="writer")
        yield "sixteen messages with something in them", None, tape.steps


def haggle(draw: random.Random) -> Iterator[Made]:
    """Two agents that close in on a price."""
    tape = Tape(draw, 6)
    low, high = 100, 200
    while high - low > 4:
        tape.call("send_message", f"I offer {low}.", role="buyer", to="seller")
        tape.call("send_message", f"I would take {high}.", role="seller", to="buyer")
        low, high = low + draw.randint(2, 9), high - draw.randint(2, 9)
    tape.call("send_message", "Agreed.", role="buyer", to="seller")
    yield "offers that come closer", None, tape.steps


def critique_works(draw: random.Random) -> Iterator[Made]:
    """Reviews that come to an end."""
    tape = Tape(draw, 30)
    for left in (9, 8, 6, 5, 3, 2, 1):
        tape.call("commit", f"Addressed. {tape.sentence(6)}", role="author", task=4)
        tape.call(
            "review", f"Changes requested: {left} remarks left. {tape.sentence(6)}", role="reviewer", task=4
        )
    tape.call("review", "Approved.", role="reviewer", task=4)
    yield "fewer remarks each round", None, tape.steps
    tape = Tape(draw, 30)
    for score in (4, 5, 5, 6, 6, 6, 7, 8):
        tape.call("write_draft", tape.sentence(30), doc="poem.md")
        tape.call("critique", f"Score {score}/10. {tape.sentence(10)}", doc="poem.md")
    tape.say("Eight of ten it is.")
    yield "a score with plateaus", None, tape.steps
    tape = Tape(draw, 30)
    for _ in range(6):
        tape.call("write_file", "written", role="coder", path="app.py", content=tape.sentence(30))
        tape.call("review", f"Not yet: {tape.sentence(14)}", role="critic", path="app.py")
    tape.call("review", "LGTM", role="critic", path="app.py")
    yield "six rounds of new remarks", None, tape.steps


def reminders(draw: random.Random) -> Iterator[Made]:
    """A harness that says the same after each step of good work."""
    tape = Tape(draw, 5)
    for _ in range(25):
        tape.call("read_file", tape.sentence(20), path=f"src/{tape.hex()}.py")
        tape.system("Remember: answer in English and keep within the budget.")
    yield "a reminder a step", None, tape.steps


def think(draw: random.Random) -> Iterator[Made]:
    """A thinking tool that always answers the same."""
    tape = Tape(draw, 6)
    for _ in range(15):
        tape.call("think", "ok", thought=tape.sentence(25))
    tape.say(tape.sentence(30))
    yield "fifteen thoughts", None, tape.steps


def reread(draw: random.Random) -> Iterator[Made]:
    """After its context was compacted an agent reads its files again."""
    tape = Tape(draw, 4)
    files = [(f"src/{tape.word()}_{number}.py", tape.sentence(30)) for number in range(7)]
    for path, text in files:
        tape.call("read_file", text, path=path)
    tape.system("The conversation was compacted.")
    for path, text in files:
        tape.call("read_file", text, path=path)
    for path, _ in files:
        tape.call("edit_file", "edited", path=path, old=tape.sentence(3), new=tape.sentence(3))
    yield "seven files twice", None, tape.steps


def measure(draw: random.Random) -> Iterator[Made]:
    """Two settings measured in turn."""
    tape = Tape(draw, 20)
    value = 1
    for _ in range(8):
        other = 3 - value
        tape.call("edit_file", "edited", path="conf.toml", old=f"workers = {value}", new=f"workers = {other}")
        tape.call("shell", f"{draw.randint(900, 1_200)} req/s", command="make bench")
        value = other
        if len(tape.steps) > 8:
            break
    yield "A, B, A, B", None, tape.steps


def frozen(draw: random.Random) -> Iterator[Made]:
    """Polls of what will never change."""
    for answer, pace in (
        ('{"state": "running", "progress": 62}', 10.0),
        ('{"status": "CANCELLED"}', 12.0),
        ("job 88 not found", 3.0),
        ("in_progress", 3.0),
    ):
        tape = Tape(draw, pace)
        onset = tape.look_around()
        for _ in range(70):
            tape.call("job_status", answer, id=88)
        yield f"a poll of {pace} s", onset, tape.steps


def paraphrased(draw: random.Random) -> Iterator[Made]:
    """The same failing or fruitless question in other words."""
    asks = [
        "ferry timetable saltwick",
        "timetable of the saltwick ferry",
        "saltwick ferry times",
        "when does the ferry in saltwick go",
        "ferry saltwick schedule today",
        "saltwick boats timetable",
    ]
    for answer in ("Error: index 'boats' is not available", "No results found."):
        tape = Tape(draw, 6)
        onset = tape.look_around()
        for number in range(40):
            tape.call("search", answer, query=asks[number % 6] + " " * (number % 3))
        yield answer, onset, tape.steps


def rotating_ids(draw: random.Random) -> Iterator[Made]:
    """Failing calls with a new id each time."""
    for variant in range(VARIANTS):
        tape = Tape(draw, 5)
        onset = tape.look_around()
        for _ in range(30):
            nonce = tape.hex(12)
            if variant == 0:
                tape.call(
                    "create_order",
                    f"Error: customer 17 is blocked (request_id={tape.hex(16)})",
                    request_id=nonce,
                    customer=17,
                )
            elif variant == 1:
                tape.call(
                    "shell",
                    f"curl: error 22: invalid token [{nonce}]",
                    command=f"curl -H 'X-Id: {nonce}' https://api.example.test/v1/me",
                )
            else:
                tape.call("query", "10 rows", sql="select * from boats limit 10", request_id=nonce)
        yield "new ids, same outcome", onset, tape.steps


def growing(draw: random.Random) -> Iterator[Made]:
    """Arguments that carry everything said before."""
    tape = Tape(draw, 6)
    onset = tape.look_around()
    context = "Summary so far."
    for number in range(30):
        context += f" Step {number}: the build failed."
        tape.call("fix_build", "Error: linker cannot find -lssl", context=context)
    yield "a growing context, the same failure", onset, tape.steps


def alternating(draw: random.Random) -> Iterator[Made]:
    """Two failing tools in turn, their arguments varied."""
    tape = Tape(draw, 6)
    onset = tape.look_around()
    for _ in range(20):
        tape.call(
            "sql",
            "ERROR: relation boats does not exist",
            query=f"table boats, column {tape.word()}",
        )
        tape.call("api", "403 forbidden", path=f"/v1/{tape.word()}")
    yield "SQL and API in turn", onset, tape.steps


def interleaved(draw: random.Random) -> Iterator[Made]:
    """A failing command between readings of something new; one agent's loop among the work of others."""
    tape = Tape(draw, 6)
    onset = tape.look_around()
    for _ in range(25):
        tape.call("shell", "make: *** [all] Error 2: missing separator", command="make all")
        tape.call("read_file", tape.sentence(25), path=f"src/{tape.hex()}.mk")
    yield "a new file between", onset, tape.steps
    tape = Tape(draw, 3)
    onset = tape.look_around() + 1
    for _ in range(25):
        tape.call("read_file", tape.sentence(25), role="scout", path=f"src/{tape.hex()}.py")
        tape.call("fetch", "200 OK, an empty page", role="fetcher", url="https://news.example.test/today")
        tape.call(
            "edit_file",
            "edited",
            role="coder",
            path=f"src/{tape.hex()}.py",
            old=tape.sentence(3),
            new=tape.sentence(3),
        )
    yield "one of three agents loops", onset, tape.steps


def moment(draw: random.Random) -> str:
    """A time stamp."""
    return f"2031-05-02T10:{draw.randint(10, 59)}:{draw.randint(10, 59)}.{draw.randint(100, 999)}Z"


def noisy(draw: random.Random) -> Iterator[Made]:
    """The same failure in output that is never the same."""
    for variant in range(2):
        tape = Tape(draw, 12)
        onset = tape.look_around()
        for _ in range(25):
            lines = [
                f"{moment(draw)} INFO worker-{draw.randint(1, 9)} compiled {tape.word()}.o"
                f" in {draw.randint(5, 900)} ms at 0x{tape.hex()}"
                for _ in range(draw.randint(6, 14))
            ]
            pid = draw.randint(100, 9_999)
            lines.append(f"{moment(draw)} ERROR ld: symbol boat_open undefined (pid {pid})")
            lines.append(f"build finished after {draw.uniform(3, 9):.2f} s, seed {draw.randint(1, 9999)}")
            tape.call("shell", "\n".join(lines), command="make -j4")
            if variant:
                tape.call("edit_file", "edited", path="Makefile", old="-lboat", new="-lboat ")
        yield "logs around one error", onset, tape.steps


def ping_pong(draw: random.Random) -> Iterator[Made]:
    """Agents that hand on and never do."""
    say = [
        "Over to you.",
        "Thanks, but this is yours.",
        "I believe it belongs to you.",
        "Please take this one.",
        "Not mine, please handle it.",
    ]
    for variant in range(VARIANTS):
        tape = Tape(draw, 8)
        onset = len(tape.steps)
        roles = ["sales", "support", "billing"][: 2 + variant % 2]
        for number in range(40):
            role, other = roles[number % len(roles)], roles[(number + 1) % len(roles)]
            if variant == 0:
                tape.say(draw.choice(say), role=role)
            elif variant == 1:
                tape.call("delegate", "delegated", role=role, to=other, message=draw.choice(say))
            else:
                tape.call(f"transfer_to_{other}", "", role=role)
        yield "work passed round", onset, tape.steps


def critics(draw: random.Random) -> Iterator[Made]:
    """Critique in other words each time, or with a score that goes nowhere."""
    openers = [
        "Still too vague in places",
        "The tone could be warmer",
        "Consider a stronger opening",
        "Needs another pass for rhythm",
        "One more thing: the ending is weak",
        "It should be shorter",
    ]
    tape = Tape(draw, 20)
    onset = len(tape.steps)
    for number in range(25):
        tape.call("write_draft", tape.sentence(30), doc="essay.md")
        tape.call("critique", f"{openers[number % 6]}. {tape.sentence(6)}", doc="essay.md")
    yield "varied wording", onset, tape.steps
    tape = Tape(draw, 20)
    onset = len(tape.steps)
    for _ in range(25):
        tape.call("write_draft", tape.sentence(30), doc="essay.md")
        tape.call("critique", f"Score {draw.choice([6, 7])}/10. {tape.sentence(8)}", doc="essay.md")
    yield "six, seven, six, seven", onset, tape.steps
    tape = Tape(draw, 10)
    onset = len(tape.steps)
    for number in range(25):
        tape.say(f"On reflection, {openers[number % 6].lower()}; let me refine the answer once more.")
    yield "self-critique, said", onset, tape.steps


def malformed(draw: random.Random) -> Iterator[Made]:
    """Output that cannot be parsed, never quite the same."""
    tape = Tape(draw, 6)
    onset = len(tape.steps)
    for _ in range(20):
        tape.say('{"answer": "' + tape.sentence(draw.randint(5, 30)))
        tape.system(f"Invalid JSON: unterminated string at line 1 column {draw.randint(40, 900)}.")
    yield "truncated JSON", onset, tape.steps
    tape = Tape(draw, 6)
    onset = tape.look_around()
    for number in range(20):
        tape.call(
            "parse_table",
            f"ParseError: expected 5 columns but got {draw.randint(1, 4)} in row {draw.randint(1, 99)}",
            text=tape.sentence(30),
            strict=number % 2 == 0,
        )
    yield "a table parsed again", onset, tape.steps


def rewriting(draw: random.Random) -> Iterator[Made]:
    """Files put to and fro."""
    for variant in range(2):
        tape = Tape(draw, 10)
        onset = tape.look_around()
        tabs, blanks = "if x:\n\treturn y", "if x:\n    return y"
        for number in range(20):
            tape.call("write_file", "written", path="src/tide.py", content=(tabs, blanks)[number % 2])
            if variant:
                tape.call(
                    "run_linter",
                    f"error: {('W191 tabs', 'E101 blanks')[number % 2]} ({draw.random():.2f} s)",
                    path="src/tide.py",
                )
                tape.call("read_file", tape.sentence(9), path=f"docs/{tape.hex()}.md")
        yield "tabs and blanks", onset, tape.steps


def sweeps(draw: random.Random) -> Iterator[Made]:
    """A pass over everything that starts over."""
    for variant in range(VARIANTS):
        tape = Tape(draw, 3)
        names = [f"{tape.word()}_{number}" for number in range(25)]
        texts = [tape.sentence(20) for _ in names]
        onset = 1 + len(names)
        for turn in range(3):
            order = list(range(25))
            if variant == 1 and turn:
                order.reverse()
            for number in order:
                if variant == 2:
                    start = number * 100 + 30 * turn
                    tape.call(
                        "read_lines",
                        f"lines {start} to {start + 99}: {tape.sentence(9)}",
                        path="big.log",
                        start_line=start,
                        end_line=start + 99,
                    )
                else:
                    tape.call("read_file", texts[number], path=f"src/{names[number]}.py")
        yield ("in order", "backwards", "with other page borders")[variant], onset, tape.steps


def said_again(draw: random.Random) -> Iterator[Made]:
    """Talk without deeds."""
    says = [
        "I will now look at the list of files.",
        "Let me now look at the list of the files.",
        "Now I will look at the list of files again.",
        "I will look at the file list now.",
    ]
    for variant in range(2):
        tape = Tape(draw, 5)
        onset = tape.look_around()
        for number in range(25):
            tape.say(says[number % 4] if variant else says[0])
            if variant:
                tape.system(draw.choice(["Please go on.", "Continue.", "You have not used a tool yet."]))
        yield "announcements", onset, tape.steps
    tape = Tape(draw, 5)
    onset = tape.look_around()
    tape.say("The figures follow. " + "and so on and so forth, " * 200)
    yield "one reply that loops", onset, tape.steps


def storms(draw: random.Random) -> Iterator[Made]:
    """Retries at machine speed."""
    for error in ("503 service unavailable", "429 too many requests; retry after 20s", "ETIMEDOUT"):
        tape = Tape(draw, 0.5)
        onset = tape.look_around()
        for _ in range(60):
            tape.call("http_post", error, url="https://api.example.test/v1/pay", body={"amount": 12})
        yield error, onset, tape.steps


def noops(draw: random.Random) -> Iterator[Made]:
    """Calls that do nothing, under other names."""
    tape = Tape(draw, 5)
    onset = tape.look_around()
    for number in range(30):
        tape.call("bash", "ok", description=f"Check {tape.word()} {number}", command="echo ok")
    yield "other descriptions", onset, tape.steps
    tape = Tape(draw, 5)
    onset = tape.look_around()
    for number in range(40):
        tape.call("list_dir", "a.py b.py c.py", path="src")
        tape.call("git_status", "nothing to commit", path=".")
        if number % 3 == 0:
            tape.call("list_dir", "x.md", path="docs")
    yield "looks around in irregular order", onset, tape.steps


def in_vain(draw: random.Random) -> Iterator[Made]:
    """Calls that change nothing, whatever they are given."""
    tape = Tape(draw, 6)
    onset = tape.look_around()
    for _ in range(30):
        old = tape.sentence(4)
        told = f"No replacement was performed, old_str `{old}` did not appear verbatim in a.py."
        tape.call("str_replace", told, path="a.py", old_str=old, new_str=tape.sentence(4))
    yield "guessed anchors", onset, tape.steps
    tape = Tape(draw, 6)
    onset = tape.look_around()
    for number in range(20):
        told = f"File exists: report_{number}.md"
        tape.call("create_file", told, path=f"report_{number}.md", content=tape.sentence(8))
    yield "files that are there", onset, tape.steps
    tape = Tape(draw, 4)
    onset = tape.look_around()
    for _ in range(30):
        tape.call("browser_click", "clicked", selector="#submit")
        tape.call("browser_snapshot", "Form: please fill in the e-mail address")
    yield "a button without effect", onset, tape.steps
    tape = Tape(draw, 20)
    onset = tape.look_around()
    for _ in range(20):
        tape.call("edit_file", "edited", path="a.py", old=tape.sentence(3), new=tape.sentence(3))
        told = f"FAILED test_a.py::test_sum - assert 3 == 4\n1 failed, 11 passed in {draw.random():.2f}s"
        tape.call("run_tests", told, target="tests")
    yield "edits that never help", onset, tape.steps


def same_answer(draw: random.Random) -> Iterator[Made]:
    """Other questions, one answer."""
    tape = Tape(draw, 6)
    onset = tape.look_around()
    for _ in range(40):
        told = f"1. Ferry, Wikipedia. 2. Boats of Saltwick. 3. Tides. ({draw.random():.2f} s)"
        tape.call("web_search", told, query=f"ferry saltwick {tape.word()} {tape.word()}")
    yield "a search worded anew", onset, tape.steps
    tape = Tape(draw, 3)
    onset = tape.look_around()
    for page in range(1, 31):
        tape.call("get_page", '{"items":[],"next":null}', page=page)
    yield "pages past the end", onset, tape.steps


def goodbyes(draw: random.Random) -> Iterator[Made]:
    """Two agents that cannot stop being polite, two that echo, and a plan that cannot be carried out."""
    says = [
        *(
            "Thank you so much, have a great day!",
            "You are very welcome! Goodbye!",
            "Goodbye, and take care!",
        ),
        *("Bye for now! It was a pleasure!", "The pleasure was mine, see you!"),
    ]
    tape = Tape(draw, 5)
    for _ in range(20):
        tape.say(draw.choice(says), role="alice")
        tape.say(draw.choice(says), role="bob")
    yield "farewells", 1, tape.steps
    tape = Tape(draw, 6)
    for number in range(25):
        plan = f"Please carry out step {number % 3}."
        tape.call("handoff", "ok", role="planner", to="executor", message=plan)
        tape.call(
            "handoff", "ok", role="executor", to="planner", message="I cannot do that, please plan again."
        )
    yield "a plan that cannot be carried out", 1, tape.steps


def computer_use(draw: random.Random) -> Iterator[Made]:
    """Mouse and keys, each answered by a picture."""
    tape = Tape(draw, 3)
    for _ in range(15):
        tape.call("mouse_move", "ok", x=draw.randint(0, 900), y=draw.randint(0, 500))
        tape.call("left_click", "ok")
        tape.call("screenshot", "[image]")
    yield "move, click, look", None, tape.steps
    tape = Tape(draw, 3)
    for _ in range(12):
        tape.call("computer", "[image]", action="key", text="Tab")
    yield "twelve tabs", None, tape.steps


def suites(draw: random.Random) -> Iterator[Made]:
    """The same checks after each change, and the same look after each commit."""
    tape = Tape(draw, 5)
    for _ in range(4):
        for number in range(12):
            tape.call("run_test", "passed", target=f"test_{number}")
        tape.call("edit_file", "edited", path="x.py", old=tape.sentence(3), new=tape.sentence(3))
    yield "twelve tests after each edit", None, tape.steps
    tape = Tape(draw, 5)
    for number in range(10):
        tape.call("git_add", "", path=f"{number}.py")
        tape.call("git_commit", f"[main {tape.hex(7)}] done", message=tape.sentence(4))
        tape.call("git_status", "nothing to commit, working tree clean")
    yield "commits", None, tape.steps


def lookups(draw: random.Random) -> Iterator[Made]:
    """Questions to which no is an answer."""
    tape = Tape(draw, 4)
    for number in range(12):
        tape.call("find_user", "not found", name=f"{tape.word()} {tape.word()}{number}")
    yield "twelve missing users", None, tape.steps
    tape = Tape(draw, 6)
    for number in range(30):
        if number % 3:
            tape.call("grep", "No matches found", pattern=f"{tape.word()}{number}")
        else:
            tape.call("read_file", tape.sentence(20), path=f"{number}.py")
    yield "searches without hits, readings between", None, tape.steps


def workers_report(draw: random.Random) -> Iterator[Made]:
    """Workers that tell their lead the same, each after its own work."""
    tape = Tape(draw, 4)
    for number in range(12):
        tape.call("read_file", tape.sentence(20), role=f"worker{number % 5}", path=f"{number}.md")
        tape.call("send_message", "Done.", role=f"worker{number % 5}", to="lead")
    yield "done, done, done", None, tape.steps


LEGIT: tuple[Maker, ...] = (
    *(poll_bar, ci_wait, pages, wizard, backoff_ok, server_up, test_fix, hard_bug, green_refactor, batch),
    *(link_check, lint_report, repl, map_reduce, best_of, games, chat, burst, watch_for_ever, handoff_works),
    *(haggle, critique_works, reminders, think, reread, measure),
    *(computer_use, suites, lookups, workers_report),
)
LOOPS: tuple[Maker, ...] = (
    *(frozen, paraphrased, rotating_ids, growing, alternating, interleaved, noisy, ping_pong, critics),
    *(malformed, rewriting, sweeps, said_again, storms, noops),
    *(in_vain, same_answer, goodbyes),
)


def traces() -> Iterator[dict[str, Any]]:
    """Every run, the same ones each time."""
    return labelled((*LEGIT, *LOOPS))


def labelled(makers: Iterable[Maker]) -> Iterator[dict[str, Any]]:
    """The runs of families, as a corpus has them."""
    for make in makers:
        family = make.__name__
        for number, (note, onset, steps) in enumerate(make(random.Random(family)), 1):
            label = "legit" if onset is None else "loop"
            yield {
                "id": f"{'TG' if onset is None else 'TL'}-{family}-{number:02}",
                "label": label,
                "flavour": family,
                "source": "made by rule",
                "note": note,
                "onset_step": onset,
                "n_steps": len(steps),
                "steps": steps,
            }


def write(name: str, runs: Iterable[dict[str, Any]]) -> None:
    """Write a file of the corpus, the same bytes each time."""
    target = Path(__file__).resolve().parents[1] / "corpus" / name
    lines = [json.dumps(run, ensure_ascii=False) for run in runs]
    packed = gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0)
    target.write_bytes(packed)
    print(f"{target.name}: {len(lines)} runs, {len(packed):,} bytes")


if __name__ == "__main__":
    write("traces_added.jsonl.gz", traces())
