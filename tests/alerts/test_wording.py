import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwatch.alerts.wording import MOST_CHARS, camel, one_line
from tests.alerts.samples import HOSTILE


@given(st.one_of(st.text(), st.sampled_from(HOSTILE)))
def test_whatever_somebody_calls_themselves_is_one_short_visible_line(text: str) -> None:
    line = one_line(text)
    assert line
    assert line.isprintable()
    assert len(line) <= MOST_CHARS
    line.encode()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        *((None, "-"), ("", "-"), ("usr_8f21c9", "usr_8f21c9"), ("שלום 日本 é", "שלום 日本 é")),
        *(("a\nb", r"a\u000ab"), ("\u202eevil", r"\u202eevil"), ("\ud800", r"\ud800")),
        *(("\U000e0041", r"\U000e0041"), ("x" * 201, "x" * 199 + "…"), ("x" * 200, "x" * 200)),
    ],
)
def test_what_cannot_be_seen_is_escaped_and_what_is_long_is_cut(text: str | None, line: str) -> None:
    assert one_line(text) == line


def test_the_wire_is_spelt_in_one_way() -> None:
    assert camel({"cost_so_far": 1, "user_id": 2, "at": 3}) == {"costSoFar": 1, "userId": 2, "at": 3}
