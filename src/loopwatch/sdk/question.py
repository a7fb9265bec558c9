"""A model call as it is about to be made, whoever's SDK makes it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from loopwatch.pricing.providers import LOCAL, provider_of
from loopwatch.sdk.labels import Labels
from loopwatch.wire.assembly import Format

if TYPE_CHECKING:
    from loopwatch.sdk.runs import AgentRun

FORMATS: dict[str, Format] = {
    "/chat/completions": "openai",
    "/completions": "openai",
    "/responses": "responses",
    "/v1/messages": "anthropic",
}
"""The paths that make a model answer, as the vendors' own clients name them."""
SPEAKERS: dict[Format, str] = {
    "openai": "openai",
    "responses": "openai",
    "anthropic": "anthropic",
    "gemini": "google",
}
"""Who is asked where the address does not tell."""
ASKS = (
    *("messages", "input", "prompt", "system", "instructions"),
    *("contents", "systemInstruction", "tools"),
)
"""The parts of a request that become input tokens."""


@dataclass(slots=True, kw_only=True)
class Question:
    """What is asked, of whom, for whom. The request stays out of ``repr``.

    ``hides_usage`` says that the usage was asked for by us and its chunk is not the caller's.
    """

    format: Format
    provider: str
    base_url: str
    model: str
    labels: Labels
    body: dict[str, Any] = field(repr=False)
    streams: bool = False
    hides_usage: bool = False
    run: "AgentRun | None" = None

    @property
    def texts(self) -> Iterator[str]:
        """Every text of the request: what its input is estimated from where nobody reports it."""
        for key in ASKS:
            yield from _texts(self.body.get(key))


def _texts(value: Any, depth: int = 12) -> Iterator[str]:
    if isinstance(value, str):
        if not value.startswith("data:"):  # an image or a file: its characters are no tokens
            yield value
    elif isinstance(value, Mapping) and depth:
        for key, inner in value.items():
            if key not in {"type", "role", "data", "id"}:
                yield from _texts(inner, depth - 1)
    elif isinstance(value, list | tuple) and depth:
        for inner in value:
            yield from _texts(inner, depth - 1)


def format_at(path: str) -> Format | None:
    """What is spoken at a path; None where no model answers there."""
    return FORMATS.get(path.partition("?")[0])


def provider_at(base_url: object, spoken: Format) -> str:
    """Who is asked: by the address, else whose format it is.

    At an address on this network it is ``local`` for OpenAI's format, which every local server speaks;
    whoever speaks another one there is taken for a proxy before the vendor.
    """
    found = provider_of(str(base_url))
    return SPEAKERS[spoken] if found is None or (found == LOCAL and spoken != "openai") else found
