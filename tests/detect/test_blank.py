"""Rule blank: white space without end, real or written out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwatch.detect.blank import Blank
from loopwatch.detect.characters import BLANKS
from loopwatch.detect.finding import Finding
from tests.detect.texts import pieces


def judge(text: str, limit: int = 300, size: int = 64) -> tuple[int, Finding] | None:
    rule = Blank(limit)
    end = 0
    for block in pieces(text, size):
        end += len(block)
        finding = rule.read(block, end)
        if finding is not None:
            return end, finding
    return None


@pytest.mark.parametrize(
    "blank", [" ", "\n", "  \n\t\n", "\\n", "\\n\\t", "\\r\\n", "&nbsp;", "&nbsp; \\n\n", "\u3000", "\xa0"]
)
@pytest.mark.parametrize("size", [64, 5, 1])
def test_white_space_without_end_is_a_loop(blank: str, size: int) -> None:
    verdict = judge('{"a": 1}' + blank * 400, size=size)
    assert verdict is not None
    end, finding = verdict
    assert finding.onset == 8
    assert 300 <= end - 8 < 300 + size + len("&nbsp")


@pytest.mark.parametrize(
    "text",
    [" " * 299 + "x", ("x" + " " * 200) * 20, "\\" * 900, "&nbs" * 300, "n" * 900, "\x1c" * 900, "\\x" * 400],
)
def test_what_is_not_blank(text: str) -> None:
    assert judge(text) is None


def test_what_comes_before_a_gap_begins_it_anew() -> None:
    assert judge(" " * 250 + "x" + " " * 250) is None


def test_the_approach_is_the_longest_gap() -> None:
    rule = Blank(300)
    for number, block in enumerate(pieces(" " * 128 + "x" * 64 + " " * 64, 64), 1):
        rule.read(block, number * 64)
    assert rule.approach.share == pytest.approx(128 / 300)
    assert rule.approach.at_char == 128


def trailing_blanks(text: str) -> int:
    for written in ("\\n", "\\t", "\\r", "&nbsp;"):
        text = text.replace(written, " " * len(written))
    return len(text) - len(text.rstrip(BLANKS))


@given(
    st.lists(st.sampled_from([" ", "\n", "\\n", "\\", "&nbsp;", "&", "nbsp;", "x", "\\t"]), max_size=60),
    st.integers(1, 9),
)
def test_the_gap_is_the_same_however_it_was_cut(parts: list[str], size: int) -> None:
    text = "".join(parts)
    rule = Blank(10_000)
    for number, block in enumerate(pieces(text + "  ", size)):
        rule.read(block, min(len(text) + 2, (number + 1) * size))
    assert rule._visible_end == len(text) - trailing_blanks(text)
