import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwatch.pricing.scripts import CharCounts, count_chars


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("", CharCounts()),
        ("Hello world\n", CharCounts(latin=12)),
        ("x = f(1, 22);", CharCounts(latin=5, code=5, digits=3)),
        ("Süß – “naïve”", CharCounts(latin=13)),
        ("你好，世界。", CharCounts(cjk=6)),
        ("かな한글", CharCounts(cjk=4)),
        ("Привет, мир", CharCounts(latin=1, code=1, other=9)),
        ("γειά سلام", CharCounts(latin=1, other=8)),
        ("🙂→", CharCounts(other=2)),
        ("\ud800", CharCounts(other=1)),  # half a pair, as broken streams have it
        ("\U00020000", CharCounts(cjk=1)),
    ],
)
def test_characters_by_class(text: str, counts: CharCounts) -> None:
    assert count_chars(text) == counts


@given(st.text(), st.text())
def test_counts_are_complete_and_add_up(one: str, other: str) -> None:
    assert count_chars(one).total == len(one)
    assert count_chars(one) + count_chars(other) == count_chars(one + other)
