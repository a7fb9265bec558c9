"""Write corpus/traces_unseen.jsonl.gz: agent runs that were written before anybody looked at the rules.

They tell whether `loopwatch.steps` has learnt the shapes or the cases: each family that `make_traces.py`
has is told anew, with other tools, words and paces, beside families that it lacks. What the rules made of
them when they were first read is in docs/explanation/steps.md.
"""

import random
from collections.abc import Iterator
from typing import Any

from tools.make_traces import Made, Maker, Tape, labelled, write


def deploy_watch(draw: random.Random) -> Iterator[Made]:
    """A deployment whose pods come up one by one, with long plateaus."""
    for variant, total in enumerate((6, 10)):
        tape = Tape(draw, 6 + 6 * variant)
        ready = 0
        while ready < total:
            for _ in range(draw.randint(1, 5)):
                tape.call(
                    "kubectl",
                    f"NAME   READY   UP-TO-DATE   AGE\nweb    {ready}/{total}    {total}    {int(tape.t)}s",
                    verb="get",
                    what="deployment/web",
                )
            ready += 1
        tape.call("kubectl", 'deployment "web" successfully rolled out', verb="rollout", what="status web")
        tape.say("The new version is live.")
        yield "plateaus of one to five polls", None, tape.steps


def log_tail(draw: random.Random) -> Iterator[Made]:
    """The end of a log that grows, read again and again."""
    tape = Tape(draw, 8)
    lines = [f"epoch 0 loss {draw.uniform(3, 4):.3f}"]
    for epoch in range(1, 26):
        tape.call("bash", "\n".join(lines[-5:]), command="tail -n 5 train.log")
        if epoch % 3:
            lines.append(f"epoch {epoch} loss {3 / epoch + draw.uniform(0, 0.2):.3f}")
    tape.say("The loss has settled.")
    yield "a training log, at times unchanged", None, tape.steps


def ci_patience(draw: random.Random) -> Iterator[Made]:
    """A pipeline that queues for a quarter of an hour before it does anything."""
    for count, pace in ((15, 60.0), (22, 30.0)):
        tape = Tape(draw, pace)
        tape.call("git_push", "To origin\n   1a2b3c..4d5e6f  feature -> feature", branch="feature")
        for _ in range(count):
            tape.call("get_workflow_run", '{"status":"queued","conclusion":null}', run_id=991_882)
        for _ in range(6):
            tape.call("get_workflow_run", '{"status":"in_progress","conclusion":null}', run_id=991_882)
        tape.call("get_workflow_run", '{"status":"completed","conclusion":"success"}', run_id=991_882)
        tape.say("Green.")
        yield f"queued {count} times, a question every {pace:.0f} s", None, tape.steps


def quick_poll(draw: random.Random) -> Iterator[Made]:
    """A short job asked after a few times within seconds, then done."""
    for count in (4, 6):
        tape = Tape(draw, 2)
        job = tape.hex()
        tape.call("start_export", f'{{"job":"{job}"}}', table="orders")
        for _ in range(count):
            tape.call("export_state", '{"state":"RUNNING"}', job=job)
        tape.call("export_state", '{"state":"SUCCEEDED","rows":120443}', job=job)
        tape.call("download", "orders.parquet, 18 MB", job=job)
        tape.say("Exported.")
        yield f"{count} times RUNNING, two seconds apart", None, tape.steps


def cursor_pages(draw: random.Random) -> Iterator[Made]:
    """Pages whose cursor is opaque, and whose last ones are empty of news."""
    tape = Tape(draw, 2)
    cursor = ""
    for page in range(24):
        following = tape.hex(16)
        names = ", ".join(f"{tape.word()}-{draw.randint(1, 9_999)}" for _ in range(5))
        tape.call("crm_contacts", f'{{"items":["{names}"],"next":"{following}"}}', after=cursor, limit=5)
        cursor = following if page < 23 else ""
    tape.say("One hundred and twenty contacts.")
    yield "opaque cursors", None, tape.steps
    tape = Tape(draw, 1)
    for offset in range(0, 3_000, 100):
        tape.call("sql", "(100 rows)", query=f"from events select id order by id limit 100 offset {offset}")
    tape.say("Three thousand ids.")
    yield "offsets, the answer always (100 rows)", None, tape.steps
    tape = Tape(draw, 3)
    for _ in range(14):
        tape.call("scroll", "scrolled 600 px", direction="down")
        tape.call("read_screen", tape.sentence(25))
    tape.say("That was the whole article.")
    yield "scroll and read", None, tape.steps


