"""What a path means, and where it leads."""

import pytest

from loopwatch.errors import InputError
from loopwatch.proxy.routes import Route, route
from loopwatch.proxy.upstreams import upstreams

NONE: frozenset[bytes] = frozenset()


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("/v1/chat/completions", ("openai", "chat", "/chat/completions")),
        ("/chat/completions", ("openai", "chat", "/chat/completions")),
        ("/openai/v1/chat/completions", ("openai", "chat", "/chat/completions")),
        ("/api/v1/chat/completions", ("openai", "chat", "/chat/completions")),
        ("/v1/completions", ("openai", "completions", "/completions")),
        ("/v1/responses", ("openai", "responses", "/responses")),
        ("/v1/responses/resp_1/cancel", ("openai", None, "/responses/resp_1/cancel")),
        ("/v1/models", ("openai", None, "/models")),
        ("/v1/embeddings", ("openai", None, "/embeddings")),
        ("/v1/threads/t1/messages", ("openai", None, "/threads/t1/messages")),
        ("/v1/messages", ("anthropic", "anthropic", "/messages")),
        ("/messages", ("anthropic", "anthropic", "/messages")),
        (
            "/v1beta/models/g-2:streamGenerateContent",
            ("gemini", "gemini", "/models/g-2:streamGenerateContent"),
        ),
        ("/v1beta/models/g-2:generateContent", ("gemini", "gemini", "/models/g-2:generateContent")),
        ("/v1beta/models/g-2:countTokens", ("gemini", None, "/models/g-2:countTokens")),
        (
            "/v1/projects/p/locations/l/publishers/google/models/g:generateContent",
            ("gemini", "gemini", "/projects/p/locations/l/publishers/google/models/g:generateContent"),
        ),
        ("/upload/v1beta/files", ("gemini", None, "/upload/v1beta/files")),
        ("/api/chat", ("ollama", "ollama", "/chat")),
        ("/api/generate", ("ollama", "ollama", "/generate")),
        ("/api/tags", ("ollama", None, "/tags")),
        ("/", ("openai", None, "/")),
        ("/v1", ("openai", None, "")),
    ],
)
def test_a_path_means(path: str, wanted: tuple[str, str | None, str]) -> None:
    assert route("POST", path, NONE)[:3] == wanted
    assert route("GET", path, NONE)[1] is None


def test_headers_tell_whose_a_path_is_that_several_have() -> None:
    assert route("GET", "/v1/models", frozenset((b"anthropic-version",))).vendor == "anthropic"
    assert route("GET", "/v1/models", frozenset((b"x-goog-api-key",))).vendor == "gemini"


def test_labels_come_before_everything() -> None:
    found = route("POST", "/k/se%2Fcret/u/j%C3%B6rg/v1/messages", NONE)
    assert found == Route("anthropic", "anthropic", "/messages", user="jörg", key="se/cret")
    assert route("GET", "/u/ann", NONE) == Route("openai", None, "/", user="ann")


def test_an_upstreams_own_version_takes_the_place_of_the_clients() -> None:
    to = upstreams(
        ["https://host.example/api/v1/", "gemini=https://g.example/v1beta", "ollama=http://o:1/api"]
    )
    for path, query, wanted in (
        ("/v1/chat/completions", "", "https://host.example/api/v1/chat/completions"),
        ("/v1/messages", "beta=true", "https://host.example/api/v1/messages?beta=true"),
        ("/v1/a%20b/c%2Fd", "q=%41", "https://host.example/api/v1/a%20b/c%2Fd?q=%41"),
        ("/v1//evil.example/x", "", "https://host.example/api/v1//evil.example/x"),
        ("/v1beta/models/g:generateContent", "", "https://g.example/v1beta/models/g:generateContent"),
        ("/upload/v1beta/files", "", "https://g.example/upload/v1beta/files"),
        ("/api/chat", "", "http://o:1/api/chat"),
    ):
        assert str(to.target(route("POST", path, NONE), query)) == wanted
    assert upstreams(["openai=http://x/v1"]).target(route("POST", "/v1/messages", NONE), "") is None


@pytest.mark.parametrize(
    "texts",
    [
        [""],
        ["nothing"],
        ["ftp://x"],
        ["mistral=https://x/v1"],
        ["https://a/v1", "https://b/v1"],
        ["https://user:pw@x/v1"],
        ["openai="],
    ],
)
def test_an_upstream_that_cannot_be_is_refused(texts: list[str]) -> None:
    with pytest.raises(InputError, match=r"upstream|base URL"):
        upstreams(texts)


def test_the_proxys_own_address_is_no_upstream() -> None:
    to = upstreams(["http://localhost:8701/v1"])
    for host in ("127.0.0.1", "0.0.0.0", "localhost"):  # noqa: S104  compared with, not bound to
        with pytest.raises(InputError, match="own address"):
            to.refuse_own(host, 8701)
    to.refuse_own("127.0.0.1", 8702)
    upstreams(["https://api.example/v1"]).refuse_own("127.0.0.1", 443)
