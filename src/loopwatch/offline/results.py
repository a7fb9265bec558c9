"""Where the verdicts of a scan go: a file of JSON lines, or of Parquet.

What is written lies beside the file under another name until the scan has come to its end: a file that is
there is whole.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from loopwatch.errors import InputError, LoopwatchError
from loopwatch.offline.verdict import Verdict

if TYPE_CHECKING:
    import pyarrow as pa

UNFINISHED = ".part"
ROWS = 1_024
"""Verdicts in a row group."""


class Results(Protocol):
    """Takes verdicts, one by one."""

    def write(self, verdict: Verdict) -> None:
        """Add a verdict."""

    def finish(self) -> None:
        """Write what is still held."""


@contextmanager
def results(path: Path) -> Iterator[Results]:
    """A file for verdicts, of the kind that its name tells; it appears when the block ends without an error.

    Raises InputError for a name that tells none, LoopwatchError where pyarrow is missing, OSError where
    the file cannot be written.
    """
    kind = _KINDS.get(path.suffix.lower())
    if kind is None:
        raise InputError(f"{path}: verdicts are written as {', '.join(_KINDS)}")
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(f"{path}: {'it is a folder' if path.is_dir() else 'there is no such folder'}")
    unfinished = path.with_name(path.name + UNFINISHED)
    try:
        with kind(unfinished) as opened:
            yield opened
            opened.finish()
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


class _Lines:
    """A JSON object a line."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._encode = msgspec.json.Encoder().encode

    def __enter__(self) -> Results:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, verdict: Verdict) -> None:
        self._file.write(self._encode(verdict) + b"\n")

    def finish(self) -> None:
        self._file.flush()


class _Table:
    """A Parquet file, its columns named as the keys of the JSON objects."""

    def __init__(self, path: Path) -> None:
        try:
            import pyarrow as pa
            from pyarrow.parquet import ParquetWriter
        except ModuleNotFoundError:
            raise LoopwatchError(
                "Parquet is written with pyarrow: pip install 'loopwatch[parquet]'"
            ) from None
        self._schema = _schema(pa)
        self._rows: list[dict[str, Any]] = []
        self._to_batch = pa.RecordBatch.from_pylist
        self._writer: ParquetWriter = ParquetWriter(path, self._schema, compression="zstd")

    def __enter__(self) -> Results:
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()

    def write(self, verdict: Verdict) -> None:
        self._rows.append(msgspec.to_builtins(verdict))
        if len(self._rows) >= ROWS:
            self.finish()

    def finish(self) -> None:
        if self._rows:
            self._writer.write_batch(self._to_batch(self._rows, schema=self._schema))
            self._rows.clear()


def _schema(pa: Any) -> "pa.Schema":
    near = [("rule", pa.string()), ("share", pa.float64()), ("at_char", pa.int64()), ("detail", pa.string())]
    columns = {
        "id": pa.string(),
        "source": pa.string(),
        "chars": pa.int64(),
        "words": pa.int64(),
        "tripped": pa.bool_(),
        "rule": pa.string(),
        "at_char": pa.int64(),
        "at_word": pa.int64(),
        "onset_char": pa.int64(),
        "period_chars": pa.int64(),
        "repeats": pa.float64(),
        "saved_chars": pa.int64(),
        "sample": pa.string(),
        "engine": pa.string(),
        "near": pa.list_(pa.struct(near)),
    }
    return pa.schema(list(columns.items()))


_KINDS: dict[str, type[_Lines | _Table]] = {".jsonl": _Lines, ".ndjson": _Lines, ".parquet": _Table}