def patient_retry(draw: random.Random) -> Iterator[Made]:
    """Failures that pass: limits, locks, a service that starts."""
    for error, count, pace, growth in (
        ("HTTP 503 Service Unavailable", 5, 2.0, 2.0),
        ("could not get lock /var/lib/dpkg/lock-frontend. It is held by process 4411", 8, 10.0, 1.0),
        ("429: rate limit exceeded, retry in 20s", 4, 20.0, 1.0),
        ("pg_isready: no response", 6, 3.0, 1.3),
    ):
        tape = Tape(draw, 4)
        tape.look_around(3)
        wait = pace
        for _ in range(count):
            tape.call("exec", error, pace=wait, cmd="./provision.sh")
            wait *= growth
        tape.call("exec", "provisioned in 3 s", cmd="./provision.sh")
        tape.look_around(3)
        tape.say("It is done.")
        yield f"{count} times {error[:20]}", None, tape.steps


def other_arguments(draw: random.Random) -> Iterator[Made]:
    """Attempts that fail alike until the arguments are right."""
    tape = Tape(draw, 5)
    for path in ("config.yaml", "conf/config.yaml", "etc/config.yaml", "app/config.yaml", "settings.yaml"):
        tape.call("open_file", f"ENOENT: no such file or directory, open '{path}'", path=path)
    tape.call("open_file", "port: 8080", path="app/settings.yaml")
    tape.say("The port is 8080.")
    yield "five wrong places, then the right one", None, tape.steps
    tape = Tape(draw, 6)
    for flag in ("--legacy", "--legacy-peer-deps", "--force", "--no-audit --force"):
        tape.call("bash", "npm ERR! ERESOLVE unable to resolve dependency tree", command=f"npm ci {flag}")
    tape.call("bash", "added 812 packages in 12s", command="npm install --legacy-peer-deps")
    tape.call("bash", "build finished", command="npm run build")
    yield "flags, then it installs", None, tape.steps
    tape = Tape(draw, 4)
    for number in range(7):
        tape.call("regex_test", "no match", pattern=f"^({tape.word()}|\\d{{{number}}})+$", text="a-17")
    tape.call("regex_test", "match: 17", pattern="(\\d+)$", text="a-17")
    yield "a pattern found at the eighth try", None, tape.steps


def red_to_green(draw: random.Random) -> Iterator[Made]:
    """Compile, test and mend, with other errors as one goes on."""
    errors = ("E0382: use of moved value", "E0499: cannot borrow twice", "E0308: mismatched types")
    tape = Tape(draw, 15)
    for error in errors:
        for attempt in range(3):
            line = draw.randint(10, 300)
            tape.call("cargo", f"error[{error}] --> src/pool.rs:{line}", sub="check")
            if attempt < 2:
                tape.call("str_replace", "ok", path="src/pool.rs", old=tape.sentence(4), new=tape.sentence(4))
        tape.call("str_replace", "ok", path="src/pool.rs", old=tape.sentence(4), new=tape.sentence(4))
    tape.call("cargo", "Finished dev profile in 2.31s", sub="check")
    tape.call("cargo", "test result: ok. 18 passed; 0 failed", sub="test")
    yield "three errors, three attempts each", None, tape.steps
    tape = Tape(draw, 30)
    coverage = 61
    while coverage < 90:
        tape.call(
            "write_test", "written", path=f"tests/test_{tape.word()}_{coverage}.py", body=tape.sentence()
        )
        tape.call("pytest", f"TOTAL coverage {coverage}%\n{draw.randint(80, 99)} passed", args="--cov")
        coverage += draw.randint(0, 4)
    yield "coverage that grows", None, tape.steps
    tape = Tape(draw, 12)
    for left in (41, 41, 38, 38, 30, 22, 22, 22, 11, 3, 0):
        tape.call("tsc", f"Found {left} errors in {max(1, left // 3)} files.", project="tsconfig.json")
        tape.call(
            "apply_patch", "Success. Updated the following files:\nM src/app.ts", patch=tape.sentence(9)
        )
    yield "fewer type errors, with plateaus", None, tape.steps


