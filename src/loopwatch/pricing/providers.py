"""Who sells: one name for each provider, whoever spells it, and the provider behind a base URL.

The names are genai-prices' own ids (``openai``, ``google``, ``x-ai``), and ``local`` for a model on
one's own machine or network.
"""

import ipaddress
import re
from functools import lru_cache

LOCAL = "local"

_ALIASES = {
    # OpenTelemetry's gen_ai.provider.name
    "aws.bedrock": "aws",
    "azure.ai.inference": "azure",
    "azure.ai.openai": "azure",
    "gcp.gemini": "google",
    "gcp.gen-ai": "google",
    "gcp.vertex-ai": "google",
    "mistral-ai": "mistral",
    "moonshot-ai": "moonshotai",
    "xai": "x-ai",
    # what SDKs, OpenRouter's slugs and its serving providers call them
    "amazon": "aws",
    "amazon-bedrock": "aws",
    "aws-bedrock": "aws",
    "azure-openai": "azure",
    "bedrock": "aws",
    "claude": "anthropic",
    "fireworks-ai": "fireworks",
    "gemini": "google",
    "google-ai-studio": "google",
    "google-genai": "google",
    "google-vertex": "google",
    "kimi": "moonshotai",
    "mistralai": "mistral",
    "moonshot": "moonshotai",
    "together-ai": "together",
    "vertex": "google",
    "vertex-ai": "google",
    "z-ai": "zai",
}

_HOSTS = {
    "aliyuncs.com": "alibaba",
    "amazonaws.com": "aws",
    "api.anthropic.com": "anthropic",
    "api.cerebras.ai": "cerebras",
    "api.cohere.ai": "cohere",
    "api.cohere.com": "cohere",
    "api.deepinfra.com": "deepinfra",
    "api.deepseek.com": "deepseek",
    "api.fireworks.ai": "fireworks",
    "api.githubcopilot.com": "github-copilot",
    "api.groq.com": "groq",
    "api.minimax.io": "minimax",
    "api.minimaxi.com": "minimax",
    "api.mistral.ai": "mistral",
    "api.moonshot.ai": "moonshotai",
    "api.moonshot.cn": "moonshotai",
    "api.novita.ai": "novita",
    "api.openai.com": "openai",
    "api.perplexity.ai": "perplexity",
    "api.together.ai": "together",
    "api.together.xyz": "together",
    "api.x.ai": "x-ai",
    "api.z.ai": "zai",
    "azure-api.net": "azure",
    "cognitiveservices.azure.com": "azure",
    "googleapis.com": "google",
    "open.bigmodel.cn": "zhipuai",
    "openai.azure.com": "azure",
    "openrouter.ai": "openrouter",
    "services.ai.azure.com": "azure",
}
"""By a host's name, which may have further names in front: ``us-central1-aiplatform.googleapis.com``."""

_LOCAL_ENDINGS = (".localhost", ".local", ".internal", ".lan", ".home.arpa")
"""Names that never resolve on the public internet: RFC 6761, 6762, 8375, ICANN's .internal, and .lan."""

_host = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:)?//(?:[^/?#@]*@)?(?:\[([^\]]+)\]|([^/:?#\s]+))", re.IGNORECASE)
_gap = re.compile(r"[\s_]+")


def canonical(provider: str | None) -> str | None:
    """The one name of a provider; None where none is named. A provider that is not known keeps its name.

    >>> canonical("Google AI Studio")
    'google'
    """
    name = _gap.sub("-", (provider or "").strip().lower())
    return _ALIASES.get(name, name) if name not in ("", "unknown") else None


@lru_cache(maxsize=256)
def provider_of(base_url: str | None) -> str | None:
    """The provider whose API begins at ``base_url``, by its host.

    ``local`` for loopback and private addresses, names without a dot and those that only a private
    network knows; None for a public host that is not known, and for what is no URL.
    """
    found = _host.match(base_url or "")
    if found is None:
        return None
    address, name = found.groups()
    host = (address or name).lower().rstrip(".")
    try:
        return None if ipaddress.ip_address(host.partition("%")[0]).is_global else LOCAL
    except ValueError:
        pass  # it is a name
    labels = host.split(".")
    if len(labels) == 1 or host.endswith(_LOCAL_ENDINGS):
        return LOCAL
    endings = (".".join(labels[start:]) for start in range(len(labels)))
    return next((_HOSTS[ending] for ending in endings if ending in _HOSTS), None)
