"""What can be asked: where documents come from, whoever holds them."""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from loopwatch.query.syntax import Source
from loopwatch.query.values import Document


class Corpus(Protocol):
    """Documents of one source. Each has an ``id`` of its own."""

    @property
    def source(self) -> Source:
        """What the documents are about."""
        ...

    def pages(self) -> AsyncIterator[Sequence[Document]]:
        """All documents, some thousand at a time, in any order."""
        ...
