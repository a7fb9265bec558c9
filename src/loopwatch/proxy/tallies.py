"""What the proxy has done, for metrics. Figures only: no user, no model, no path."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import version

from loopwatch.hosting.exposition import heading


@dataclass(slots=True)
class Tallies:
    """Counts since the start; ``streams`` are requests under way."""

    streams: int = 0
    answers: Counter[tuple[str, int]] = field(default_factory=Counter)
    trips: Counter[tuple[str, str]] = field(default_factory=Counter)
    steps: Counter[tuple[str, str]] = field(default_factory=Counter)
    retried: int = 0
    broken: int = 0
    gone: int = 0

    def lines(self, lost: int) -> Iterator[str]:
        """Prometheus' text."""
        yield from heading("loopwatch_info", "gauge", "The version that runs.")
        yield f'loopwatch_info{{version="{version("loopwatch")}"}} 1'
        yield from heading("loopwatch_proxy_streams", "gauge", "Requests under way.")
        yield f"loopwatch_proxy_streams {self.streams}"
        yield from heading("loopwatch_proxy_answers_total", "counter", "Answers by API and status.")
        for (vendor, status), count in sorted(self.answers.items()):
            yield f'loopwatch_proxy_answers_total{{api="{vendor}",code="{status}"}} {count}'
        yield from heading("loopwatch_proxy_trips_total", "counter", "Replies that became a loop.")
        for (rule, action), count in sorted(self.trips.items()):
            yield f'loopwatch_proxy_trips_total{{rule="{rule}",action="{action}"}} {count}'
        yield from heading("loopwatch_proxy_steps_total", "counter", "Agents that went in circles.")
        for (rule, action), count in sorted(self.steps.items()):
            yield f'loopwatch_proxy_steps_total{{rule="{rule}",action="{action}"}} {count}'
        for name, count, meaning in (
            ("retried", self.retried, "Replies that were discarded unseen and asked for again."),
            ("upstream_failures", self.broken, "Upstreams that did not answer, or broke off."),
            ("clients_gone", self.gone, "Clients that left before the end."),
            ("rows_lost", lost, "Calls that could not be logged."),
        ):
            yield from heading(f"loopwatch_proxy_{name}_total", "counter", meaning)
            yield f"loopwatch_proxy_{name}_total {count}"
