"""Which client is whose: told by the vendor's package, so that nothing is imported that is not in use."""

from inspect import isclass, ismodule
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from loopwatch.errors import NotAClient
from loopwatch.sdk import clients, gemini

if TYPE_CHECKING:
    from loopwatch.sdk.admission import Admission

KNOWN = "openai.OpenAI(), anthropic.Anthropic(), their Async twins, or google.genai.Client()"
HINTS = MappingProxyType(
    {
        "langchain_": "give LangChain the handler of loopwatch.sdk.langchain instead",
        "langgraph": "give LangGraph the handler of loopwatch.sdk.langchain instead",
        "agents": "give Runner.run the hooks of loopwatch.sdk.openai_agents instead",
        "litellm": "put the callback of loopwatch.sdk.litellm into litellm.callbacks instead",
        "google.genai": "give it the google.genai.Client() itself, whose .aio is tracked with it",
        "google.generativeai": "this SDK is at its end: use google-genai's google.genai.Client()",
    }
)


def wrapped(client: Any, admission: "Admission") -> Any:
    """A tracked copy of a client. Raises NotAClient for what is none, saying what is."""
    if ismodule(client):
        raise NotAClient(f"wrap was given the module {client.__name__}: give it a client, {KNOWN}")
    if isclass(client):
        raise NotAClient(f"wrap was given the class {client.__name__}: give it a client, {KNOWN}")
    packages = [kind.__module__ for kind in type(client).__mro__]
    for make, package, needs in _MAKERS:
        if any(name == package or name.startswith(f"{package}.") for name in packages) and all(
            hasattr(client, name) for name in needs
        ):
            return make(client, admission)
    hint = next((hint for start, hint in HINTS.items() if packages[0].startswith(start)), f"it takes {KNOWN}")
    raise NotAClient(f"wrap was given a {packages[0]}.{type(client).__name__}: {hint}")


_MAKERS = (
    (clients.tracked, "openai", ("post", "with_options", "base_url")),
    (clients.tracked, "anthropic", ("post", "with_options", "base_url")),
    (gemini.tracked, "google.genai", ("models", "aio", "_api_client")),
)