def per_file(draw: random.Random) -> Iterator[Made]:
    """The same few steps over many files."""
    tape = Tape(draw, 2)
    for number in range(22):
        path = f"locales/{tape.word()}_{number}.json"
        tape.call("read", '{"title": "Title"}', path=path)
        tape.call("write", "ok", path=path, content='{"title": "Titel"}')
        tape.call("validate", "valid", path=path)
    yield "read, write, validate, twenty-two times", None, tape.steps
    tape = Tape(draw, 1)
    for number in range(60):
        tape.call("resize", "done", image=f"IMG_{4_000 + number}.JPG", width=800)
    yield "sixty pictures", None, tape.steps
    tape = Tape(draw, 3)
    for number in range(20):
        ok = number % 4 != 1
        tape.call(
            "send_invoice",
            "sent" if ok else "Error: mailbox of this customer is unknown",
            customer=1_000 + number * 7,
        )
    tape.say("Fifteen sent, five without a mailbox.")
    yield "some invoices fail alike", None, tape.steps
    tape = Tape(draw, 2)
    for number in range(9):
        tape.call("unzip", "Error: file is encrypted", archive=f"box_{number}.zip")
    tape.say("All nine are encrypted: I need the password.")
    yield "nine encrypted archives, each another", None, tape.steps


def wished_bursts(draw: random.Random) -> Iterator[Made]:
    """What the user wants again and again."""
    tape = Tape(draw, 2)
    for _ in range(14):
        tape.user("again")
        tape.call("flip_coin", draw.choice(["heads", "tails"]))
        tape.say("There.")
    yield "a coin, again", None, tape.steps
    tape = Tape(draw, 2)
    tape.user("Ping the printer twelve times, I am at the cable.")
    for _ in range(8):
        tape.call("ping", "request timed out", host="printer")
    for _ in range(4):
        tape.call("ping", "reply in 3 ms", host="printer")
    tape.say("It answers since the ninth.")
    yield "pings somebody asked for", None, tape.steps
    tape = Tape(draw, 3)
    for _ in range(10):
        tape.user("And now?")
        tape.call("order_status", "in transit", order=5_531)
        tape.say("Still in transit.")
    yield "an impatient customer", None, tape.steps


def long_watch(draw: random.Random) -> Iterator[Made]:
    """Monitoring for half a day: nearly always nothing."""
    for variant, (count, pace) in enumerate(((60, 300.0), (35, 120.0))):
        tape = Tape(draw, pace)
        for number in range(count):
            calm = variant == 0 or number % 9 != 4
            tape.call("probe", "200 OK" if calm else "502 Bad Gateway", url="https://shop.example.test")
        tape.say("The shop was up.")
        yield f"{count} probes, one every {pace:.0f} s", None, tape.steps


def small_talk(draw: random.Random) -> Iterator[Made]:
    """People who thank a bot, and a bot that is polite."""
    tape = Tape(draw, 4)
    for _ in range(16):
        tape.user(draw.choice(["thanks", "thank you", "thanks!", "ok", "great, thanks"]))
        tape.say(draw.choice(["You're welcome!", "You're welcome!", "Any time!"]))
    yield "thanks, sixteen times", None, tape.steps
    tape = Tape(draw, 4)
    for _ in range(9):
        tape.user(tape.sentence(6))
        tape.say("I am sorry, I can only help with questions about your booking.")
    yield "a refusal each time, to another question", None, tape.steps
    tape = Tape(draw, 3)
    for _ in range(8):
        tape.user("?")
        tape.say("Could you tell me your booking number?")
    yield "the same request of a user who does not answer it", None, tape.steps


def play(draw: random.Random) -> Iterator[Made]:
    """Games and simulations with few moves and few answers."""
    tape = Tape(draw, 1)
    for _ in range(45):
        tape.call(
            "step", f"reward {draw.choice([0, 0, 0, 1])}", action=draw.choice(["left", "right", "noop"])
        )
    yield "an environment with three actions", None, tape.steps
    tape = Tape(draw, 1)
    for tick in range(1, 50):
        tape.call(
            "advance", f"tick {tick}: {draw.randint(10, 40)} sheep, {draw.randint(2, 9)} wolves", ticks=1
        )
    yield "a simulation ticks", None, tape.steps
    tape = Tape(draw, 3)
    for _ in range(25):
        tape.call(
            "fold_or_call", draw.choice(["lost 2", "won 4", "folded"]), role="p1", act=draw.choice("fc")
        )
        tape.call(
            "fold_or_call", draw.choice(["lost 2", "won 4", "folded"]), role="p2", act=draw.choice("fc")
        )
        tape.call("deal", "dealt", role="dealer")
    yield "three at cards", None, tape.steps
    tape = Tape(draw, 2)
    for _ in range(20):
        tape.call("guess", draw.choice(["higher", "lower"]), number=draw.randint(1, 1_000_000))
    tape.call("guess", "correct", number=71_233)
    yield "higher, lower", None, tape.steps


