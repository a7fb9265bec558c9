"""One request that survives: a looping, stalling or failing provider costs a bounded, known amount.

``ModelClient`` asks a model and answers with its reply. Below it, in the order of a request's life:
``endpoint`` (what is sent, and where), ``transport`` (who sends it), ``attempt`` (one request),
``status`` (what the head of its answer says), ``listener`` (its chunks, up to a reply or a loop),
``watchdog`` (its two clocks), ``call`` and ``schedule`` (whether and when to ask again), ``tally`` (what
was thrown away) and ``late`` (what that cost in the end).
"""

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loopwatch.client.items import AttemptDiscarded, Delta, LoopSeen, Reply
    from loopwatch.client.late import LatePrice
    from loopwatch.client.model import ModelClient
    from loopwatch.client.sync import SyncModelClient
    from loopwatch.client.tally import Abandoned, Discarded, Tally

__all__ = [
    "Abandoned",
    "AttemptDiscarded",
    "Delta",
    "Discarded",
    "LatePrice",
    "LoopSeen",
    "ModelClient",
    "Reply",
    "SyncModelClient",
    "Tally",
]

logging.getLogger("loopwatch").addHandler(logging.NullHandler())  # who wants to hear of it, says so

_HOMES = {
    "Abandoned": "loopwatch.client.tally",
    "Discarded": "loopwatch.client.tally",
    "LatePrice": "loopwatch.client.late",
    "LoopSeen": "loopwatch.client.items",
    "Tally": "loopwatch.client.tally",
    "AttemptDiscarded": "loopwatch.client.items",
    "Delta": "loopwatch.client.items",
    "ModelClient": "loopwatch.client.model",
    "Reply": "loopwatch.client.items",
    "SyncModelClient": "loopwatch.client.sync",
}
"""Where each name lives: whoever needs the items alone, or a fake, does not wait for aiohttp."""


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
