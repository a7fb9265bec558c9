"""The tracker: the vendors' own clients, with every call logged, guarded, capped and counted.

``tracker`` has the Tracker; ``wrapping`` tells whose client it is given, ``clients`` (OpenAI, Anthropic) and
``gemini`` make the tracked copy, ``streams`` puts an ear into a vendor's stream, ``raw`` into what a caller
reads as HTTP. A call is a ``question``, let through by ``admission`` (``labels``, ``caps``, ``runs``) and
followed by ``watching`` (``guarding``) up to its row, which ``sender`` delivers over ``link``. ``forking``
and ``ending`` have what a process does to all of it.

``windows`` is the rolling window of this process, ``steps`` what can be seen of an agent's tools.
``langchain``, ``openai_agents`` and ``litellm`` plug into frameworks, by way of ``reporting``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loopwatch.sdk.caps import Downgrade
    from loopwatch.sdk.labels import in_context
    from loopwatch.sdk.runs import AgentRun
    from loopwatch.sdk.tracker import Tracker
    from loopwatch.sdk.windows import Velocity

__all__ = ["AgentRun", "Downgrade", "Tracker", "Velocity", "in_context"]

_HOMES = {
    "AgentRun": "loopwatch.sdk.runs",
    "Downgrade": "loopwatch.sdk.caps",
    "Tracker": "loopwatch.sdk.tracker",
    "Velocity": "loopwatch.sdk.windows",
    "in_context": "loopwatch.sdk.labels",
}
"""Where each name lives."""


def __getattr__(name: str) -> Any:
    """Import a name on first use."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
