"""loopwatch catches LLM loops while they happen and before they cost money."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loopwatch.agent.run import Run
    from loopwatch.client.model import ModelClient
    from loopwatch.detect.engine import LoopDetector
    from loopwatch.detect.guard import watch
    from loopwatch.detect.settings import LoopDetection
    from loopwatch.detect.trip import Trip
    from loopwatch.errors import LoopTripped, LoopwatchError
    from loopwatch.offline.bench import bench
    from loopwatch.offline.scan import scan
    from loopwatch.offline.traces import bench_traces
    from loopwatch.sdk.tracker import Tracker
    from loopwatch.steps.loop import StepLoop
    from loopwatch.steps.monitor import StepMonitor
    from loopwatch.steps.settings import StepSettings
    from loopwatch.steps.step import Step

__all__ = [
    "LoopDetection",
    "LoopDetector",
    "LoopTripped",
    "LoopwatchError",
    "ModelClient",
    "Run",
    "Step",
    "StepLoop",
    "StepMonitor",
    "StepSettings",
    "Tracker",
    "Trip",
    "bench",
    "bench_traces",
    "scan",
    "watch",
]

_HOMES = {
    "LoopDetection": "loopwatch.detect.settings",
    "LoopDetector": "loopwatch.detect.engine",
    "LoopTripped": "loopwatch.errors",
    "LoopwatchError": "loopwatch.errors",
    "ModelClient": "loopwatch.client.model",
    "Run": "loopwatch.agent.run",
    "Step": "loopwatch.steps.step",
    "StepLoop": "loopwatch.steps.loop",
    "StepMonitor": "loopwatch.steps.monitor",
    "StepSettings": "loopwatch.steps.settings",
    "Tracker": "loopwatch.sdk.tracker",
    "Trip": "loopwatch.detect.trip",
    "bench": "loopwatch.offline.bench",
    "bench_traces": "loopwatch.offline.traces",
    "scan": "loopwatch.offline.scan",
    "watch": "loopwatch.detect.guard",
}
"""Where each public name lives: it is imported when it is first asked for, so that importing the
package costs nothing."""


def __getattr__(name: str) -> Any:
    """Import a public name on first use; also ``__version__``, from the distribution's metadata."""
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415  as the rest: only when asked for

        return version("loopwatch")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
