"""Writes a run's journal: a row is with the system once ``append`` returns, on disk at the end of a turn.

So a process that is killed loses nothing of what it wrote, and a machine that loses power no finished turn.
What goes wrong here never ends a run: a full disk, and the size that a journal may have, end the recording.
"""

import asyncio
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from loopwatch.agent.folder import sync_folder
from loopwatch.records.breach import TerminalStatus
from loopwatch.records.journal import Damage, encode
from loopwatch.records.rows import CeilingRow, End, Header, Row
from loopwatch.records.summary import JournalState

RESERVED = 512
"""Bytes kept for the two rows that say that and how it ended."""

Redact = Callable[[bytes], bytes]
"""Takes secrets out of a line."""


class Journal:
    """One run's journal. ``most`` is its size in bytes at which it stops; ``damage`` what it lacks.

    Its header is written whatever ``most`` is: a journal without one could not be read at all.
    """

    def __init__(self, path: Path, *, most: int, redact: Redact) -> None:
        """Begin the file. Raises OSError."""
        self.damage: list[Damage] = []
        self.entries = 0
        self.bytes = 0
        self.failure: str | None = None
        self._most = most
        self._redact = redact
        self._syncing = threading.Lock()
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o644)
        sync_folder(path.parent)

    @property
    def state(self) -> JournalState:
        """What became of it."""
        return JournalState(bytes=self.bytes, entries=self.entries, damage=list(self.damage))

    @property
    def is_recording(self) -> bool:
        """Whether further rows are taken."""
        return not self.damage

    def append(self, row: Row, *, timestamp: str, agent_id: str | None = None) -> None:
        """Take a row. Once the recording has ended, nothing happens."""
        if not self.is_recording:
            return
        line = self._line(row, timestamp, agent_id)
        if self.bytes + len(line) + RESERVED > self._most and not isinstance(row, Header | End):
            self._write(self._line(CeilingRow(most=self._most), timestamp))
            self.damage.append("byte_ceiling")
            return
        self._write(line)

    async def sync(self) -> None:
        """Make what was written durable."""
        if self._file >= 0 and self.failure is None:
            await asyncio.to_thread(self._sync)

    async def close(self, status: TerminalStatus, *, timestamp: str) -> None:
        """Write the last row and close. A second time does nothing."""
        if self._file < 0:
            return
        if self.failure is None:
            self._write(self._line(End(status=status, entries=self.entries + 1), timestamp))
        await self.sync()
        with self._syncing:
            file, self._file = self._file, -1
            os.close(file)

    def _line(self, row: Row, timestamp: str, agent_id: str | None = None) -> bytes:
        return self._redact(encode(row, seq=self.entries, timestamp=timestamp, agent_id=agent_id))

    def _write(self, line: bytes) -> None:
        """Write a whole line or, where the disk takes no more, none of it."""
        left = memoryview(line)
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except OSError as error:
            self._fail(error)
            with suppress(OSError):  # a device, say: then half a line is read as what it is
                os.ftruncate(self._file, self.bytes)
            return
        self.bytes += len(line)
        self.entries += 1

    def _sync(self) -> None:
        with self._syncing:  # a turn that was cut leaves its thread behind, which may come late
            if self._file < 0:
                return
            try:
                os.fsync(self._file)
            except OSError as error:
                self._fail(error)

    def _fail(self, error: OSError) -> None:
        if "write_failed" not in self.damage:
            self.damage.append("write_failed")
        self.failure = error.strerror or type(error).__name__
