"""What there is to scan: files and folders, plain or packed, standard input; and how each is read."""

import io
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast

from loopwatch.offline.packed import READ_ERRORS, is_packed, open_packed, reason
from loopwatch.offline.verdict import Problem

Kind = Literal["jsonl", "json", "sse", "text", "parquet"]
KINDS: dict[str, Kind] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".sse": "sse",
    ".txt": "text",
    ".md": "text",
    ".parquet": "parquet",
}
STDIN = "-"
SNIFFED = 4_096
"""Bytes by which the kind of a source without a known suffix is told."""


@dataclass(frozen=True, slots=True)
class Source:
    """One file, or standard input, and what it holds; ``stream`` is what can be opened only once."""

    name: str
    kind: Kind
    packed: bool = False
    stream: io.BufferedIOBase | None = field(default=None, repr=False, compare=False)

    @property
    def divisible(self) -> bool:
        """Whether several processes may each read a range of its bytes."""
        return self.kind in ("jsonl", "parquet") and not self.packed and self.stream is None

    @property
    def shown(self) -> str:
        """Its name as text: a name on disk may be bytes that are none."""
        return _shown(self.name)

    def open(self) -> AbstractContextManager[io.BufferedIOBase]:
        """Its bytes, unpacked; closed in the end, but for standard input."""
        if self.stream is None:
            return open_packed(Path(self.name))
        return nullcontext(self.stream) if self.name == STDIN else self.stream


def find_sources(paths: Iterable[str], kind: Kind | None = None) -> Iterator[Source | Problem]:
    """The sources that ``paths`` name, folders searched for files of known suffixes, in sorted order.

    ``kind`` overrides what the suffix tells. What cannot be read comes as a Problem.
    """
    for path in paths:
        try:
            if path == STDIN:
                yield _fit(_stdin(kind))
            elif stat.S_ISDIR(Path(path).stat().st_mode):
                yield from _inside(path, kind)
            else:
                yield _fit(_source(Path(path), kind))
        except (*READ_ERRORS, ValueError) as error:  # a ValueError: no path can hold a NUL
            yield Problem(_shown(path), reason(error), named=True)


def _inside(folder: str, kind: Kind | None) -> Iterator[Source | Problem]:
    """What lies in a folder and below."""
    unread: list[OSError] = []
    files: list[Path] = []
    for place, _, names in os.walk(folder, onerror=unread.append):
        files += (Path(place, name) for name in names if _kind(Path(name)))
    for error in unread:
        yield Problem(_shown(error.filename), reason(error), named=error.filename == folder)
    found = [file for file in sorted(files) if file.is_file()]
    for file in found:
        yield _fit(Source(str(file), kind or cast("Kind", _kind(file)), is_packed(file)))
    if not found and not unread:
        looked_for = f"{', '.join(KINDS)}, also .gz and .zst"
        yield Problem(_shown(folder), f"nothing to scan in this folder ({looked_for})", named=True)


def _fit(source: Source) -> Source | Problem:
    """A source that can be read as what it is."""
    if source.kind == "parquet" and (source.packed or source.stream is not None):
        if source.stream is not None and source.name != STDIN:
            source.stream.close()
        return Problem(source.shown, "Parquet is read from its end: give it as a plain file", named=True)
    return source


def _source(file: Path, kind: Kind | None) -> Source:
    """A file that was named; opened, to know at once whether it can be."""
    stream = open_packed(file)
    if file.is_file():
        with stream:
            return Source(str(file), kind or _kind(file) or told_by(_beginning(stream)), is_packed(file))
    return _once(str(file), stream, kind or _kind(file))  # a pipe: what was read once is gone


def _stdin(kind: Kind | None) -> Source:
    if sys.stdin is None:
        raise OSError("standard input is closed")
    return _once(STDIN, cast("io.BufferedIOBase", sys.stdin.buffer), kind)


def _once(name: str, stream: io.BufferedIOBase, kind: Kind | None) -> Source:
    if kind is not None:
        return Source(name, kind, stream=stream)
    beginning = _beginning(stream)
    rejoined = io.BufferedReader(_Rejoined(beginning, stream, close=name != STDIN))
    return Source(name, told_by(beginning), stream=rejoined)


class _Rejoined(io.RawIOBase):
    """A stream of which the beginning has been read already."""

    def __init__(self, beginning: bytes, stream: io.BufferedIOBase, *, close: bool) -> None:
        """Take both; ``close`` says whether the stream is ours."""
        self._beginning = beginning
        self._stream = stream
        self._close = close

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, buffer: "memoryview[int]") -> int:  # type: ignore[override]  # the stub asks for less
        """Fill ``buffer`` as far as one read goes."""
        data = self._beginning[: len(buffer)] or self._stream.read1(len(buffer))
        self._beginning = self._beginning[len(data) :]
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the stream too."""
        if self._close:
            self._stream.close()
        super().close()


def _beginning(stream: io.BufferedIOBase) -> bytes:
    """The first line that is not blank, or as much of it as is needed; a pipe may bring it bit by bit."""
    begun = b""
    while len(begun) < SNIFFED and b"\n" not in _start(begun):
        data = stream.read1(SNIFFED)
        if not data:
            break
        begun += data
    return begun


def _start(beginning: bytes) -> bytes:
    return beginning.removeprefix(b"\xef\xbb\xbf").lstrip()


def told_by(beginning: bytes) -> Kind:
    """The kind of a source that begins so: an object a line, one document, an event stream, or text."""
    if beginning.startswith(b"PAR1"):
        return "parquet"
    start = _start(beginning)
    first, more, _ = start.partition(b"\n")
    if start.startswith(b"{"):
        return "json" if more and first.rstrip().endswith((b"{", b"[", b",")) else "jsonl"
    if start.startswith(b"[") and start[1:].lstrip().startswith(b"{"):
        return "json"
    if start.startswith((b"data:", b"event:", b"id:", b"retry:", b":")):
        return "sse"
    return "text"


def _kind(file: Path) -> Kind | None:
    name = file.with_suffix("") if is_packed(file) else file
    return KINDS.get(name.suffix.lower())


def _shown(name: str) -> str:
    return os.fsencode(name).decode("utf-8", "backslashreplace")
