"""The replies of one source, judged one after the other."""

import codecs
import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from loopwatch.detect.engine import ENGINE
from loopwatch.detect.settings import LoopDetection
from loopwatch.errors import InputError
from loopwatch.offline.lines import BYTE_ORDER_MARK, Range, read_lines
from loopwatch.offline.packed import READ_ERRORS, reason
from loopwatch.offline.parquet import RowGroups, rows
from loopwatch.offline.sources import Source
from loopwatch.offline.verdict import Problem, Reading, Reply, Verdict, judge_replies
from loopwatch.wire import documents
from loopwatch.wire.decoding import anything, is_json
from loopwatch.wire.pieces import Channel, Piece
from loopwatch.wire.reader import Fault, StreamReader

TEXT_PIECE = 1 << 16
NAMES = ("id", "custom_id", "key", "uuid")
"""Where a record says what it is called."""

NOTHING = "there is nothing in it"

TOGETHER = 512
TOGETHER_CHARS = 4 << 20
"""Replies, and characters of them, that the native engine judges at a time, on all cores."""

Part = Range | RowGroups
"""A part of a source that can be read by itself."""

Results = Iterator[Verdict | Problem]
Found = Iterator[Reply | Verdict | Problem]
"""What reading brings: replies that are still to be judged, and what was judged while it came."""


@dataclass(frozen=True, slots=True)
class Options:
    """How replies are found and judged."""

    settings: LoopDetection
    field: str | None
    max_line: int
    explain: bool
    threads: int = 1


def read_source(source: Source, options: Options, within: Part | None = None) -> Results:
    """Judge every reply of ``source``; what cannot be read comes as a Problem, and the rest goes on."""
    # What a pipe brings is judged as it comes; and one by one where nothing is won by waiting.
    together = TOGETHER if ENGINE == "native" and source.stream is None else 1
    waiting: list[Reply] = []
    chars = 0
    for found in _found(source, options, within):
        if isinstance(found, Reply):
            waiting.append(found)
            chars += len(found.text)
            if len(waiting) < together and chars < TOGETHER_CHARS:
                continue
        yield from judge_replies(waiting, options.settings, explain=options.explain, threads=options.threads)
        waiting.clear()
        chars = 0
        if not isinstance(found, Reply):
            yield found
    yield from judge_replies(waiting, options.settings, explain=options.explain, threads=options.threads)


def _found(source: Source, options: Options, within: Part | None) -> Found:
    try:
        if source.kind == "parquet":
            yield from _rows(source, options, within if isinstance(within, RowGroups) else None)
            return
        read = {"jsonl": _records, "json": _document, "sse": _stream, "text": _text}[source.kind]
        with source.open() as stream:
            if isinstance(within, Range):
                yield from _records(stream, source.shown, options, within)
            else:
                yield from read(stream, source.shown, options)
    except READ_ERRORS as error:
        yield Problem(source.shown, reason(error))


# Files of records.


def _records(stream: io.BufferedIOBase, source: str, options: Options, within: Range | None = None) -> Found:
    """A file with a record a line, or a range of it."""
    empty = within is None
    for line in read_lines(stream, options.max_line, within):
        where = f"{source}:{line.number}"
        if line.text is None:
            yield Problem(where, f"the line is longer than {options.max_line:,} bytes: raise --max-line")
        elif line.text.strip():
            yield from _parsed(line.text, where, str(line.number), source, options)
        else:
            continue
        empty = False
    if empty:
        yield Problem(source, NOTHING)


def _rows(source: Source, options: Options, within: RowGroups | None) -> Found:
    """A Parquet file with a record a row, or some of its row groups."""
    empty = within is None
    try:
        for number, record in rows(source.name, options.field, NAMES, within):
            yield from _replies(record, f"{source.shown}:{number}", str(number), source.shown, options)
            empty = False
    except InputError as error:
        yield Problem(source.shown, str(error))
    else:
        if empty:
            yield Problem(source.shown, NOTHING)


def _parsed(text: bytes, where: str, number: str, source: str, options: Options) -> Found:
    try:
        record = anything(text)
    except msgspec.DecodeError as error:
        yield Problem(where, f"not JSON: {error}")
    else:
        yield from _replies(record, where, number, source, options)


def _replies(record: Any, where: str, number: str, source: str, options: Options) -> Found:
    if options.field is not None:
        found = documents.at_path(record, options.field)
        fault = f"no text at {options.field!r}"
    else:
        found = documents.find(record)
        fault = "no reply found in it: name the field with --field"
    if found is None:
        yield Problem(where, fault)
        return
    channels = (*options.settings.channels, *(["content"] if options.field is not None else []))
    watched = [reply for reply in found if reply.channel in channels]
    name = _name(record) or number
    for text, channel, place in watched:
        alone = sum(reply.place == place for reply in watched) == 1
        full = _full_name(name, place, "" if alone else channel)
        yield Reply(text, full, source)


