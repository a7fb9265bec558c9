import pytest

from loopwatch.pricing.providers import canonical, provider_of


@pytest.mark.parametrize(
    ("url", "provider"),
    [
        ("https://api.openai.com/v1", "openai"),
        ("https://eu.api.openai.com/v1", "openai"),
        ("HTTPS://API.OPENAI.COM:443/v1", "openai"),
        ("//api.openai.com./v1", "openai"),
        ("https://openrouter.ai/api/v1", "openrouter"),
        ("https://api.anthropic.com", "anthropic"),
        ("https://generativelanguage.googleapis.com/v1beta/openai", "google"),
        ("https://us-central1-aiplatform.googleapis.com", "google"),
        ("https://api.moonshot.ai/v1", "moonshotai"),
        ("https://my-resource.openai.azure.com/openai", "azure"),
        ("https://bedrock-runtime.eu-west-1.amazonaws.com", "aws"),
        ("https://api.x.ai/v1", "x-ai"),
        ("http://127.0.0.1:8080/v1", "local"),
        ("http://user:secret@[::1]:8080/v1", "local"),
        ("http://10.1.2.3/v1", "local"),
        ("http://[fe80::1%eth0]/", "local"),
        ("http://0.0.0.0:11434", "local"),
        ("http://100.64.0.1:11434", "local"),
        ("http://localhost:11434", "local"),
        ("http://ollama:11434/v1", "local"),
        ("http://box.local/v1", "local"),
        ("http://host.docker.internal:1234", "local"),
        ("https://8.8.8.8/v1", None),
        ("https://api.openai.com.evil.example/v1", None),
        ("https://evil-api.openai.com.example", None),
        ("https://notopenrouter.ai/v1", None),
        ("https://gateway.example.com/api.openai.com", None),
        ("https://gateway.example.com?x=//api.openai.com", None),
        ("no url", None),
        ("", None),
        (None, None),
    ],
)
def test_the_provider_behind_a_url(url: str | None, provider: str | None) -> None:
    assert provider_of(url) == provider


@pytest.mark.parametrize(
    ("name", "one"),
    [
        ("OpenAI", "openai"),
        ("x_ai", "x-ai"),
        ("Google AI Studio", "google"),
        ("gcp.gen_ai", "google"),
        ("azure.ai.openai", "azure"),
        ("kimi", "moonshotai"),
        (" Some  Body ", "some-body"),
        ("unknown", None),
        ("", None),
        (None, None),
    ],
)
def test_one_name_a_provider(name: str | None, one: str | None) -> None:
    assert canonical(name) == one