def chunks(draw: random.Random) -> Iterator[Made]:
    """Map and reduce over the parts of one document."""
    tape = Tape(draw, 4)
    for part in range(30):
        tape.call("summarise", tape.sentence(18), document="contract.pdf", part=part)
    tape.call("combine", tape.sentence(40), parts=30)
    yield "thirty parts", None, tape.steps
    tape = Tape(draw, 2)
    for part in range(26):
        tape.call("extract_dates", "[]", chunk_id=f"c{part}")
    tape.say("The contract names no date.")
    yield "nothing in any part", None, tape.steps
    tape = Tape(draw, 2)
    for part in range(12):
        tape.call("embed", "stored", role=f"mapper-{part % 4}", text=tape.sentence(20))
        tape.call("ack", "ok", role="reducer")
    yield "mappers and a reducer that nods", None, tape.steps


def lines_translated(draw: random.Random) -> Iterator[Made]:
    """Lines that are alike, translated one by one."""
    tape = Tape(draw, 2)
    for number in range(40):
        word = draw.choice(["Save", "Cancel", "Open", "Close"])
        tape.call(
            "translate",
            {"Save": "Speichern", "Cancel": "Abbrechen", "Open": "Öffnen"}.get(word, "Schließen"),
            key=f"button.{tape.word()}.{number}",
            text=word,
        )
    yield "buttons", None, tape.steps
    tape = Tape(draw, 3)
    for number in range(1, 30):
        tape.say(f"Zeile {number}: Bitte geben Sie den Wert für {tape.word()} ein.")
    yield "said, line by line", None, tape.steps


def read_again(draw: random.Random) -> Iterator[Made]:
    """A file that is read after every change to it."""
    for variant in range(2):
        tape = Tape(draw, 7)
        for _ in range(9):
            tape.call("view", tape.sentence(60), path="src/engine.ts")
            for _ in range(1 + variant):
                tape.call(
                    "replace",
                    "The file has been edited.",
                    path="src/engine.ts",
                    old=tape.sentence(3),
                    new=tape.sentence(3),
                )
        tape.say("Refactored.")
        yield "view and replace", None, tape.steps


def to_do_list(draw: random.Random) -> Iterator[Made]:
    """A plan that is ticked off, its tool always answering the same."""
    tape = Tape(draw, 3)
    items = [tape.sentence(4) for _ in range(12)]
    for done in range(13):
        marks = [{"what": what, "done": number < done} for number, what in enumerate(items)]
        tape.call("todo_write", "Todos have been modified successfully.", todos=marks)
        tape.call("edit", "ok", path=f"src/{tape.word()}_{done}.go", new=tape.sentence(5))
        tape.call("bash", "ok  \texample/pkg\t0.412s", command="go test ./...")
    yield "ticked off", None, tape.steps


def roll_back(draw: random.Random) -> Iterator[Made]:
    """A bisection: checked out, built, tested, and judged."""
    tape = Tape(draw, 20)
    for _ in range(11):
        good = draw.random() < 0.5
        tape.call("bash", f"HEAD is now at {tape.hex(7)}", command=f"git checkout {tape.hex(7)}")
        tape.call("bash", "build ok", command="make")
        tape.call("bash", "PASS" if good else "FAIL: test_seek", command="make check")
        tape.call(
            "bash",
            f"Bisecting: {draw.randint(1, 90)} revisions left",
            command="git bisect " + ("good" if good else "bad"),
        )
    yield "git bisect", None, tape.steps


def desk(draw: random.Random) -> Iterator[Made]:
    """A service desk: a triage agent and experts that pass many tickets on."""
    tape = Tape(draw, 5)
    for ticket in range(15):
        tape.call("transfer_to_billing", "transferred", role="triage", ticket=ticket)
        tape.call("lookup_invoice", f"invoice {draw.randint(100, 999)}: paid", role="billing", ticket=ticket)
        tape.call("transfer_to_triage", "transferred", role="billing", ticket=ticket)
    yield "fifteen tickets, to billing and back", None, tape.steps
    tape = Tape(draw, 8)
    for _ in range(6):
        tape.say(f"Please check this section: {tape.sentence(20)}", role="author")
        tape.say(f"Mostly fine. {tape.sentence(15)}", role="checker")
    tape.say("Approved as it is.", role="checker")
    yield "section after section", None, tape.steps


