import io
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from loopwatch.offline.lines import BYTE_ORDER_MARK, CHUNK, Line, Range, ranges, read_lines

Lines = list[Line]


def read(content: bytes, longest: int = 100, within: Range | None = None) -> Lines:
    return list(read_lines(io.BytesIO(content), longest, within))


def in_ranges(content: bytes, step: int, longest: int = 100) -> Lines:
    """The lines of each range, one range after the other."""
    return [line for within in ranges(io.BytesIO(content), step) for line in read(content, longest, within)]


def test_lines_have_their_numbers_and_their_ends() -> None:
    assert read(b"a\nb\r\n\nc") == [Line(1, b"a\n"), Line(2, b"b\r\n"), Line(3, b"\n"), Line(4, b"c")]
    assert read(b"") == []


@pytest.mark.parametrize("character", ["\u2028", "\x85", "\x0b", "\r", "\x1c"])
def test_only_a_line_feed_ends_a_line(character: str) -> None:
    content = f"a{character}b\nc".encode()
    assert [line.text for line in read(content)] == [f"a{character}b\n".encode(), b"c"]


def test_a_byte_order_mark_at_the_beginning_of_the_file_is_dropped_and_no_other() -> None:
    content = BYTE_ORDER_MARK + b"a\n" + BYTE_ORDER_MARK + b"b"
    expected = [Line(1, b"a\n"), Line(2, BYTE_ORDER_MARK + b"b")]
    assert read(content) == expected
    for step in range(1, len(content)):
        assert in_ranges(content, step) == expected


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_line_may_have_just_so_many_bytes(end: bytes) -> None:
    assert read(b"x" * 100 + end + b"", 100) == [Line(1, b"x" * 100 + end)]
    assert read(b"x" * 101 + end, 100) == [Line(1, None)]


@pytest.mark.parametrize("length", [101, CHUNK, CHUNK + 101, 3 * CHUNK])
def test_of_a_line_that_is_too_long_nothing_is_kept_and_the_rest_goes_on(length: int) -> None:
    content = b"a\n" + b"x" * length + b"\nb\n"
    assert read(content) == [Line(1, b"a\n"), Line(2, None), Line(3, b"b\n")]
    assert read(content[:-3]) == [Line(1, b"a\n"), Line(2, None)]


@pytest.mark.parametrize("step", [1, 2, 7, 100, 10_000])
def test_a_line_longer_than_a_range_belongs_to_the_range_where_it_begins(step: int) -> None:
    content = b"a\n" + b"x" * 300 + b"\nb\n" + b"y" * 99 + b"\n" + b"z" * 300
    expected = [Line(1, b"a\n"), Line(2, None), Line(3, b"b\n"), Line(4, b"y" * 99 + b"\n"), Line(5, None)]
    assert in_ranges(content, step) == expected


def test_passing_over_a_long_line_reads_no_more_than_the_range() -> None:
    class Counted(io.BytesIO):
        passed = 0

        def readline(self, size: int | None = -1, /) -> bytes:
            line = super().readline(size)
            self.passed += len(line)
            return line

    content = b"x" * 1_000_000 + b"\n"
    stream = Counted(content)
    assert list(read_lines(stream, 10, Range(500_000, 600_000))) == []
    assert stream.passed <= 100_001
    stream = Counted(content)
    assert list(read_lines(stream, 10, Range(0, 100_000))) == [Line(1, None)]
    assert stream.passed <= 100_001


@settings(deadline=None, max_examples=500)
@given(
    content=st.lists(st.sampled_from([b"a", b"\n", b"\r\n", b"bbbb", BYTE_ORDER_MARK]), max_size=30).map(
        b"".join
    ),
    step=st.integers(1, 40),
    longest=st.integers(1, 8),
)
@example(content=b"\n", step=1, longest=1)
@example(content=b"ab\n\nc", step=3, longest=1)
def test_the_lines_of_all_ranges_are_those_of_the_whole(content: bytes, step: int, longest: int) -> None:
    assert in_ranges(content, step, longest) == read(content, longest)


def test_ranges_say_how_many_line_ends_come_before() -> None:
    assert list(ranges(io.BytesIO(b"a\nb\nc\nd"), 3)) == [Range(0, 3, 0), Range(3, 6, 1), Range(6, 7, 3)]
    assert list(ranges(io.BytesIO(b""), 3)) == []


def test_where_a_file_cannot_be_read_the_rest_of_it_is_one_range() -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if self.tell() >= 4:
                raise OSError(5, "Input/output error")
            return super().read(size)

    assert list(ranges(Broken(b"a\nb\nc\nd\n"), 2)) == [
        Range(0, 2, 0),
        Range(2, 4, 1),
        Range(4, sys.maxsize, 2),
    ]


def test_a_file_that_grew_or_shrank_since_is_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"a\nb")
    with path.open("rb") as stream:
        _, second = ranges(stream, 2)
    path.write_bytes(b"a\nbcd\ne\n")
    with path.open("rb") as stream:
        assert list(read_lines(stream, 100, second)) == [Line(2, b"bcd\n")]
    path.write_bytes(b"a")
    with path.open("rb") as stream:
        assert list(read_lines(stream, 100, second)) == []
