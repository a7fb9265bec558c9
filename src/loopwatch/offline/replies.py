"""The replies of one source, judged one after the other."""

import codecs
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from loopwatch.detect.settings import LoopDetection
from loopwatch.errors import InputError
from loopwatch.offline.lines import Line, Range, read_lines
from loopwatch.offline.packed import READ_ERRORS, reason
from loopwatch.offline.sources import STDIN, Source
from loopwatch.offline.verdict import Problem, Reading, Verdict, judge
from loopwatch.wire import documents
from loopwatch.wire.pieces import Channel, Piece
from loopwatch.wire.reader import StreamReader

TEXT_PIECE = 1 << 16
NAMES = ("id", "custom_id", "key", "uuid")
"""Where a record says what it is called."""

REPLACEMENT = "\ufffd"


@dataclass(frozen=True, slots=True)
class Options:
    """How replies are found and judged."""

    settings: LoopDetection
    field: str | None
    max_line: int
    explain: bool


def read_source(source: Source, options: Options, within: Range | None = None) -> Iterator[Verdict | Problem]:
    """Judge every reply of ``source``; what cannot be read comes as a Problem, and the rest goes on."""
    try:
        stream = source.open()
        try:
            if source.kind == "jsonl":
                for line in read_lines(stream, options.max_line, within):
                    yield from _record(line, source.name, options)
            elif source.kind == "json":
                yield from _document(stream, source.name, options)
            elif source.kind == "sse":
                yield from _stream(stream, source.name, options)
            else:
                yield from _text(stream, source.name, options)
        finally:
            if source.name != STDIN:
                stream.close()
    except READ_ERRORS as error:
        yield Problem(source.name, reason(error))


def _record(line: Line, source: str, options: Options) -> Iterator[Verdict | Problem]:
    where = f"{source}:{line.number}"
    if line.text is None:
        yield Problem(where, f"the line is longer than {options.max_line:,} bytes: raise --max-line")
    elif line.text.strip():
        yield from _parsed(line.text, where, str(line.number), source, options)


def _parsed(
    text: bytes, where: str, number: str, source: str, options: Options
) -> Iterator[Verdict | Problem]:
    try:
        record = msgspec.json.decode(text)
    except UnicodeDecodeError as error:
        yield Problem(where, f"not UTF-8 at byte {error.start + 1}")
    except (msgspec.DecodeError, RecursionError) as error:
        yield Problem(where, f"not JSON: {error}")
    else:
        yield from _replies(record, where, number, source, options)


def _replies(
    record: Any, where: str, number: str, source: str, options: Options
) -> Iterator[Verdict | Problem]:
    if options.field is not None:
        found = documents.at_path(record, options.field)
        if found is None:
            yield Problem(where, f"no text at {options.field!r}")
            return
    else:
        found = documents.find(record)
        if not found:
            yield Problem(where, "no reply found in it: name the field with --field")
            return
    name = _name(record) or number
    for reply in found:
        if reply.channel in options.settings.channels:
            full = f"{name}#{reply.place}" if reply.place else name
            yield judge([reply.text], options.settings, full, source, explain=options.explain)


def _document(stream: BinaryIO, source: str, options: Options) -> Iterator[Verdict | Problem]:
    """A file that is one JSON document: a record, or a list of them."""
    text = stream.read(options.max_line + 1)
    if len(text) > options.max_line:
        yield Problem(source, f"the document is longer than {options.max_line:,} bytes: raise --max-line")
        return
    try:
        document = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        yield Problem(source, f"not JSON: {error}")
        return
    if not isinstance(document, list):
        yield from _replies(document, source, Path(source).name, source, options)
        return
    problems: list[Problem] = []
    any_reply = False
    for number, record in enumerate(document, 1):
        for result in _replies(record, f"{source}[{number}]", str(number), source, options):
            if isinstance(result, Problem) and not any_reply:
                problems.append(result)  # a list without any reply is one problem, not a thousand
                continue
            if not any_reply:
                any_reply = True
                yield from problems
            yield result
    if not any_reply and problems:
        yield Problem(source, problems[0].reason)


def _stream(stream: BinaryIO, source: str, options: Options) -> Iterator[Verdict | Problem]:
    """A captured stream: one reply, or several side by side."""
    reader = StreamReader()
    readings: dict[tuple[int, Channel], Reading] = {}
    try:
        while (
            data := stream.read1(TEXT_PIECE)
            if isinstance(stream, io.BufferedReader)
            else stream.read(TEXT_PIECE)
        ):
            _listen(reader.feed(data), readings, options)
        _listen(reader.finish(), readings, options)
    except InputError as error:
        yield Problem(source, str(error))
    name = Path(source).name
    several = len(readings) > 1
    for (number, channel), reading in sorted(readings.items()):
        full = f"{name}#{channel}.{number}" if several else name
        yield reading.verdict(full, source, explain=options.explain)


def _listen(pieces: list[Piece], readings: dict[tuple[int, Channel], Reading], options: Options) -> None:
    for piece in pieces:
        if piece.channel in options.settings.channels:
            key = (piece.reply, piece.channel)
            if key not in readings:
                readings[key] = Reading(options.settings)
            readings[key].read(piece.text)


def _text(stream: BinaryIO, source: str, options: Options) -> Iterator[Verdict | Problem]:
    """A file that is one reply; bytes that are no UTF-8 are read as U+FFFD, and said once."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    reading = Reading(options.settings)
    damaged = False
    while True:
        data = stream.read(TEXT_PIECE)
        text = decoder.decode(data, final=not data)
        if REPLACEMENT in text and not damaged and REPLACEMENT.encode() not in data:
            damaged = True
            yield Problem(source, "not all of it is UTF-8: what is not was read as U+FFFD")
        reading.read(text)
        if not data:
            break
    if reading.chars:
        yield reading.verdict(Path(source).name, source, explain=options.explain)


def _name(record: Any) -> str | None:
    """What a record calls itself."""
    if isinstance(record, dict):
        for key in NAMES:
            if isinstance(record.get(key), str | int) and record[key] != "":
                return str(record[key])
    return None
