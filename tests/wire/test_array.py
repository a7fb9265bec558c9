"""The elements of an array, however its bytes were cut."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from loopwatch.errors import InputError
from loopwatch.wire.array import Elements
from loopwatch.wire.lines import LINE_CAP

VALUES: list[dict[str, Any]] = [
    {"text": 'a "quoted" \\ \\" ]}[{ piece', "more": [1, {"deep": ["é\\"]}]},
    {},
    {"t": {"u": [[], {}]}},
]
ARRAY = ("[" + ",\r\n".join(json.dumps(value, ensure_ascii=False) for value in VALUES) + "\n]").encode()


@given(some.lists(some.integers(1, 40), min_size=1))
def test_the_same_elements_however_they_are_cut(sizes: list[int]) -> None:
    elements, found, at = Elements(), [], 0
    while at < len(ARRAY):
        for size in sizes:
            data = ARRAY[at : at + size]
            for element, end in elements.feed(data):
                assert data[end - 1 : end] == b"}"
                found.append(json.loads(element))
            at += size
    assert found == VALUES


@pytest.mark.parametrize("data", [b"", b"]]]]", b"nothing", b'"[{', b"{}", b"[1, 2]", b"\xff\xfe"])
def test_what_is_no_array_has_no_elements(data: bytes) -> None:
    assert Elements().feed(data * 3) == []


def test_an_element_without_end_is_refused() -> None:
    elements = Elements()
    assert elements.feed(b'[{"x": "') == []
    with pytest.raises(InputError, match="an element of the stream has no end"):
        elements.feed(b"x" * LINE_CAP)
