"""Agents that go in circles, seen in what their requests repeat: the same tool calls, again and again.

Each request of an agent carries its whole conversation. It is known again by what it begins with: the
monitor that has read the longest prefix of it reads the rest. Kept are hashes and a monitor for each
conversation, never a text; the conversations are bounded, the one that was silent for longest is forgotten.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from loopwatch.clock import Clock
from loopwatch.steps.loop import StepLoop
from loopwatch.steps.monitor import StepMonitor
from loopwatch.steps.step import Step
from loopwatch.wire.assembly import Format
from loopwatch.wire.conversation import Part, conversation

MOST = 512
"""Conversations that are followed at a time."""
RESULT_CHARS = 100_000
"""Characters of a result that a monitor is shown."""
APART = 60.0
"""Seconds between steps of which we do not know when they were made: as patient as a monitor can be."""
AGENT = "agent"

Mark = bytes


@dataclass(slots=True)
class _Followed:
    """A conversation: its monitor, and whether its loop was told."""

    monitor: StepMonitor
    told: bool = False


@dataclass(frozen=True, slots=True)
class Circling:
    """An agent goes in circles; ``is_news`` where nobody has been told yet."""

    loop: StepLoop
    is_news: bool


class Conversations:
    """Follows conversations. ``read`` every request."""

    def __init__(self, clock: Clock, most: int = MOST) -> None:
        self._clock = clock
        self._most = most
        self._known: OrderedDict[Mark, _Followed] = OrderedDict()

    def __len__(self) -> int:
        """How many are followed."""
        return len(self._known)

    def read(self, spoken: Format, body: Mapping[str, Any], caller: str) -> Circling | None:
        """Read what is new in a request of ``caller``; the verdict where its agent goes in circles."""
        steps = list(_steps(spoken, body))
        if not steps:
            return None
        marks = list(_marks(steps, caller))
        at, followed = self._followed(marks)
        self._observe(followed, steps, at)
        self._known[marks[-1]] = followed
        self._known.move_to_end(marks[-1])
        if len(self._known) > self._most:
            self._known.popitem(last=False)
        loop = followed.monitor.loop
        if loop is None:
            return None
        is_news, followed.told = not followed.told, True
        return Circling(loop, is_news)

    def _followed(self, marks: list[Mark]) -> tuple[int, _Followed]:
        """Whoever has read the longest beginning, and how many steps that is; one that goes on is moved."""
        for at in range(len(marks), 0, -1):
            found = self._known.pop(marks[at - 1], None)
            if found is not None:
                return at, found
        return 0, _Followed(StepMonitor())

    def _observe(self, followed: _Followed, steps: list[Step], at: int) -> None:
        now = self._clock.monotonic()
        unread = steps[at:]
        for behind, step in zip(range(len(unread) - 1, -1, -1), unread, strict=True):
            if step.role == "user" and followed.monitor.loop is not None:
                followed.monitor, followed.told = StepMonitor(), False  # whatever comes now was asked for
            moment = now if at else now - APART * behind
            followed.monitor.observe(msgspec.structs.replace(step, t=moment))


def _steps(spoken: Format, body: Mapping[str, Any]) -> Iterator[Step]:
    """The steps that a request shows complete: calls with their results, and what was only said."""
    pending: dict[str, Part] = {}
    said = ""
    for part in conversation(spoken, body):
        if said and part.kind in ("user", "said"):
            yield Step(role=AGENT, result=said)
            said = ""
        if part.kind == "user":
            yield Step(role="user", result=part.text)
        elif part.kind == "call":
            pending[part.key] = part._replace(text=said)
            said = ""
        elif part.kind == "said":
            said = part.text
        else:
            call = pending.pop(part.key, None)
            if call is not None:
                yield _step(call, part)


def _step(call: Part, result: Part) -> Step:
    text = result.text[:RESULT_CHARS]
    return Step(
        role=AGENT,
        tool=call.name,
        args=call.args,
        result=text,
        error=text if result.is_error else None,
        text=call.text or None,
    )


def _marks(steps: list[Step], caller: str) -> Iterator[Mark]:
    """For each step, what the conversation up to it is known by."""
    chain = hashlib.blake2b(caller.encode("utf-8", "surrogatepass"), digest_size=16)
    for step in steps:
        chain.update(
            msgspec.json.encode((step.role, step.tool, step.args, step.result, step.text), enc_hook=str)
        )
        yield chain.digest()
