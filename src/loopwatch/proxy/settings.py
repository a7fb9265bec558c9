"""What a proxy is started with."""

from dataclasses import dataclass, field
from typing import Literal, get_args

from loopwatch.detect.settings import LoopDetection
from loopwatch.proxy.upstreams import Upstreams

OnTrip = Literal["stop", "error", "retry"]
OnSteps = Literal["off", "warn", "block"]
ON_TRIP: tuple[OnTrip, ...] = get_args(OnTrip)
ON_STEPS: tuple[OnSteps, ...] = get_args(OnSteps)

MEBIBYTE = 1_048_576
HOLD = 2_000
"""Characters held back by ``retry``: ``balanced`` sees most loops within as many of their beginning."""

IDLE_SECS = 300.0
"""More patient than our own client: a local model may read a long prompt for minutes before it answers."""
CEILING_SECS = 3_600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxySettings:
    """Where requests go, who reads along, and what the limits are.

    ``on_trip`` says what becomes of a reply that loops: ``stop`` ends it as its provider would, ``error``
    with an error, ``retry`` asks again, ``retries`` times, while no more than ``hold`` characters of it
    have come. ``on_steps`` says what becomes of an agent that goes in circles. ``max_body`` is in bytes, of
    requests that are read; ``idle_secs`` and ``ceiling_secs`` are the two clocks of a reply,
    ``client_idle_secs`` how long a client may neither send nor take anything. ``key``, where there is one,
    is what clients must show.
    """

    upstreams: Upstreams
    detection: LoopDetection
    on_trip: OnTrip = "stop"
    hold: int = HOLD
    retries: int = 2
    on_steps: OnSteps = "warn"
    max_body: int = 64 * MEBIBYTE
    max_header: int = 65_536
    max_streams: int = 1_000
    idle_secs: float = IDLE_SECS
    ceiling_secs: float = CEILING_SECS
    client_idle_secs: float = 120.0
    key: str | None = field(default=None, repr=False)
