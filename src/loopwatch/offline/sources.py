"""What there is to scan: files and folders, plain or packed, standard input; and how each is read."""

import io
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from loopwatch.errors import InputError
from loopwatch.offline.packed import PACKED, READ_ERRORS, open_packed, reason

Kind = Literal["jsonl", "json", "sse", "text"]
KINDS: dict[str, Kind] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".sse": "sse",
    ".txt": "text",
    ".md": "text",
}
STDIN = "-"
SNIFFED = 4_096
"""Bytes by which the kind of a source without a known suffix is told."""


@dataclass(frozen=True, slots=True)
class Source:
    """One file, or standard input, and what it holds."""

    name: str
    kind: Kind
    packed: bool = False

    @property
    def divisible(self) -> bool:
        """Whether several processes may each read a range of its bytes."""
        return self.kind == "jsonl" and not self.packed and self.name != STDIN

    def open(self) -> BinaryIO:
        """Its bytes, unpacked."""
        if self.name == STDIN:
            return sys.stdin.buffer
        return open_packed(Path(self.name))


def find_sources(paths: Iterable[str], kind: Kind | None = None) -> Iterator[Source]:
    """The sources that ``paths`` name, folders searched for files of known suffixes, in sorted order.

    ``kind`` overrides what the suffix tells. Raises InputError for a path that cannot be read.
    """
    for path in paths:
        if path == STDIN:
            yield Source(STDIN, kind or _sniff_stdin())
        elif Path(path).is_dir():
            inside = sorted(file for file in Path(path).rglob("*") if file.is_file() and _kind(file))
            if not inside:
                raise InputError(
                    f"{path}: nothing to scan in this folder ({', '.join(KINDS)}, also .gz and .zst)"
                )
            for file in inside:
                yield _source(file, kind)
        else:
            yield _source(Path(path), kind)


def _source(file: Path, kind: Kind | None) -> Source:
    packed = file.suffix in PACKED
    try:
        return Source(str(file), kind or _kind(file) or _sniff(file), packed)
    except READ_ERRORS as error:
        raise InputError(f"{file}: {reason(error)}") from None


def _kind(file: Path) -> Kind | None:
    name = file.with_suffix("") if file.suffix in PACKED else file
    return KINDS.get(name.suffix)


def _sniff(file: Path) -> Kind:
    with open_packed(file) as stream:
        return told_by(stream.read(SNIFFED))


def _sniff_stdin() -> Kind:
    stream = sys.stdin.buffer
    return told_by(stream.peek(SNIFFED)) if isinstance(stream, io.BufferedReader) else "jsonl"


def told_by(beginning: bytes) -> Kind:
    """The kind of a source that begins so: an object a line, an event stream, or text."""
    start = beginning.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start[:1] == b"{":
        return "jsonl"
    if start.startswith((b"data:", b"event:", b"id:", b"retry:", b":")):
        return "sse"
    return "text"
