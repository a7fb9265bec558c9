"""Counting: what is periodic but for numbers that rise steadily."""

import pytest

from loopwatch.detect.counters import STRIDE, Counters, Counting
from loopwatch.detect.detector import BLOCK
from tests.detect.texts import novel, pieces


def longest(text: str) -> tuple[int, Counting] | None:
    """The longest stretch of counting that is seen in ``text``, in characters, and what it is."""
    rule = Counters()
    best: tuple[int, Counting] | None = None
    end = 0
    for block in pieces(text, BLOCK):
        end += len(block)
        counting = rule.read(block)
        if counting is not None and (best is None or end - counting.onset > best[0]):
            best = end - counting.onset, counting
    return best


def lines(form: str, count: int = 400, step: int = 1) -> str:
    return "".join(
        form.format(n=number, m=number + 1, d=count * step - number)
        for number in range(0, count * step, step)
    )


def clock(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (lines("Step {n}: Add a feedback form.\n"), "counted_label"),
        (lines("{n}. Review the report and update the log.\n", step=10), "counted_label"),
        (lines("第{n}步：打开配置文件，确认无误后保存。\n"), "counted_label"),
        (lines("[{n}] Keep the old gate closed all day. "), "counted_label"),
        (
            "".join(
                f"[{clock(30 * n)}.760 --> {clock(30 * n + 30)}.740]  Whoever wants to join us must first drink from the well.\n"
                for n in range(400)
            ),
            "counted_label",
        ),
        (lines("In {n}, the company opened a further branch. "), "counted_line"),
        (lines("({n}, 'Client Name', 'client@example.test', 'Town'),\n"), "counted_line"),
        (lines("def handler_{n}(request):\n    return render(request)\n"), "counted_line"),
        (lines(".w-{n} {{ width: {n}px; }}\n"), "counted_line"),
        (lines("item {n}, "), "counted_line"),
        (lines("Step {n}: open the file. Step {m}: close it again.\n", step=2), "counted_line"),
        (lines("### Room {n}\n\n- [ ] Windows shut\n- [ ] Radiator at 2\n- [ ] Lamp off\n"), "counted_form"),
        ("".join(f"print(tally(1{'0' * number}))\n" for number in range(300)), "counted_line"),
    ],
)
def test_counting_is_followed_from_its_beginning_to_the_end(text: str, kind: str) -> None:
    head = novel(60)
    found = longest(head + text)
    assert found is not None
    length, counting = found
    assert counting.kind == kind
    assert length > len(text) - STRIDE - 350
    assert counting.copies > 1


@pytest.mark.parametrize(
    "text",
    [
        lines("  out[{n}] = in[{n}] * k + in[{m}] * k;\n"),  # two different numbers move
        lines("{d} little lamps along the quay, {d} little lamps\n"),  # counts down
        lines("{n} "),  # says nothing
        "".join(f"{n} x {n} = {n * n}\n" for n in range(500)),  # does not rise steadily
        lines("{n} 1 2 3 4 5 6 7 8 9 tides of the month\n"),  # a row of data
        lines("{n}. " + novel(80).translate(str.maketrans("0123456789", "abcdefghij"))),  # a long unit
        novel(3_000),
    ],
)
def test_what_only_looks_like_counting(text: str) -> None:
    found = longest(text)
    assert found is None or found[0] < 1_000


def test_a_break_in_the_count_begins_it_anew() -> None:
    found = longest(lines("item {n}, ", 100) + "item 7, " + lines("item {n}, ", 100))
    assert found is not None
    assert found[0] < 1_300


def test_a_steady_text_without_moving_numbers_counts_as_well() -> None:
    found = longest("Chapter 7 of the book begins.\n" * 100)
    assert found is not None
    assert found[1].kind == "counted_line"


def test_a_number_cut_between_blocks_is_one_number() -> None:
    for shift in range(70):
        found = longest("x" * shift + " " + lines("item {n}, ", 500))
        assert found is not None
        assert found[0] > 4_000


def test_an_endless_number_is_read_in_bounded_memory() -> None:
    rule = Counters()
    for _ in range(2_000):
        assert rule.read("1" * BLOCK) is None
    assert len(rule._skeleton._pending) + len(rule._unread) < 2 * STRIDE
    found = longest("1" * 500 + " " + lines("item {n}, ", 500))
    assert found is not None
    assert found[0] > 4_000
