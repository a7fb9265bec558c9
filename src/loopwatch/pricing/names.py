"""The ways in which one model is spelt, the surest first: never by the beginning of its id alone.

``gpt-4.1`` is not ``gpt-4``, and ``claude-opus-4-5`` costs a third of ``claude-opus-4``. So an id is
looked up as it is, and then only without what certainly names no other model:

* a date: ``-2024-08-06``, ``-20250514``, ``@20250219``, and a preview's (``-preview-05-20``)
* ``-latest``, and the number of a release: ``-001`` (Google), ``-v1:0`` (Bedrock)
* the vendor before a slash where the vendor is who sells: ``openai/gpt-4o``, ``models/gemini-2.5-pro``

What follows a colon (``:free``, ``:thinking``, ``:batch``, ``:nitro``) has a price of its own and is
never left out.
"""

import re
from collections.abc import Iterator

from loopwatch.pricing.providers import canonical

MOST_CHARS = 200
"""No model's id is longer; what is cannot be remembered, or a hostile client fills the memory."""

MAKERS = (
    *("openai", "anthropic", "google", "mistral", "deepseek", "moonshotai", "x-ai", "cohere"),
    *("perplexity", "minimax", "zai", "zhipuai", "voyageai"),
)
"""Who sells models of their own: asked in this order for an id that comes without provider or vendor."""

_DAY = r"(20\d\d)(-?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])"
_dated = re.compile(rf"[-@]{_DAY}$")
_preview = re.compile(r"(?<=-preview)-\d\d-(?:\d\d|20\d\d)$")
_release = re.compile(r"(?:-latest|-00\d)$")
_bedrock = re.compile(r"-v\d+(?::\d+)?$")
_region = re.compile(r"^(?:us|us-gov|eu|apac|au|jp|ca|in)\.")
"""Of Bedrock's inference profiles; ``global.`` is not among them: it has prices of its own."""


def forms(model: str) -> list[str]:
    """The spellings of an id, itself first, in lower case; none of an id that cannot be one."""
    name = model.strip().lower()
    if not name or len(name) > MOST_CHARS:
        return []
    every = [name]
    if _bedrock.search(name):
        name = _bedrock.sub("", name)
        every.append(name)
    if found := _dated.search(name):
        year, _, month, day = found.groups()
        every += [f"{name[: found.start()]}-{year}-{month}-{day}", name[: found.start()]]
    every += [_preview.sub("", name), _release.sub("", name)]
    return list(dict.fromkeys(every))


def places(model: str, provider: str | None) -> Iterator[tuple[str, str]]:
    """Where a price of ``model`` may be listed: pairs of a provider and the id that it uses there.

    ``provider`` is a canonical name. Without one, a slug with a vendor is OpenRouter's before it is the
    vendor's, and a bare id is whose model it is.
    """
    for name in forms(model):
        vendor, slash, rest = name.partition("/")
        seller = canonical(vendor) if slash else None
        if provider is not None:
            yield provider, name
        elif seller is not None:
            yield "openrouter", name
        else:
            yield from ((maker, name) for maker in MAKERS)
        if seller is not None and provider in (None, "openrouter", seller):  # OpenRouter adds no margin
            yield seller, rest
        if provider == "google" and slash:  # models/…, publishers/google/models/…
            yield provider, name.rpartition("/")[2]
        if provider == "aws":
            regional = _region.sub("", name.rpartition("/")[2])
            yield provider, regional
            if not regional.startswith("global."):
                yield provider, regional.partition(".")[2]


def keys(model: str, provider: str | None) -> Iterator[str]:
    """The keys under which a project may have set a price of ``model``."""
    for name in forms(model):
        if provider is not None:
            yield f"{provider}/{name}"
        yield name
        vendor, slash, rest = name.partition("/")
        if slash:
            yield f"{canonical(vendor) or vendor}/{rest}"
            yield rest