def opaque_work(draw: random.Random) -> Iterator[Made]:
    """Tools without names, working a list off."""
    tape = Tape(draw, 3)
    for number in range(25):
        tape.call("fn_12", "0", a=number, b=f"{tape.word()}{number}")
    yield "another argument each time", None, tape.steps
    tape = Tape(draw, 4)
    for _ in range(14):
        tape.call("mcp__x1__op3", tape.hex(16), q="next")
    yield "another result each time", None, tape.steps


def empty_inbox(draw: random.Random) -> Iterator[Made]:
    """A worker that takes from a queue that is now full, now empty."""
    tape = Tape(draw, 20)
    for number in range(40):
        if number % 5 == 2:
            tape.call("take_job", f"job {number}: {tape.sentence(5)}")
            tape.call("finish_job", "ok", job=number, output=tape.sentence(8))
        else:
            tape.call("take_job", "no job")
    yield "a job in every fifth", None, tape.steps


# Loops.


def pending_for_ever(draw: random.Random) -> Iterator[Made]:
    """Calls whose results never come."""
    tape = Tape(draw, 5)
    onset = tape.look_around()
    for _ in range(30):
        tape.call("fetch_invoice", "", number="A-5531")
    yield "the same call, no result", onset, tape.steps
    tape = Tape(draw, 5)
    onset = tape.look_around()
    for number in range(30):
        tape.call("delegate", "pending", to="researcher", request_id=tape.hex(), attempt=number)
    yield "pending, attempt by attempt", onset, tape.steps


def stuck_edit(draw: random.Random) -> Iterator[Made]:
    """The same edit that cannot be applied."""
    for variant in range(2):
        tape = Tape(draw, 6)
        onset = tape.look_around(5)
        for _ in range(20):
            if variant:
                tape.call("view", "def total(items):\n    return sum(items)", path="shop/cart.py")
            tape.call(
                "str_replace",
                "No replacement was performed, old_str did not appear verbatim in shop/cart.py.",
                path="shop/cart.py",
                old="def totals(items):",
                new="def totals(rows):",
            )
        yield "an anchor that is not there" + (", viewed between" if variant else ""), onset, tape.steps


def any_argument(draw: random.Random) -> Iterator[Made]:
    """Whatever is asked, the same error."""
    for error in (
        "PermissionError: [Errno 13] Permission denied",
        '{"error":{"code":403,"message":"Request had insufficient authentication scopes."}}',
        "psycopg.errors.UndefinedTable: relation does not exist",
    ):
        tape = Tape(draw, 5)
        onset = tape.look_around()
        for number in range(24):
            tape.call(
                "run_sql" if "psycopg" in error else "api",
                error,
                statement=f"{tape.sentence(5)} /* {number} */",
            )
        yield error[:30], onset, tape.steps


def rounds(draw: random.Random) -> Iterator[Made]:
    """Two to five calls in a ring."""
    for size in (2, 3, 4, 5):
        tape = Tape(draw, 4)
        onset = tape.look_around()
        ring = [(f"tool_{draw.choice('abcdefgh')}{place}", tape.sentence(8)) for place in range(size)]
        for _ in range(14):
            for name, answer in ring:
                tape.call(name, answer, target="billing")
        yield f"{size} calls", onset, tape.steps


def passing_on(draw: random.Random) -> Iterator[Made]:
    """Agents that hand the same thing to each other."""
    tape = Tape(draw, 5)
    onset = tape.look_around(3)
    for _ in range(16):
        tape.call("transfer_to_sales", "transferred", role="support", reason="pricing question")
        tape.call("transfer_to_support", "transferred", role="sales", reason="technical question")
    yield "sales and support", onset, tape.steps
    tape = Tape(draw, 6)
    onset = tape.look_around(3)
    for _ in range(14):
        tape.say("I think the planner should decide on this.", role="coder")
        tape.say("This is for the reviewer to decide.", role="planner")
        tape.say("The coder knows best, over to the coder.", role="reviewer")
    yield "three who let each other decide", onset, tape.steps


