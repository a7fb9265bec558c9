import json
from typing import Any, cast

import pytest

from loopwatch.client.endpoint import Endpoint, endpoint
from loopwatch.errors import InputError
from tests.client.calls import ASK

VARIABLES = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENROUTER_API_KEY", "OTHER_KEY")
KEY = "sk-test-0123456789"


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def body(at: Endpoint, request: dict[str, Any]) -> dict[str, Any]:
    sent: dict[str, Any] = json.loads(at.chat({"model": "m", **request}).body)
    return sent


def test_without_anything_it_is_openai_and_no_key_is_sent() -> None:
    at = endpoint()
    assert at.base_url == "https://api.openai.com/v1"
    request = at.chat({"model": "m", **ASK})
    assert (request.method, request.url) == ("POST", "https://api.openai.com/v1/chat/completions")
    assert "Authorization" not in request.headers


def test_the_environment_names_the_address_and_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:8080/v1/")
    monkeypatch.setenv("OPENAI_API_KEY", KEY + "\n")
    at = endpoint()
    assert at.base_url == "http://127.0.0.1:8080/v1"
    assert at.chat({"model": "m"}).headers["Authorization"] == f"Bearer {KEY}"


def test_openrouter_has_a_key_of_its_own_and_is_asked_for_the_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-this-one")
    monkeypatch.setenv("OPENROUTER_API_KEY", KEY)
    at = endpoint("https://openrouter.ai/api/v1")
    assert (at.key, at.key_env) == (KEY, "OPENROUTER_API_KEY")
    assert body(at, {})["usage"] == {"include": True}
    assert "usage" not in body(endpoint("https://notopenrouter.ai/api/v1"), {})


def test_a_key_may_be_given_or_be_in_a_variable_of_any_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER_KEY", KEY)
    assert endpoint(api_key_env="OTHER_KEY").key == KEY
    assert endpoint(api_key="given", api_key_env="OTHER_KEY").key == "given"
    assert endpoint(api_key_env="UNSET").key is None
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert endpoint(api_key="").key is None
    assert "Authorization" not in endpoint(api_key=" ").chat({"model": "m"}).headers


def test_whatever_was_asked_for_it_is_streamed_with_its_usage() -> None:
    at = endpoint()
    assert body(at, ASK | {"stream": False, "stream_options": {"include_obfuscation": False}}) == {
        "model": "m",
        "messages": ASK["messages"],
        "stream": True,
        "stream_options": {"include_obfuscation": False, "include_usage": True},
    }


@pytest.mark.parametrize(
    ("request_", "complaint"),
    [
        ({"n": 2}, r"several replies \(n\)"),
        ({"model": None}, "no model was named"),
        ({"model": ""}, "no model was named"),
        ({"messages": object()}, "the request is no JSON"),
    ],
)
def test_what_cannot_be_asked_is_refused(request_: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        endpoint().chat({"model": "m", **request_})


@pytest.mark.parametrize(
    ("address", "complaint"),
    [
        ("api.openai.com/v1", "does not begin with https://"),
        ("ftp://host/v1", "does not begin with https://"),
        ("https://", "does not begin with https://"),
        ("http://host:port/v1", "cannot be read"),
        ("http://[::1/v1", "cannot be read"),
        ("https://user:hunter2@host/v1", "a user name or a password"),
        ("https://host/v1?key=hunter2", r"a \? or a #"),
        ("https://host/v 1", "white space"),
        ("https://ho\nst/v1", "white space"),
    ],
)
def test_an_address_that_is_none_is_one_clear_error(address: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint) as raised:
        endpoint(address)
    assert "hunter2" not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_an_address_of_the_environment_is_named_by_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "localhost:80")
    with pytest.raises(InputError, match="invalid base URL in OPENAI_BASE_URL"):
        endpoint()


@pytest.mark.parametrize(
    "address", ["https://host/v1/", " https://host/v1 ", "https://host/v1/chat/completions"]
)
def test_what_people_write_for_an_address_is_understood(address: str) -> None:
    assert endpoint(address).base_url == "https://host/v1"


@pytest.mark.parametrize("key", ["sk\nX-Evil: 1", "schlüssel", "two words", "sk-\x7f"])
def test_a_key_that_no_header_can_hold_is_refused_without_quoting_it(key: str) -> None:
    with pytest.raises(InputError, match="no header can hold") as raised:
        endpoint(api_key=key)
    assert key not in str(raised.value)


def test_a_header_that_is_no_text_is_refused() -> None:
    with pytest.raises(InputError, match="the header 'x' is no text"):
        endpoint(headers=cast("dict[str, str]", {"x": None}))


def test_what_no_message_may_show() -> None:
    headers = {"api-key": "one", "Authorization": "Bearer two", "X-Api-Version": "3", "Cookie": "four"}
    assert endpoint(api_key="zero", headers=headers).secrets == ["zero", "one", "two", "four"]


def test_nothing_secret_is_in_a_repr() -> None:
    at = endpoint("https://host/v1", api_key=KEY, headers={"X-Token": KEY})
    assert KEY not in repr(at)
    request = at.chat({"model": "m", **ASK})
    assert request.headers["X-Token"] == KEY
    assert KEY not in repr(request)
    assert "something" not in repr(request)


def test_a_price_is_asked_for_under_the_id_whatever_it_holds() -> None:
    request = endpoint("https://host/v1", api_key=KEY).generation("gen-1/../?&x=ü")
    assert (request.method, request.body) == ("GET", b"")
    assert request.url == "https://host/v1/generation?id=gen-1%2F..%2F%3F%26x%3D%C3%BC"
    assert request.headers["Authorization"] == f"Bearer {KEY}"
