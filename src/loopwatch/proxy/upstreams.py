"""Where requests go: one base URL for all, or one for each provider. Nowhere else, whatever is asked."""

import socket
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import get_args
from urllib.parse import urlsplit

from yarl import URL

from loopwatch.client.endpoint import endpoint, is_loopback
from loopwatch.errors import InputError
from loopwatch.proxy.dialects.dialect import Vendor
from loopwatch.proxy.routes import Route

VENDORS: tuple[Vendor, ...] = get_args(Vendor)


@dataclass(frozen=True, slots=True)
class Upstreams:
    """Base URLs, version prefix included: ``default`` is asked by whatever ``named`` has no other for."""

    default: str | None = None
    named: dict[Vendor, str] = field(default_factory=dict)

    @property
    def every(self) -> list[str]:
        """All of them."""
        return [*([self.default] if self.default else []), *self.named.values()]

    def base(self, vendor: Vendor) -> str | None:
        """Where a vendor's requests go; None where nowhere was named."""
        return self.named.get(vendor, self.default)

    def target(self, asked: Route, query: str) -> URL | None:
        """The address that a request is sent on to, its query as it came."""
        base = self.base(asked.vendor)
        if base is None:
            return None
        if asked.rooted:
            parts = urlsplit(base)
            base = f"{parts.scheme}://{parts.netloc}"
        return URL(base + asked.path + (f"?{query}" if query else ""), encoded=True)

    def refuse_own(self, host: str, port: int) -> None:
        """Raise InputError where one of them is the proxy itself, listening there."""
        for url in self.every:
            parts = urlsplit(url)
            there = parts.port or (443 if parts.scheme == "https" else 80)
            if there == port and parts.hostname is not None and _is_same(parts.hostname, host):
                raise InputError(f"--upstream {url} is this proxy's own address: name the provider's")


def _is_same(name: str, host: str) -> bool:
    if host in ("0.0.0.0", "::"):  # noqa: S104  compared with, not bound to
        return is_loopback(name) or name in (host, socket.gethostname())
    return name == host or (is_loopback(name) and is_loopback(host))


def upstreams(texts: Iterable[str]) -> Upstreams:
    """The upstreams that ``[PROVIDER=]URL`` texts name. Raises InputError."""
    default: str | None = None
    named: dict[Vendor, str] = {}
    for text in texts:
        vendor, separator, url = text.partition("=")
        if not separator or "/" in vendor:
            if default is not None:
                raise InputError("--upstream is given twice: one for all, others as PROVIDER=URL")
            default = _checked(text)
            continue
        known = next((one for one in VENDORS if one == vendor.strip().lower()), None)
        if known is None:
            raise InputError(f"--upstream {vendor!r}=…: the providers are {', '.join(VENDORS)}")
        named[known] = _checked(url)
    return Upstreams(default, named)


def _checked(url: str) -> str:
    if not url.strip():
        raise InputError("--upstream is empty: give a provider's base URL, such as https://api.openai.com/v1")
    return endpoint(url, api_key="").base_url