def never_good(draw: random.Random) -> Iterator[Made]:
    """Reviews without end, worded alike or not."""
    tape = Tape(draw, 20)
    onset = tape.look_around(3)
    for _ in range(20):
        tape.call("submit_draft", "submitted", role="writer", text=tape.sentence(30))
        tape.call("judge", "Not good enough: tone is too formal. Please revise.", role="judge")
    yield "always too formal", onset, tape.steps
    tape = Tape(draw, 15)
    onset = tape.look_around(3)
    for number in range(24):
        score = draw.choice([6, 7, 7, 6])
        tape.call("refine", "refined", section="intro", version=number)
        tape.call("evaluate", f'{{"score": {score}, "verdict": "needs improvement"}}', section="intro")
    yield "six or seven of ten", onset, tape.steps


def unparsable(draw: random.Random) -> Iterator[Made]:
    """Output that is parsed, found broken and asked for again."""
    tape = Tape(draw, 5)
    onset = tape.look_around(3)
    for _ in range(18):
        tape.say('{"answer": "' + tape.sentence(6))
        tape.system("Your answer was not valid JSON: Unterminated string. Answer with valid JSON only.")
    yield "unterminated", onset, tape.steps
    tape = Tape(draw, 5)
    onset = tape.look_around(3)
    for number in range(20):
        tape.call(
            "final_answer",
            f"ValidationError: 1 validation error for Plan\nsteps.{number % 3}.due\n"
            "  Field required [type=missing]",
            payload='{"steps": [{"what": "' + tape.word() + '"}]}',
        )
    yield "a field that is required", onset, tape.steps


def to_and_fro(draw: random.Random) -> Iterator[Made]:
    """A file written one way and back, with and without tests between."""
    for variant in range(3):
        tape = Tape(draw, 6)
        onset = tape.look_around()
        bodies = ["import fast_json as json\n", "import json\n"]
        for number in range(24):
            if variant == 2:
                tape.call(
                    "str_replace", "ok", path="api.py", old=bodies[number % 2], new=bodies[1 - number % 2]
                )
            else:
                tape.call("write_file", "ok", path="api.py", content=bodies[number % 2] + "x = 1\n" * 20)
            if variant == 1:
                tape.call("bash", f"1 failed, 11 passed in {draw.uniform(1, 2):.2f}s", command="pytest -q")
        yield ("no tests between", "tests between", "edits there and back")[variant], onset, tape.steps


def once_more(draw: random.Random) -> Iterator[Made]:
    """A sweep that comes to its end and starts over."""
    for size in (8, 15):
        tape = Tape(draw, 3)
        onset = tape.look_around(3)
        files = [(f"docs/{tape.word()}_{number}.md", tape.sentence(25)) for number in range(size)]
        for _ in range(5):
            for path, text in files:
                tape.call("read_document", text, path=path)
        yield f"{size} documents, five times", onset, tape.steps


def loud_failure(draw: random.Random) -> Iterator[Made]:
    """One failure among output that is never the same."""
    for variant in range(2):
        tape = Tape(draw, 12)
        onset = tape.look_around()
        for _ in range(22):
            noise = "\n".join(
                f"[{draw.randint(10, 23)}:{draw.randint(10, 59)}:{draw.randint(10, 59)}] GET /{tape.word()} "
                f"{draw.uniform(0.1, 9):.1f}ms"
                for _ in range(draw.randint(4, 9))
            )
            if variant:
                tape.call("edit", "ok", path="src/pay.kt", old=tape.sentence(3), new=tape.sentence(3))
            tape.call(
                "bash",
                f"{noise}\nFAILURE: Build failed with an exception.\n* What went wrong:\n"
                f"Could not resolve com.acme:pay:2.1 (took {draw.uniform(1, 9):.2f} s)",
                command="./gradlew build",
            )
        yield "gradle" + (", edited between" if variant else ""), onset, tape.steps


def talks(draw: random.Random) -> Iterator[Made]:
    """Text that comes again, with and without somebody to hear it."""
    tape = Tape(draw, 4)
    onset = tape.look_around(3)
    for _ in range(16):
        tape.say("I will now look at the configuration and then fix the remaining issue.")
    yield "an announcement", onset, tape.steps
    tape = Tape(draw, 4)
    onset = tape.look_around(3)
    for _ in range(16):
        tape.say("Let me continue. " + tape.sentence(2))
        tape.system("You did not call a tool. Call a tool, or finish.")
    yield "no tool is called", onset, tape.steps


