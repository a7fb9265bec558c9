"""What became of processes that others started."""

import os
import time
from contextlib import suppress
from pathlib import Path


def ended(pid: int) -> bool:
    """Whether a process ends, soon; one that nobody has asked for yet has ended too."""
    for _ in range(1_000):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        with suppress(OSError):
            _, _, state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")
            if state[:1] in ("Z", "X"):
                return True
        time.sleep(0.01)
    return False
