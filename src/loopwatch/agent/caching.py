"""``promptCacheTtl`` as each provider takes it: a field of the request, or a refusal.

OpenRouter's ``cache_control`` at the top of a request marks the last block that can be cached, for
Anthropic's models (its documentation, "Prompt caching"); OpenAI's ``prompt_cache_retention`` says how long
a prefix is kept. Sent anywhere else it would be ignored or refused, and a study of it would measure nothing.
"""

from typing import Any

from loopwatch.errors import InputError

OPENROUTER = ("5m", "1h")
OPENAI = ("in_memory", "24h")


def cache_fields(ttl: str, *, provider: str | None, model: str) -> dict[str, Any]:
    """The fields of a request that ask for this lifetime. Raises InputError where nothing would take them."""
    if provider == "openrouter" and model.startswith("anthropic/"):
        if ttl in OPENROUTER:
            return {"cache_control": {"type": "ephemeral", "ttl": ttl}}
        raise InputError(f"must be one of {', '.join(OPENROUTER)} for Anthropic's models at OpenRouter")
    if provider == "openai":
        if ttl in OPENAI:
            return {"prompt_cache_retention": ttl}
        raise InputError(f"must be one of {', '.join(OPENAI)} at OpenAI")
    raise InputError(
        "takes effect only at OpenAI and for Anthropic's models at OpenRouter: leave the key out here"
    )
