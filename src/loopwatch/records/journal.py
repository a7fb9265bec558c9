"""The journal's codec: rows to lines, and lines back to a run, whatever happened to them.

A run that was killed leaves a journal without its last row, perhaps with half a line at its end; a full
disk or the size that it may have leave one that stops early. ``fold`` says what is missing and keeps the
rest.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

import msgspec

from loopwatch.errors import InputError
from loopwatch.records.rollup import Rollup
from loopwatch.records.rows import (
    FORMAT,
    VERSION,
    CeilingRow,
    End,
    Envelope,
    Header,
    Message,
    ModelIO,
    Row,
)

FILE = "journal.jsonl"
"""Its name in the folder of a run."""

Damage = Literal["session_killed", "corrupt_journal", "byte_ceiling", "write_failed"]
"""No last row; a line that is none, or rows missing; the journal's own size; a disk that took no more."""

_TYPES: dict[str, Any] = {str(kind.__struct_config__.tag): kind for kind in get_args(Row)}


class Entry(NamedTuple):
    """A row with what surrounds it; ``row`` None where its type came with a later version."""

    envelope: Envelope
    row: Row | None


def encode(row: Row, *, seq: int, timestamp: str, agent_id: str | None = None) -> bytes:
    """The line of a row."""
    return line(fields(row, agent_id) | {"seq": seq, "timestamp": timestamp})


def fields(row: Row, agent_id: str | None = None) -> dict[str, Any]:
    """A row as an object: its own fields, then whose it is."""
    document: dict[str, Any] = msgspec.to_builtins(row)
    return document if agent_id is None or "agentId" in document else document | {"agentId": agent_id}


def line(document: Mapping[str, Any]) -> bytes:
    """An object as one line."""
    return msgspec.json.encode(document) + b"\n"


def decode(data: bytes) -> Entry:
    """A row from its line. Raises InputError for what is none."""
    try:
        envelope = msgspec.json.decode(data, type=Envelope)
        kind = _TYPES.get(envelope.type)
        return Entry(envelope, None if kind is None else msgspec.json.decode(data, type=kind))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"it is no row of a journal: {error}") from None


@dataclass(slots=True)
class Record:
    """A journal that was read: ``header``, the sums of its rows, and what it lacks.

    ``contexts`` has the messages of each agent, ``replies`` what its model answered, in their order.
    """

    header: Header
    started_at: str = ""
    last_at: str = ""
    rollup: Rollup = field(default_factory=Rollup)
    contexts: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict, repr=False)
    replies: dict[str, list[ModelIO]] = field(default_factory=dict, repr=False)
    end: End | None = None
    entries: int = 0
    damage: list[Damage] = field(default_factory=list)


def fold(lines: Iterable[bytes]) -> Record:
    """Read a journal, line by line, each with its line feed.

    Raises InputError where no record can be made of it: it is no journal, it is of a later version than
    this, or rows refer to what is not there though no line is damaged.
    """
    found = iter(lines)
    record = _opened(next(found, b""))
    is_whole = True
    for data in found:
        try:
            entry = decode(data) if data.endswith(b"\n") else None
        except InputError:
            entry = None
        if entry is None or entry.envelope.seq != record.entries:
            is_whole = False
        if entry is None:
            continue
        record.entries = max(record.entries, entry.envelope.seq) + 1
        _take(record, entry, is_whole=is_whole)
    _judge(record, is_whole=is_whole)
    return record


def _opened(data: bytes) -> Record:
    """The record that a first line begins."""
    try:
        entry = decode(data) if data.endswith(b"\n") else None
    except InputError as error:
        raise InputError(f"this is no journal of a run: {error}") from None
    if entry is None or not isinstance(entry.row, Header) or entry.row.format != FORMAT:
        raise InputError("this is no journal of a run: it does not begin with a whole header")
    if entry.row.version > VERSION:
        later = f"version {entry.row.version}, and this loopwatch reads {VERSION}"
        raise InputError(f"the journal is of {later}: upgrade it")
    at = entry.envelope.timestamp
    return Record(entry.row, started_at=at, last_at=at, entries=1)


def _take(record: Record, entry: Entry, *, is_whole: bool) -> None:
    row, agent = entry.row, entry.envelope.agent_id or ""
    record.last_at = entry.envelope.timestamp or record.last_at
    if row is None:
        return
    record.rollup.add(row, agent)
    match row:
        case Message():
            context = record.contexts.setdefault(agent, [])
            if row.index != len(context) and is_whole:
                raise InputError(f"the journal lacks message {len(context)} of {agent}: it was altered")
            context.append(row.message)
        case ModelIO():
            if row.messages > len(record.contexts.get(agent, ())) and is_whole:
                raise InputError(f"turn {row.turn} of {agent} refers to messages that are not there")
            record.replies.setdefault(agent, []).append(row)
        case CeilingRow():
            record.damage.append("byte_ceiling")
        case End():
            record.end = row
        case _:
            pass


def _judge(record: Record, *, is_whole: bool) -> None:
    """What the journal lacks."""
    if not is_whole or (record.end is not None and record.end.entries != record.entries):
        record.damage.append("corrupt_journal")
    if record.end is None:
        record.damage.append("session_killed")
