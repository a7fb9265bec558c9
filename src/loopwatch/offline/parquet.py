"""Parquet files: their rows as records, a few at a time, from the columns that can hold a reply.

pyarrow is imported when the first such file is read. It reads a column in pieces, so that the memory is
flat however large a row group is.
"""

from collections.abc import Iterator
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

from loopwatch.errors import InputError, LoopwatchError, one_line

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

ROWS = 256
"""Rows at a time."""

BUFFER = 1 << 20
"""Bytes of a column at a time."""


class RowGroups(NamedTuple):
    """The row groups of a file from ``first`` up to, but not including, ``stop``, and what lies before."""

    first: int
    stop: int
    rows_before: int


class Row(NamedTuple):
    """A row with its number in the file, from 1."""

    number: int
    record: dict[str, Any]


def row_groups(path: str) -> Iterator[tuple[RowGroups, int]]:
    """Each row group of a file by itself, with its bytes in the file. Raises InputError."""
    with _opened(path) as file:
        metadata = file.metadata
        before = 0
        for index in range(metadata.num_row_groups):
            group = metadata.row_group(index)
            columns = (group.column(number) for number in range(group.num_columns))
            yield RowGroups(index, index + 1, before), sum(one.total_compressed_size for one in columns)
            before += group.num_rows


def rows(path: str, field: str | None, names: tuple[str, ...], within: RowGroups | None) -> Iterator[Row]:
    """The rows of a file, or of some of its row groups.

    Of the columns only those that may hold a reply or its name: with ``field``, a dotted path, the
    longest beginning of it that is a column, and ``names``. Raises InputError where the file has no such
    column or cannot be read.
    """
    with _opened(path) as file:
        known = file.schema_arrow.names
        column = None if field is None else _column(known, field)
        wanted = _readable(file.schema_arrow) if column is None else [column, *(set(names) & set(known))]
        groups = None if within is None else list(range(within.first, within.stop))
        number = 0 if within is None else within.rows_before
        batches = file.iter_batches(ROWS, row_groups=groups, columns=wanted, use_threads=False)
        while (records := _next(batches)) is not None:
            for record in records:
                number += 1
                yield Row(number, record if column is None else _nested(record, column))


def _opened(path: str) -> "ParquetFile":
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ModuleNotFoundError:
        raise LoopwatchError("Parquet is read with pyarrow: pip install 'loopwatch[parquet]'") from None
    try:
        return ParquetFile(path, buffer_size=BUFFER, pre_buffer=False)
    except ArrowException as error:
        raise InputError(f"no Parquet that can be read: {one_line(str(error))}") from None


def _next(batches: "Iterator[pa.RecordBatch]") -> list[dict[str, Any]] | None:
    """The next rows; None at the end."""
    from pyarrow import ArrowException

    try:
        batch = next(batches, None)
        return None if batch is None else batch.to_pylist()
    except (ArrowException, OverflowError, ValueError) as error:  # a date that Python has none of, say
        raise InputError(f"cut short: {one_line(str(error))}") from None


def _column(known: list[str], field: str) -> str:
    keys = field.split(".")
    beginnings = (".".join(keys[:count]) for count in range(len(keys), 0, -1))
    column = next((beginning for beginning in beginnings if beginning in known), None)
    if column is None:
        raise InputError(f"no column {keys[0]!r}: there are {', '.join(known)}")
    return column


def _readable(schema: "pa.Schema") -> list[str]:
    """The columns that may hold a conversation, a reply or a name: text and numbers, alone or nested."""
    from pyarrow import types

    texts = (types.is_string, types.is_large_string, types.is_string_view, types.is_dictionary)
    tests = (*texts, types.is_nested, types.is_integer, types.is_boolean)
    return [field.name for field in schema if any(test(field.type) for test in tests)]


def _nested(record: dict[str, Any], column: str) -> dict[str, Any]:
    """A record in which a dotted path leads to a column whose name has dots itself."""
    if "." not in column:
        return record
    value = record.pop(column)
    first, *inner = column.split(".")
    return record | {first: reduce(lambda held, key: {key: held}, reversed(inner), value)}
