"""Files to scan, and what is read of them."""

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import zstandard

from loopwatch.detect.settings import LoopDetection
from loopwatch.offline.replies import Options, read_source
from loopwatch.offline.sources import Source, find_sources
from loopwatch.offline.verdict import Problem, Verdict

Pack = Callable[[bytes], bytes]
PACKS: dict[str, Pack] = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}
LOOP = "la la la, this is the song that never ends. " * 100
SOUND = "Nothing is said twice here."


def lines(*records: Any) -> bytes:
    return b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records)


def write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_bytes(content)
    return path


def options(**changes: Any) -> Options:
    usual = {
        "settings": LoopDetection.preset("balanced"),
        "field": None,
        "max_line": 1 << 20,
        "explain": False,
    }
    return Options(**usual | changes)


def watching(*channels: Any) -> Options:
    return options(settings=LoopDetection(channels=channels, rules=("cycle",)))


def source(path: Path | str) -> Source:
    """The one source that a path names."""
    (found,) = find_sources([str(path)])
    assert isinstance(found, Source)
    return found


def results(path: Path, **changes: Any) -> list[Verdict | Problem]:
    return list(read_source(source(path), options(**changes)))


def verdicts(found: list[Verdict | Problem]) -> list[Verdict]:
    return [one for one in found if isinstance(one, Verdict)]


def problems(found: list[Verdict | Problem]) -> list[str]:
    return [str(one) for one in found if isinstance(one, Problem)]


def sizes(found: list[Verdict | Problem]) -> list[tuple[str, int]]:
    """Each reply's id, with its characters."""
    return [(one.id, one.chars) for one in verdicts(found)]


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]
