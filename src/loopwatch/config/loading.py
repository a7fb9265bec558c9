"""The way in: a document that is sound becomes a ``Config``, any other a ConfigError with all its defects."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from loopwatch.config.defects import Defect, Fault
from loopwatch.config.document import Document, Profile
from loopwatch.config.faults import defect, faults, in_order
from loopwatch.config.limits import Limits
from loopwatch.config.reading import MOST_BYTES, Source, read
from loopwatch.config.references import references
from loopwatch.errors import ConfigError, InputError


@dataclass(frozen=True, slots=True)
class Config:
    """A sound configuration. ``declared`` is the document as it was read, which a run records."""

    document: Document
    declared: dict[str, Any]
    warnings: tuple[Defect, ...]

    @property
    def root(self) -> Profile:
        """The agent that a run starts."""
        return self.document.agents[0]

    @property
    def limits(self) -> Limits:
        """The ceilings, clocks and retries of the run."""
        return self.document.limits


def load_config(source: os.PathLike[str] | str | bytes) -> Config:
    """Read and judge a configuration: the file at a path, or the document itself as text or bytes.

    Raises ConfigError with every defect of the document, and InputError for a file that cannot be read.
    """
    return judge(read(_contents(source) if isinstance(source, os.PathLike) else source))


def _contents(path: os.PathLike[str]) -> bytes:
    try:
        with Path(path).open("rb") as file:
            return file.read(MOST_BYTES + 1)  # one more, to see that it is too large
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        raise InputError(f"{path}: {getattr(error, 'strerror', None) or error}") from None


def judge(source: Source, known: Iterable[Fault] = ()) -> Config:
    """Judge a document that has been read. Raises ConfigError.

    ``known`` is what is wrong with how it was put together, as an editor sees it; of the same place,
    nothing more is said.
    """
    before = list(known)
    told = {fault.path for fault in before}
    every = [Fault(path, "comes twice in its object: keep one", shown=False) for path in source.duplicates]
    every += references(source.value)
    document = None
    try:
        document = Document.model_validate(source.value)
    except ValidationError as error:
        every += faults(error)
    every = before + [fault for fault in every if fault.path not in told]
    reported = {fault.path for fault in every}
    every += [Fault(path, "must be a finite number") for path in source.endless if path not in reported]
    if document is None or every:
        raise ConfigError(in_order(source, every))
    return Config(document, source.value, tuple(defect(source, fault) for fault in _warnings(document)))


def _warnings(document: Document) -> list[Fault]:
    every: list[Fault] = []
    for index, agent in enumerate(document.agents):
        if agent.loop_detection is not None:
            every += agent.loop_detection.warnings(("agents", index, "loopDetection"))
    return every + document.limits.warnings(("limits",))
