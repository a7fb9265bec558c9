"""Rules about what agents say to each other, to the harness and about each other's work."""

from tests.steps.runs import call, rule, say, verdict


def test_courtesies_passed_to_and_fro_are_a_loop() -> None:
    said = ["Understood. Standing by.", "Noted, thank you.", "Acknowledged, holding."]
    steps = [
        call("send_message", said[(n * n + n // 3) % 3], role="ab"[n % 2], to="ba"[n % 2]) for n in range(8)
    ]
    loop = verdict(steps)
    assert loop is not None
    assert (loop.rule, loop.steps) == ("handover", 6)


def test_messages_that_say_something_new_are_work() -> None:
    steps = [
        call(
            "send_message",
            f"Part {n} needs {n * 37} bolts of size {n + 3}.",
            role="ab"[n % 2],
            to="ba"[n % 2],
        )
        for n in range(60)
    ]
    assert rule(steps) is None


def test_work_between_messages_is_work() -> None:
    steps = [
        one
        for n in range(20)
        for one in (
            call("send_message", "Done.", role="a", to="b"),
            call("read_file", f"t{n}", role="b", path=f"{n}"),
        )
    ]
    assert rule(steps) is None


def test_transfers_without_a_word_are_a_loop() -> None:
    steps = [call("transfer_to_b", "", role="a"), call("transfer_to_a", "", role="b")]
    assert rule(steps * 3) in {"cycle", "handover"}


def test_a_task_handed_down_is_a_recursion_and_one_for_each_is_none() -> None:
    down = [
        call("spawn_agent", f"agent{n + 1} started", role=f"agent{n}", task="Find it.", depth=n)
        for n in range(6)
    ]
    assert rule(down) == "recursion"
    wide = [call("spawn_agent", f"agent{n} started", task=f"Read part {n}.") for n in range(30)]
    assert rule(wide) is None


def test_a_review_that_always_finds_one_more_thing_is_a_loop() -> None:
    steps = [
        one
        for n in range(6)
        for one in (
            call("commit", f"Round {n}.", role="builder", task=4),
            call(
                "review",
                f"Not approved. My remark on naming stands; consider {'abcdef'[n]}.",
                role="reviewer",
                task=4,
            ),
        )
    ]
    loop = verdict(steps)
    assert loop is not None
    assert (loop.rule, loop.onset, loop.repeats) == ("critique", 1, 5)


def test_fewer_faults_and_better_scores_are_progress() -> None:
    faults = [
        call("review", f"Changes requested: {n} remarks left.", role="reviewer") for n in range(30, 0, -1)
    ]
    scores = [call("critique", f"Score {n}/100.", doc="x") for n in range(30, 90)]
    assert rule(faults) is None
    assert rule(scores) is None


def test_a_score_that_goes_nowhere_is_a_loop() -> None:
    steps = [
        one
        for n in range(12)
        for one in (
            call("write_draft", f"d{n}", doc="x"),
            call("critique", f"Score {6 + n % 2}/10. {n}th {'w' * n}", doc="x"),
        )
    ]
    assert rule(steps) == "critique"


def test_the_same_words_without_deeds_are_a_loop() -> None:
    assert rule([say("I will look at the file list.")] * 4) == "text"
    assert (
        rule([one for n in range(9) for one in (say("Next file."), call("read_file", f"t{n}", path=f"{n}"))])
        is None
    )
    assert (
        rule([say(f"Translated paragraph {n} of 60, going on with the next one now.") for n in range(60)])
        is None
    )


def test_nearly_the_same_words_without_deeds_are_a_loop() -> None:
    says = ["I will now look at the list of files", "Let me now look at the list of the files"]
    assert rule([say(f"{says[n % 2]} {'again ' * (n % 3)}") for n in range(12)]) == "text"


def test_a_complaint_answered_in_vain_is_a_loop() -> None:
    words = "oak elm ash fir yew box bay fig".split()
    steps = [
        one
        for n, word in enumerate(words)
        for one in (say('{"tree": "' + word * 9), say(f"Invalid JSON at column {n * 7}.", role="system"))
    ]
    assert rule(steps) == "complaint"


def test_a_reminder_beside_good_work_is_none() -> None:
    steps = [
        one
        for n in range(30)
        for one in (call("read_file", f"t{n}", path=f"{n}"), say("Be brief.", role="system"))
    ]
    assert rule(steps) is None


def test_workers_that_report_to_their_lead_are_no_recursion() -> None:
    steps = [call("send_message", "Done.", role=f"worker{n}", to="lead") for n in range(5)]
    assert (
        rule([one for n, step in enumerate(steps) for one in (call("read_file", f"t{n}", path=f"{n}"), step)])
        is None
    )


def test_whoever_is_named_is_told_whatever_the_tool_is_called() -> None:
    steps = [
        call("x17", "Noted, thanks." if n % 3 else "Ok, over to you.", role="ab"[n % 2], to="ba"[n % 2])
        for n in range(12)
    ]
    assert rule(steps) in {"handover", "cycle"}
