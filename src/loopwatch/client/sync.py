"""The same for programs without an event loop."""

import asyncio
from collections.abc import Coroutine, Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

from loopwatch.client.items import Item, Reply
from loopwatch.client.late import LatePrice
from loopwatch.client.model import ModelClient
from loopwatch.client.tally import Discarded
from loopwatch.errors import LoopwatchError

T = TypeVar("T")


class SyncModelClient:
    """``ModelClient`` without ``await``; it takes the same arguments. Close it, or use it with ``with``.

    Not for several threads at a time: each takes one of its own.
    """

    def __init__(self, model: str | None = None, **options: Any) -> None:
        """Take what ModelClient takes."""
        self._client = ModelClient(model, **options)
        self._runner = asyncio.Runner()

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
            self._run(items.aclose())

    def price_discarded(self, replies: Iterable[str | Discarded]) -> list[LatePrice]:
        """As ``ModelClient.price_discarded``."""
        return self._run(self._client.price_discarded(replies))

    def close(self) -> None:
        """Close whatever is open."""
        self._run(self._client.aclose())
        self._runner.close()

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
