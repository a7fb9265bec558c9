from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest

from loopwatch.sdk.tracker import Tracker
from tests.sdk.vendors import Collector, Vendors

Track = Callable[..., Tracker]


@pytest.fixture
def vendors() -> Iterator[Vendors]:
    with Vendors().running() as server:
        yield cast("Vendors", server)


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector().running() as server:
        yield cast("Collector", server)


@pytest.fixture
def track(collector: Collector) -> Iterator[Track]:
    """Make a tracker that sends to the collector; it is closed in the end."""
    made: list[Tracker] = []

    def make(**options: Any) -> Tracker:
        tracker = Tracker(**({"api_key": "lw_key", "endpoint": collector.url} | options))
        made.append(tracker)
        return tracker

    yield make
    for tracker in made:
        tracker.close()
