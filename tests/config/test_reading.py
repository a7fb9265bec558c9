"""JSON as people write it, and where it is not JSON."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwatch.config.reading import MOST_BYTES, MOST_DEPTH, MOST_VALUES, read
from loopwatch.errors import ConfigError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def said(text: str | bytes) -> str:
    """The one thing that is wrong with a text."""
    with pytest.raises(ConfigError) as refused:
        read(text)
    (defect,) = refused.value.defects
    assert str(refused.value) == str(defect) == defect.placed
    return str(defect)


# What is read.


@given(value=VALUES)
def test_whatever_json_writes_is_read(value: Any) -> None:
    for options in ({}, {"indent": 2}, {"ensure_ascii": False}):
        assert read(json.dumps(value, **options)).value == value


@given(value=VALUES)
def test_every_value_is_marked_where_it_begins(value: Any) -> None:
    text = json.dumps(value, indent=1)
    source = read(text)
    assert source.marks[()] == 0
    for path, offset in source.marks.items():
        part = value
        for key in path:
            part = part[key]
        assert text.startswith(json.dumps(part, indent=1)[0], offset)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("// a\n1", 1),
        ("1 // a", 1),
        ("/* a */ 1 /* b */", 1),
        ("/* a\n// b */1", 1),
        ("/**/1/***/", 1),
        ("// /* a\r1", 1),
        ("[1, /* one */ 2, // two\r\n 3,]", [1, 2, 3]),
        ('{"a": 1, "b": {"c": [],},}', {"a": 1, "b": {"c": []}}),
        ("[ ]", []),
        ("{ /* nothing */ }", {}),
        ('"// no comment /* nor this */"', "// no comment /* nor this */"),
        ('{"http://a": "b // c"}', {"http://a": "b // c"}),
        ('"\\u00e9\\ud83d\\ude00\\n\\/"', "é😀\n/"),
        ("\N{BYTE ORDER MARK}{}", {}),
        ("-0", 0),
        ("1E+2", 100.0),
        ("9" * 400, int("9" * 400)),
    ],
)
def test_comments_trailing_commas_and_the_rest_are_read(text: str, value: Any) -> None:
    assert read(text).value == value
    assert read(text.encode()).value == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("NaN", math.nan), ("Infinity", math.inf), ("-Infinity", -math.inf), ("1e400", math.inf)),
        *(("-1e400", -math.inf), ("9" * 5_000, math.inf), ("-" + "9" * 5_000, -math.inf)),
    ],
    ids=["nan", "inf", "-inf", "1e400", "-1e400", "many digits", "minus many digits"],
)
def test_a_number_that_is_none_is_noted(text: str, value: float) -> None:
    source = read(f'{{"a": [0, {text}]}}')
    assert repr(source.value["a"][1]) == repr(value)
    assert source.endless == [("a", 1)]


def test_a_key_that_comes_twice_is_noted_once() -> None:
    source = read('{"a": 1, "b": {"c": 1, "c": 2, "c": 3}, "a": 2}')
    assert list(source.duplicates) == [("b", "c"), ("a",)]


def test_a_place_is_a_line_and_a_column_from_1() -> None:
    source = read('{\n  "a": 1,\r\n  "é": 2,\r  "b": [\n3]}')
    places = {path: source.place(source.mark(path)) for path in source.marks}
    assert places == {(): (1, 1), ("a",): (2, 8), ("é",): (3, 8), ("b",): (4, 8), ("b", 0): (5, 1)}
    assert source.mark(("b", 7, "x")) == source.marks["b",]


# What is not.


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "line 1, column 1: expected a value, found the end of the document"),
        (" \n// only this\n", "line 3, column 1: expected a value, found the end of the document"),
        ('{"a": 1', "line 1, column 8: expected a comma or }, found the end of the document"),
        ('{"a": 1\n "b": 2}', 'line 2, column 2: expected a comma or }, found `"`'),
        ("[1 2]", "line 1, column 4: expected a comma or ], found `2`"),
        ("[1}", "line 1, column 3: expected a comma or ], found `}`"),
        ("[,]", "line 1, column 2: expected a value, found `,`"),
        ("[1,,]", "line 1, column 4: expected a value, found `,`"),
        ("{,}", "line 1, column 2: expected a key in double quotes, or }, found `,`"),
        ("{a: 1}", "line 1, column 2: expected a key in double quotes, or }, found `a`"),
        ("{'a': 1}", "line 1, column 2: expected a key in double quotes, or }, found `'`"),
        ('{"a" 1}', "line 1, column 6: expected a colon after the key, found `1`"),
        ('{"a": }', "line 1, column 7: expected a value, found `}`"),
        ("{} {}", "line 1, column 4: nothing more is expected after the document"),
        ("[1] // a\n]", "line 2, column 1: nothing more is expected after the document"),
        ("[1, /* two", "line 1, column 5: this comment is never closed: end it with */"),
        ("[/ 1]", "line 1, column 2: expected a value, found `/`"),
        ("[\N{NO-BREAK SPACE}1]", "line 1, column 2: expected a value, found `\\u00a0`"),
        ("[\x1b]", "line 1, column 2: expected a value, found `\\u001b`"),
        ('["a', "line 1, column 2: this text is never closed: end it with a double quote"),
        ('{"a', "line 1, column 2: this text is never closed: end it with a double quote"),
        ('["a\nb"]', 'line 1, column 4: text may not hold a line break or tab: write it as "\\n" or "\\t"'),
        ('["\\x"]', 'line 1, column 3: a backslash must be followed by one of " \\ / b f n r t or by uXXXX'),
        (
            '["\\u12"]',
            'line 1, column 4: a backslash must be followed by one of " \\ / b f n r t or by uXXXX',
        ),
        ('["\\ud800"]', "line 1, column 2: this text holds half of a surrogate pair, which is no character"),
        ('["\ud800"]', "line 1, column 2: this text holds half of a surrogate pair, which is no character"),
        (
            '{"\\udfff": 1}',
            "line 1, column 2: this text holds half of a surrogate pair, which is no character",
        ),
        (b'{\n "a\xff": 1}', "line 2, column 4: this is not UTF-8 text"),
        (b"\xff\xfe{\x00}\x00", "line 1, column 1: this is not UTF-8 text"),
        (bytes(range(256)), "line 1, column 1: expected a value, found `\\u0000`"),
    ],
)
def test_what_is_not_json_is_told_with_its_line_and_column(text: str | bytes, line: str) -> None:
    if isinstance(text, bytes) and text.startswith(b"\x00"):
        text = text[:128]  # the rest is not UTF-8
    assert said(text) == line


@pytest.mark.parametrize(
    "word", ["True", "None", "01", "+1", ".5", "1.", "0x10", "1e", "-", "--1", "nan", "sk-abc"]
)
def test_a_word_that_is_no_value_is_not_repeated(word: str) -> None:
    assert said(f"[{word}]") == (
        "line 1, column 2: expected a value: a number, true, false or null, or text in double quotes"
    )


def test_a_document_may_not_be_too_large() -> None:
    line = f"the document is larger than {MOST_BYTES} bytes"
    assert said("[" * 10_000_000) == said(b" " * (MOST_BYTES + 1)) == line
    assert read(" " * (MOST_BYTES - 1) + "1").value == 1


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_a_document_may_not_be_too_deep(opening: str) -> None:
    at = len(opening) * (MOST_DEPTH + 1) + 1
    assert said(opening * 100_000) == f"line 1, column {at}: nested deeper than {MOST_DEPTH} levels"
    assert read("[" * MOST_DEPTH + "]" * MOST_DEPTH).value


def test_a_document_may_not_hold_too_much() -> None:
    assert len(read(f"[{'0,' * (MOST_VALUES - 1)}]").value) == MOST_VALUES - 1
    assert said(f"[{'0,' * MOST_VALUES}]").endswith(f": the document holds more than {MOST_VALUES} values")
    members = '"a":0,' * MOST_VALUES
    assert said(f"{{{members}}}").endswith(" values")


def refusal(text: str | bytes) -> ConfigError | None:
    try:
        read(text)
    except ConfigError as error:
        return error
    return None


@given(data=st.binary(max_size=60) | st.text(alphabet='{}[],:"/*\\ \n0-9.eNaIu', max_size=40))
def test_no_text_is_more_than_a_refusal(data: str | bytes) -> None:
    error = refusal(data)
    assert error is None or (len(error.defects) == 1 and len(str(error).splitlines()) == 1)
