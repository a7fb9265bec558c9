"""What the library logs while a command runs, kept until there is a good moment to say it."""

import logging
from types import TracebackType
from typing import Self

from loopwatch.cli.terminal import say


class Notes(logging.Handler):
    """Collects the warnings of a logger for as long as the block lasts."""

    def __init__(self, logger: str) -> None:
        """Take the logger's name."""
        super().__init__(logging.WARNING)
        self._logger = logging.getLogger(logger)
        self._lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one."""
        self._lines.append(record.getMessage())

    def print(self) -> None:
        """Say what was kept, a line each, on standard error."""
        for line in self._lines:
            say(f"loopwatch: {line}")
        self._lines.clear()

    def __enter__(self) -> Self:
        """Begin to listen."""
        self._logger.addHandler(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Listen no more."""
        self._logger.removeHandler(self)
