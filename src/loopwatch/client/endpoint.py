"""Where a model is asked: the address, the key, and what this provider is told that others are not."""

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec

from loopwatch.client.transport import Request
from loopwatch.errors import InputError

OPENAI = "https://api.openai.com/v1"
BASE_URL_ENV = "OPENAI_BASE_URL"
OPENROUTER_HOST = "openrouter.ai"
CHAT = "/chat/completions"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One provider's API. ``key_env`` is the variable that the key came from, or would come from."""

    base_url: str
    key: str | None = field(default=None, repr=False)
    key_env: str | None = None
    extra_headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def host(self) -> str:
        """The host's name."""
        return urlsplit(self.base_url).hostname or ""

    @property
    def secrets(self) -> list[str]:
        """What no message may show: the key, and the values of headers that are named as if they held one."""
        secrets = [self.key] if self.key is not None else []
        for name, value in self.extra_headers.items():
            if any(part in name.lower() for part in SECRET):
                secrets.append(value.removeprefix("Bearer ").strip())
        return secrets

    @property
    def is_openrouter(self) -> bool:
        """Whether it is OpenRouter's."""
        return self.host == OPENROUTER_HOST or self.host.endswith("." + OPENROUTER_HOST)

    def chat(self, body: Mapping[str, Any]) -> Request:
        """The request for a streamed reply, whether or not anybody watches it.

        Raises InputError where ``body`` is no JSON, or asks for several replies.
        """
        streamed: dict[str, Any] = {
            **body,
            "stream": True,
            "stream_options": {**_mapping(body.get("stream_options")), "include_usage": True},
        }
        if self.is_openrouter:
            streamed["usage"] = {**_mapping(body.get("usage")), "include": True}
        if streamed.get("n") not in (None, 1):
            raise InputError("the request asks for several replies (n): ask once for each")
        if not isinstance(streamed.get("model"), str) or not streamed["model"]:
            raise InputError("no model was named: ModelClient(model=...), or model in the request")
        try:
            data = msgspec.json.encode(streamed)
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(f"the request is no JSON: {error}") from None
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream, application/json"}
        return Request("POST", self.base_url + CHAT, self._headers(headers), data)

    def generation(self, generation_id: str) -> Request:
        """The request for what a reply has cost."""
        url = f"{self.base_url}/generation?id={quote(generation_id, safe='')}"
        return Request("GET", url, self._headers({"Accept": "application/json"}))

    def _headers(self, headers: dict[str, str]) -> dict[str, str]:
        # Compressed events come late: a server holds them back until a block is full.
        headers |= {"User-Agent": "loopwatch", "Accept-Encoding": "identity"}
        if self.key is not None:
            headers["Authorization"] = f"Bearer {self.key}"
        return headers | dict(self.extra_headers)


def endpoint(
    base_url: str | None = None,
    *,
    api_key: str | None = None,
    api_key_env: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Endpoint:
    """The endpoint at ``base_url``; without one, at ``$OPENAI_BASE_URL``, else OpenAI's own.

    The key is ``api_key`` (an empty one: none), else what ``api_key_env`` holds, by default
    OPENROUTER_API_KEY at OpenRouter and OPENAI_API_KEY elsewhere; an unset variable sends none. Raises
    InputError on an invalid address, or a key that no header can hold.
    """
    named = os.environ.get(BASE_URL_ENV) if not base_url else None
    address = _checked((base_url or named or OPENAI).strip(), f" in {BASE_URL_ENV}" if named else "")
    at = Endpoint(address)
    if api_key is None:
        api_key_env = api_key_env or ("OPENROUTER_API_KEY" if at.is_openrouter else "OPENAI_API_KEY")
        api_key = os.environ.get(api_key_env, "").strip() or None
    else:
        api_key_env = None
        api_key = api_key.strip() or None
    if api_key is not None and not (api_key.isascii() and api_key.isprintable() and " " not in api_key):
        where = f"in {api_key_env}" if api_key_env else "that was given"
        raise InputError(f"the API key {where} has characters that no header can hold: copy it again")
    for name, value in (headers or {}).items():
        if not all(isinstance(part, str) for part in (name, value)):
            raise InputError(f"the header {name!r} is no text")
    return Endpoint(address, api_key, api_key_env, dict(headers or {}))


SECRET = ("auth", "cookie", "key", "secret", "token")
"""What a header's name has in it where its value is not for everybody."""


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, which no proxy could reach for us."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _checked(address: str, source: str) -> str:
    """An address without what does not belong to it. Raises InputError, which never quotes a password."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        raise InputError(_bad("it cannot be read", source)) from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(_bad("it does not begin with https:// and a host, or with http://", source))
    if parts.username is not None or parts.password is not None:
        raise InputError(_bad("it holds a user name or a password: give the key as api_key", source))
    if parts.query or parts.fragment:
        raise InputError(_bad("it holds a ? or a #: give the part before it", source))
    if not parts.netloc.isprintable() or any(character.isspace() for character in address):
        raise InputError(_bad("it holds white space", source))
    del port  # asked for only because a wrong one raises
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/').removesuffix(CHAT)}"


def _bad(why: str, source: str) -> str:
    return f"invalid base URL{source} ({why}): it should look like {OPENAI}"


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
