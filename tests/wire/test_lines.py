import re
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwatch.errors import InputError
from loopwatch.wire.lines import BYTE_ORDER_MARK, LINE_CAP, Lines


def split(*reads: bytes) -> list[bytes]:
    lines = Lines()
    return [line for read in reads for line in lines.feed(read)] + [lines.finish()]


def test_lines_come_as_soon_as_they_are_complete() -> None:
    lines = Lines()
    assert lines.feed(b"a\nb") == [b"a"]
    assert lines.feed(b"c") == []
    assert lines.feed(b"\r") == [b"bc"]
    assert lines.finish() == b""


def test_the_last_line_needs_no_end() -> None:
    assert split(b"a\nb") == [b"a", b"b"]


PIECES = [
    b"\n",
    b"\r",
    b"\r\n",
    b"a",
    b"\x0b",
    b"\x85",
    "\u2028".encode(),
    BYTE_ORDER_MARK,
    BYTE_ORDER_MARK[:1],
]


@given(stream=st.lists(st.sampled_from(PIECES), max_size=20).map(b"".join), draw=st.data())
def test_any_cut_gives_the_lines_of_the_whole(stream: bytes, draw: st.DataObject) -> None:
    places = sorted(draw.draw(st.lists(st.integers(0, len(stream)), max_size=9)))
    reads = [stream[start:stop] for start, stop in pairwise([0, *places, len(stream)])]
    expected = re.split(rb"\r\n|\r|\n", stream.removeprefix(BYTE_ORDER_MARK))
    assert split(stream) == split(*reads) == expected


# A line without end, whoever else comes with it.


LONG = bytes(LINE_CAP + 1)


def test_a_line_of_just_the_cap_passes() -> None:
    assert split(LONG[1:] + b"\n") == [LONG[1:], b""]


@pytest.mark.parametrize("reads", [[LONG], [LONG + b"\n"], [LONG[:-1], b"x"], [LONG[:-1], b"x\n"]])
def test_one_byte_more_is_refused_also_where_its_end_has_come(reads: list[bytes]) -> None:
    with pytest.raises(InputError, match="no end after 8,388,608 bytes"):
        split(*reads)


@pytest.mark.parametrize("end", [b"", b"\n", b"\nc\n"])
def test_lines_before_it_are_not_lost(end: bytes) -> None:
    lines = Lines()
    assert lines.feed(b"a\nb\n" + LONG + end) == [b"a", b"b"]
    for refused in (lines.finish, lambda: lines.feed(b"")):
        with pytest.raises(InputError):
            refused()


def test_millions_of_carriage_returns_are_no_more_work_than_they_are_many() -> None:
    def seconds(size: int) -> float:
        lines = Lines()
        began = time.process_time()
        lines.feed(b"\r" * size)
        return time.process_time() - began

    assert seconds(1_000_000) < 100 * max(seconds(50_000), 0.001)