def frozen_status(draw: random.Random) -> Iterator[Made]:
    """What is polled will never change, as it says or as one sees."""
    for answer, pace in (
        ('{"state":"FAILED","reason":"quota"}', 8.0),
        ("Approval: waiting for manager", 4.0),
        ('{"state":"RUNNING","percent":37}', 5.0),
    ):
        tape = Tape(draw, pace)
        onset = tape.look_around()
        for _ in range(80):
            tape.call(
                "task_state",
                answer[:-1] + f', "checked_at": {1_790_000_000 + int(tape.t)}}}'
                if answer.startswith("{")
                else answer,
                task="t-91",
            )
        yield f"{answer[:20]}, every {pace:.0f} s", onset, tape.steps


def hammered(draw: random.Random) -> Iterator[Made]:
    """Retries without a pause."""
    for error in ("429 Too Many Requests", "upstream connect error or disconnect/reset before headers"):
        tape = Tape(draw, 0.4)
        onset = tape.look_around()
        for _ in range(60):
            tape.call(
                "charge_card", f"{error} [trace {tape.hex(16)}]", idempotency_key=tape.hex(), amount=4_200
            )
        yield error[:22], onset, tape.steps


def opaque_loop(draw: random.Random) -> Iterator[Made]:
    """Tools without names that get nowhere."""
    tape = Tape(draw, 4)
    onset = tape.look_around()
    for _ in range(25):
        tape.call("fn_12", "-1", a=4, b="x")
    yield "the same number", onset, tape.steps
    tape = Tape(draw, 4)
    onset = tape.look_around()
    for _ in range(12):
        tape.call("mcp__x1__op3", "E7", q="k")
        tape.call("mcp__x1__op9", "E7", q="k", r=1)
    yield "two in turn", onset, tape.steps
    tape = Tape(draw, 4)
    onset = tape.look_around()
    for _ in range(25):
        tape.call("f", "error E1042", v=tape.sentence(3))
    yield "other arguments, one code", onset, tape.steps


def nothing_found(draw: random.Random) -> Iterator[Made]:
    """A question asked in other words that has no answer."""
    tape = Tape(draw, 4)
    onset = tape.look_around()
    names = ["auth middleware", "middleware auth", "the auth middleware", "authMiddleware", "auth_middleware"]
    for number in range(30):
        tape.call("code_search", "0 results", query=names[number % 5])
    yield "five wordings", onset, tape.steps


def one_of_many(draw: random.Random) -> Iterator[Made]:
    """One agent of several goes in circles while the others work."""
    tape = Tape(draw, 3)
    onset = tape.look_around(3)
    for number in range(22):
        tape.call(
            "browse", "Access denied. Please enable cookies.", role="scout", url="https://data.example.test"
        )
        tape.call("write_section", "saved", role="writer", number=number, text=tape.sentence(12))
    yield "the scout is stuck", onset, tape.steps


def apology(draw: random.Random) -> Iterator[Made]:
    """The same command, with an apology worded anew each time."""
    tape = Tape(draw, 6)
    onset = tape.look_around()
    for _ in range(14):
        tape.say(f"You are right, I am sorry. {tape.sentence(8)}")
        tape.call("bash", "bash: frobnicate: command not found", command="frobnicate --all")
    yield "sorry, once more", onset, tape.steps


LEGIT: tuple[Maker, ...] = (
    *(deploy_watch, log_tail, ci_patience, quick_poll, cursor_pages, patient_retry, other_arguments),
    *(red_to_green, per_file, wished_bursts, long_watch, small_talk, play, chunks, lines_translated),
    *(read_again, to_do_list, roll_back, desk, opaque_work, empty_inbox),
)
LOOPS: tuple[Maker, ...] = (
    *(pending_for_ever, stuck_edit, any_argument, rounds, passing_on, never_good, unparsable, to_and_fro),
    *(once_more, loud_failure, talks, frozen_status, hammered, opaque_loop, nothing_found, one_of_many),
    *(apology,),
)


def traces() -> Iterator[dict[str, Any]]:
    """Every run, the same ones each time."""
    return labelled((*LEGIT, *LOOPS))


if __name__ == "__main__":
    write("traces_unseen.jsonl.gz", traces())
