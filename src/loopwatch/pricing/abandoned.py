"""Who goes on billing when the connection to a streaming reply is dropped.

From OpenRouter's documentation, page "Streaming" (openrouter.ai/docs/api-reference/streaming), section
"Stream Cancellation", as of 2026-11: providers where cancelling stops the reply and its billing, and
providers where the whole reply is generated and billed. The price looked up afterwards is the truth;
this is for a warning before it.
"""

import re

from loopwatch.pricing.providers import canonical

SOURCE = "openrouter.ai/docs/api-reference/streaming"
AS_OF = "2026-11"

STOPS = (
    *("OpenAI", "Azure", "Anthropic", "Fireworks", "Mancer", "Recursal", "AnyScale", "Lepton", "OctoAI"),
    *("Novita", "DeepInfra", "Together", "Cohere", "Hyperbolic", "Infermatic", "Avian", "xAI", "Cloudflare"),
    *("SFCompute", "Nineteen", "Liquid", "Friendli", "Chutes", "DeepSeek"),
)
"""Dropping the connection stops the reply and its billing."""

BILLS_ON = (
    *("AWS Bedrock", "Groq", "Modal", "Google", "Google AI Studio", "Minimax", "HuggingFace", "Replicate"),
    *("Perplexity", "Mistral", "AI21", "Featherless", "Lynn", "Lambda", "Reflection", "SambaNova"),
    *("Inflection", "ZeroOneAI", "AionLabs", "Alibaba", "Nebius", "Kluster", "Targon", "InferenceNet"),
)
"""The whole reply is billed, whoever has stopped reading."""

_mark = re.compile(r"[^a-z0-9]+")


def _plain(name: str | None) -> str:
    return _mark.sub("", canonical(name) or "")


_BILLS = {_plain(name): False for name in STOPS} | {_plain(name): True for name in BILLS_ON}


def bills_after_drop(provider: str | None) -> bool | None:
    """Whether ``provider`` bills the whole reply after the connection was dropped; None: not known.

    Whoever serves the model counts, so behind OpenRouter the provider that its stream names. Case,
    blanks and punctuation of the name do not count.
    """
    return _BILLS.get(_plain(provider))