def _name(record: Any) -> str | None:
    """What a record calls itself."""
    names = [record.get(key) for key in NAMES] if isinstance(record, dict) else []
    given = (name for name in names if isinstance(name, str | int) and not isinstance(name, bool))
    return next((str(name) for name in given if name != ""), None)


def _full_name(name: str, *marks: str) -> str:
    """A reply's name, with what tells it from others of the same record or stream."""
    return "#".join([name, *filter(None, marks)])


# Files that are one JSON document.


def _document(stream: io.BufferedIOBase, source: str, options: Options) -> Found:
    """A file that is one JSON document: a record, or a list of them."""
    text = _up_to(stream, options.max_line + 1).removeprefix(BYTE_ORDER_MARK)
    if len(text) > options.max_line:
        longer = f"the document is longer than {options.max_line:,} bytes"
        yield Problem(source, f"{longer}: raise --max-line, or if it has a record a line, --format jsonl")
    elif not text.strip():
        yield Problem(source, NOTHING)
    elif is_json(text.partition(b"\n")[0]) and not is_json(text):
        yield from _records(io.BytesIO(text), source, options)  # a record a line, by another name
    else:
        try:
            document = anything(text)
        except msgspec.DecodeError as error:
            yield Problem(source, f"not JSON: {error}")
            return
        if isinstance(document, list):
            yield from _members(document, source, options)
        else:
            yield from _replies(document, source, Path(source).name, source, options)


def _up_to(stream: io.BufferedIOBase, most: int) -> bytes:
    """What is there, up to ``most`` bytes: asked for at once, they would be set aside at once."""
    text = bytearray()
    while len(text) < most and (data := stream.read1(min(TEXT_PIECE, most - len(text)))):
        text += data
    return bytes(text)


def _members(members: list[Any], source: str, options: Options) -> Found:
    """The records of a list; one without any reply is one problem, not a thousand."""
    waiting: list[Problem] | None = []
    for number, record in enumerate(members, 1):
        for result in _replies(record, f"{source}[{number}]", str(number), source, options):
            if waiting is not None and isinstance(result, Problem):
                waiting.append(result)
                continue
            yield from waiting or ()
            waiting = None
            yield result
    if waiting:
        yield Problem(source, waiting[0].reason)
    elif not members:
        yield Problem(source, NOTHING)


# Streams and texts, which come in pieces.


def _blocks(stream: io.BufferedIOBase, source: str, problems: list[Problem]) -> Iterator[bytes]:
    """What a stream holds, up to where it cannot be read: what came before that is not lost."""
    try:
        while data := stream.read1(TEXT_PIECE):
            yield data
    except READ_ERRORS as error:
        problems.append(Problem(source, reason(error)))


def _stream(stream: io.BufferedIOBase, source: str, options: Options) -> Results:
    """A captured stream: one reply, or several side by side."""
    reader = StreamReader()
    readings: dict[tuple[int, Channel], Reading] = {}
    problems: list[Problem] = []
    try:
        for data in _blocks(stream, source, problems):
            yield from _listen(reader.feed(data), readings, source, options)
        rest = reader.finish()
        if problems:  # it was cut off, and with it the last event
            rest = [piece for piece in rest if isinstance(piece, Piece)]
        yield from _listen(rest, readings, source, options)
    except InputError as error:
        problems = problems or [Problem(source, str(error))]
    yield from problems
    several = len({number for number, _ in readings}) > 1
    for (number, channel), reading in sorted(readings.items()):
        alone = sum(other == number for other, _ in readings) == 1
        name = _full_name(Path(source).name, str(number) if several else "", "" if alone else channel)
        yield reading.verdict(name, source, explain=options.explain)


def _listen(
    read: list[Piece | Fault], readings: dict[tuple[int, Channel], Reading], source: str, options: Options
) -> Iterator[Problem]:
    for piece in read:
        if isinstance(piece, Fault):
            yield Problem(source, piece.reason)
        elif piece.channel in options.settings.channels:
            key = (piece.reply, piece.channel)
            if key not in readings:
                readings[key] = Reading(options.settings)
            readings[key].read(piece.text)


def _text(stream: io.BufferedIOBase, source: str, options: Options) -> Results:
    """A file that is one reply; bytes that are no UTF-8 are read as U+FFFD, and said once."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    strict = codecs.getincrementaldecoder("utf-8")()
    reading = Reading(options.settings)
    problems: list[Problem] = []
    damaged = False
    for data in chain(_blocks(stream, source, problems), [b""]):
        try:
            strict.decode(data, final=not data)
        except UnicodeDecodeError:
            damaged = True
        reading.read(decoder.decode(data, final=not data))
    yield from problems
    if damaged:
        yield Problem(source, "not all of it is UTF-8: what is not was read as U+FFFD")
    if reading.chars:
        yield reading.verdict(Path(source).name, source, explain=options.explain)
    elif not problems:
        yield Problem(source, NOTHING)
