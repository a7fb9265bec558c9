"""``SyncModelClient``: the model client for programs without an event loop."""

import asyncio
from collections.abc import Coroutine, Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any, Self, TypedDict, TypeVar, Unpack

from loopwatch.client.items import Item, Reply
from loopwatch.client.late import LatePrice
from loopwatch.client.model import ModelClient
from loopwatch.client.tally import Abandoned, Discarded
from loopwatch.client.transport import Transport
from loopwatch.clock import Clock
from loopwatch.detect.settings import LoopDetection
from loopwatch.errors import LoopwatchError

T = TypeVar("T")


class Options(TypedDict, total=False):
    """What ModelClient takes besides the model; see there."""

    base_url: str | None
    api_key: str | None
    api_key_env: str | None
    headers: Mapping[str, str] | None
    loop_detection: LoopDetection | str | None
    retries: int
    idle_secs: float
    call_timeout_secs: float
    retry_max_delay_secs: float
    retry_with: Mapping[str, Any] | None
    generation_lookup: bool | None
    transport: Transport | None
    clock: Clock | None


class SyncModelClient:
    """``ModelClient`` without ``await``; it takes the same arguments. Close it, or use it with ``with``.

    Not for several threads at a time: each takes one of its own.
    """

    def __init__(self, model: str | None = None, **options: Unpack[Options]) -> None:
        """Take what ModelClient takes."""
        self._client = ModelClient(model, **options)
        self._runner = asyncio.Runner()
        self._closed = False

    def __repr__(self) -> str:
        """Whom it asks."""
        return f"Sync{self._client!r}"

    def complete(self, request: Mapping[str, Any], *, label: str = "") -> Reply:
        """As ``ModelClient.complete``."""
        return self._run(self._client.complete(request, label=label))

    def stream(self, request: Mapping[str, Any], *, label: str = "") -> Iterator[Item]:
        """As ``ModelClient.stream``; closing the iterator closes the connection."""
        items = self._client.stream(request, label=label)

        async def following() -> Item | None:
            return await anext(items, None)

        try:
            while (item := self._run(following())) is not None:
                yield item
        finally:
            if not self._closed:  # or the client was closed before, and this with it
                self._run(items.aclose())

    def price_discarded(self, replies: Iterable[str | Discarded | Abandoned]) -> list[LatePrice]:
        """As ``ModelClient.price_discarded``."""
        return self._run(self._client.price_discarded(replies))

    def close(self) -> None:
        """Close whatever is open; a second time does nothing."""
        if not self._closed:
            self._run(self._client.aclose())
            self._runner.close()
            self._closed = True

    def __enter__(self) -> Self:
        """Nothing is opened before it is needed."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return self._runner.run(work)
        work.close()
        raise LoopwatchError("an event loop is running here: use ModelClient, with await")
