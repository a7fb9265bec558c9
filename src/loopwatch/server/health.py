"""Whether the server lives, whether it can work, and what it has done, for those who watch the watcher."""

from collections.abc import Iterator
from importlib.metadata import version

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from loopwatch.errors import StoreError
from loopwatch.hosting.exposition import KIND, heading
from loopwatch.server.answers import Json, refusal
from loopwatch.server.services import Services, services

_WRITER = {
    "transactions": "Transactions of the writer.",
    "stored": "Calls that were stored.",
    "corrected": "Calls whose estimated usage was replaced by the provider's own.",
    "duplicates": "Calls that had been stored before.",
    "conflicts": "Calls whose event id had been stored with other figures.",
    "alerts": "Alerts that were raised.",
    "unavailable": "Calls that were turned away because the database could not take them.",
    "repeated": "Transactions that were begun anew because another process came first.",
}
"""What the writer counts, each with what it means."""


async def alive(_: Request) -> Response:
    """The process answers."""
    return Json({"status": "ok"})


async def ready(request: Request) -> Response:
    """The database can be used."""
    try:
        await services(request).store.ready()
    except StoreError as error:
        return refusal(503, str(error), {"Retry-After": "2"})
    return Json({"status": "ready"})


async def metrics(request: Request) -> Response:
    """Counters in Prometheus' text format. They name no project and no user."""
    return PlainTextResponse("\n".join(_lines(services(request))) + "\n", headers={"Content-Type": KIND})


def _lines(server: Services) -> Iterator[str]:
    yield from heading("loopwatch_info", "gauge", "The version that runs.")
    yield f'loopwatch_info{{version="{version("loopwatch")}"}} 1'
    counts = server.store.writer.counts
    for name, meaning in _WRITER.items():
        metric = f"loopwatch_writer_{name}_total"
        yield from heading(metric, "counter", meaning)
        yield f"{metric} {getattr(counts, name)}"
    yield from heading("loopwatch_http_responses_total", "counter", "Answers by their status.")
    for status, count in sorted(server.answers.items()):
        yield f'loopwatch_http_responses_total{{code="{status}"}} {count}'
