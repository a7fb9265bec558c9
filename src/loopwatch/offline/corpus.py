"""Reading a labelled corpus: one JSON object a line, plain, gzipped or compressed with Zstandard."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, Protocol, TypeVar

import msgspec

from loopwatch.errors import InputError
from loopwatch.offline.packed import READ_ERRORS, open_packed, reason

REPLIES = "replies.jsonl"
"""The file of a corpus folder that holds its labelled replies."""

SUFFIXES = ("", ".gz", ".zst")


class Case(msgspec.Struct, frozen=True):
    """One labelled reply. ``onset_char`` is where its loop begins, ``loop_end_char`` where it recovers."""

    id: str
    family: str
    label: Literal["loop", "legit", "unsure"]
    text: str
    onset_char: int | None = None
    loop_end_char: int | None = None
    source: str = ""
    note: str = ""

    @property
    def onset(self) -> int:
        """Where the loop begins; meaningful for loops alone."""
        return self.onset_char or 0

    @property
    def end(self) -> int:
        """The last place where cutting it still makes sense."""
        return len(self.text) if self.loop_end_char is None else self.loop_end_char

    @property
    def fault(self) -> str | None:
        """What makes a loop's places meaningless, in words; None where nothing does."""
        if self.label != "loop":
            return None
        if self.onset_char is None or not 0 <= self.onset_char <= len(self.text):
            return "a loop needs an onset_char inside its text"
        return None if self.onset <= self.end <= len(self.text) else "loop_end_char lies outside the loop"

    @property
    def decidable(self) -> bool:
        """Whether the text alone can tell: not where the repetition may have been asked for."""
        return self.label != "unsure" and self.family != "asked_repeat"


def read_corpus(path: Path) -> list[Case]:
    """The cases of a file, or of the ``replies.jsonl`` (also .gz, .zst) of a folder.

    Raises InputError, naming the file and the line, where there is none or a line is no case.
    """
    return read_labelled(path, REPLIES, Case, ("reply", "replies"))


class Labelled(Protocol):
    """What a labelled corpus is made of, one a line; ``fault`` says what is wrong with one, if anything."""

    @property
    def id(self) -> str:
        """Its name, which no other one has."""

    @property
    def fault(self) -> str | None:
        """What cannot be so, in words; None where nothing is wrong."""


L = TypeVar("L", bound=Labelled)


def read_labelled(path: Path, name: str, kind: type[L], nouns: tuple[str, str]) -> list[L]:
    """What the lines of a file hold, or of the file called ``name`` (also .gz, .zst) of a folder.

    ``nouns`` is what one of them is called, and several. Raises InputError, naming the file and the line.
    """
    one, several = nouns
    path = find_in(path, name)
    decoder = msgspec.json.Decoder(kind)
    every: dict[str, L] = {}
    for number, line in enumerate(lines_of(path), 1):
        if not line.strip():
            continue
        try:
            read = decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(f"{path}:{number}: not a labelled {one}: {error}") from None
        fault = "its id stands twice in the file" if read.id in every else read.fault
        if fault:
            raise InputError(f"{path}:{number}: {read.id!r}: {fault}")
        every[read.id] = read
    if not every:
        raise InputError(f"{path}: no labelled {several} in it")
    return list(every.values())


def find_in(path: Path, name: str) -> Path:
    """``path`` itself, or the file of that name (also .gz, .zst) in it where it is a folder.

    Raises InputError where the folder has none.
    """
    if not path.is_dir():
        return path
    names = [path / (name + suffix) for suffix in SUFFIXES]
    found = next((one for one in names if one.is_file()), None)
    if found is None:
        raise InputError(f"{path}: no {name} (or .gz, .zst) in this folder")
    return found


def lines_of(path: Path) -> Iterator[bytes]:
    """The lines of a file, unpacked. Raises InputError where it cannot be read."""
    try:
        with open_packed(path) as stream:
            yield from stream
    except READ_ERRORS as error:
        raise InputError(f"{path}: {reason(error)}") from None
