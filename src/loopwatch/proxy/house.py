"""What every request uses, made once for a proxy."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from loopwatch.clock import Clock
from loopwatch.pricing.tokens import TokenRates
from loopwatch.proxy.callers import Callers
from loopwatch.proxy.conversations import Conversations
from loopwatch.proxy.ledger import Ledger
from loopwatch.proxy.settings import ProxySettings
from loopwatch.proxy.tallies import Tallies
from loopwatch.proxy.upstream import UpstreamTransport


@dataclass(frozen=True, slots=True)
class House:
    """The proxy's parts. ``name`` is what it calls itself to upstreams, so that it knows its own requests.

    ``tell`` is given each trip and each agent that goes in circles, as an object for programs.
    ``unstreamable`` has the upstreams that refuse to stream what is not asked for as a stream.
    """

    settings: ProxySettings
    transport: UpstreamTransport
    ledger: Ledger
    clock: Clock
    name: str
    tell: Callable[[dict[str, Any]], None]
    callers: Callers
    conversations: Conversations
    rates: TokenRates = field(default_factory=TokenRates)
    tallies: Tallies = field(default_factory=Tallies)
    unstreamable: set[str] = field(default_factory=set)
