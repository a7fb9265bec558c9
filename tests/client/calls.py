"""A client whose provider and whose time are made up, and what became of a call."""

import logging
from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from loopwatch.client.fake import HANG, FakeAnswer, FakeTransport
from loopwatch.client.items import Item, Reply
from loopwatch.client.model import ModelClient
from loopwatch.client.transport import TransportError
from loopwatch.clock import ManualClock
from loopwatch.errors import ModelError
from tests.wire.streams import chunk, event

ASK = {"messages": [{"role": "user", "content": "Say something."}]}
DONE = b"data: [DONE]\n\n"
FINISH = event({"id": "gen-1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
ANSWER = FakeAnswer(chunks=[chunk({"content": "Some"}), chunk({"content": "thing."}), FINISH, DONE])
SILENT = FakeAnswer(chunks=[HANG])
LOOP_LINE = "void 0;\n"
"""Read a line at a time, the seed's rule sees it at word 3,065 and character 12,261."""


def looping(number: int = 1, **fields: Any) -> FakeAnswer:
    """A reply that goes round for longer than anybody reads."""
    first = chunk({"content": ""}, id=f"gen-loop-{number}", **fields)
    lines = [chunk({"content": LOOP_LINE}, id=f"gen-loop-{number}", **fields)] * 2_000
    return FakeAnswer(chunks=[first, *lines, FINISH, DONE])


class Outcome(NamedTuple):
    """What a call came to, after how much time."""

    items: list[Item]
    error: ModelError | None
    seconds: float
    transport: FakeTransport
    clock: ManualClock

    @property
    def reply(self) -> Reply:
        reply = self.items[-1]
        assert isinstance(reply, Reply)
        return reply

    @property
    def requests(self) -> int:
        return len(self.transport.requests)


async def call(
    *answers: FakeAnswer | TransportError,
    request: Mapping[str, Any] = ASK,
    label: str = "",
    clock: ManualClock | None = None,
    **options: Any,
) -> Outcome:
    """Ask once, with time that passes as fast as it can."""
    clock = clock or ManualClock()
    transport = FakeTransport(*answers, clock=clock)
    client = ModelClient(
        **{"model": "m", "base_url": "http://model.test/v1", **options}, transport=transport, clock=clock
    )
    items: list[Item] = []
    began = clock.monotonic()

    async def ask() -> ModelError | None:
        try:
            async for item in client.stream(request, label=label):
                items.append(item)  # noqa: PERF401  also those before an error
        except ModelError as error:
            return error
        return None

    error = await clock.run(ask())
    return Outcome(items, error, clock.monotonic() - began, transport, clock)


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the client warned of."""
    return [
        record.getMessage()
        for record in caplog.records
        if record.name == "loopwatch.client" and record.levelno == logging.WARNING
    ]
