"""Which addresses a webhook may lead to: a server must not be made to call into its own network.

A URL is judged twice. As it is written, when somebody sets it, so that they are told at once; and by the
addresses that its name has at the moment of sending, which are the ones then connected to, so that a name
cannot answer differently the second time (DNS rebinding).
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TypeAlias
from urllib.parse import SplitResult, urlsplit

from loopwatch.config.defects import printable

Address: TypeAlias = IPv4Address | IPv6Address

MOST_CHARS = 2_048
"""Longest URL that is taken."""

_NAT64 = IPv6Network("64:ff9b::/96")
_V4_COMPATIBLE = IPv6Network("::/96")
_UNICAST = IPv6Network("2000::/3")
"""All that IANA has given out of IPv6 for the public internet; elsewhere are local and special networks."""
_NOT_PUBLIC = (
    IPv4Network("192.88.99.0/24"),  # 6to4's relays, deprecated (RFC 7526)
    IPv6Network("2001::/23"),  # protocols, benchmarks, overlays (RFC 2928)
    IPv6Network("2001:db8::/32"),
    IPv6Network("3fff::/20"),  # documentation (RFC 9637)
)
"""What ``ipaddress`` of Python 3.11 takes for public."""
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reach:
    """What the operator allows beyond https to public addresses.

    ``private``: addresses of private networks, this machine and the like. ``plain_http``: no TLS. ``known``:
    URLs that were allowed when they were set, and are not judged anew because something else is changed.
    """

    private: bool = False
    plain_http: bool = False
    known: frozenset[str] = field(default=frozenset(), repr=False)


EVERYWHERE = Reach(private=True, plain_http=True)
"""No limits: for local sinks in tests, and for reading again what was allowed when it was set."""


def url_fault(url: str, reach: Reach) -> str | None:
    """What is wrong with a webhook's URL as it is written; None where nothing is. Never repeats the URL."""
    if url in reach.known:
        return None
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "has a host or port that cannot be"
    if parts.scheme not in ("http", "https") or not host or any(not char.isprintable() for char in url):
        return "must be an https:// URL"
    if parts.scheme == "http" and not reach.plain_http:
        return "must begin with https://, or allow plain http for this server"
    if len(url) > MOST_CHARS or " " in url or "…" in url:
        return f"must have no spaces, no … and at most {MOST_CHARS} characters: write the whole URL"
    return _host_fault(parts, host, reach)


def _host_fault(parts: SplitResult, host: str, reach: Reach) -> str | None:
    if parts.username is not None or parts.password is not None:
        return "must have no user name and no password"
    if _is_odd(host):
        return "has a host that is no address: write it plainly, such as 192.0.2.1"
    literal = as_address(host)
    if literal is not None and not reach.private and not is_public(literal):
        return "leads to a private address: use a public one, or allow private addresses for this server"
    return None


def _is_odd(host: str) -> bool:
    """Whether a host is an IPv4 address in a spelling that some read one way and some another.

    As browsers have it, a host whose last label is a number, 0x7f or 010 too, is an address; one that is
    not written plainly (127.1, 0177.0.0.1, ①②⑦.0.0.1, 127.0.0.1.) is none that anybody needs.
    """
    if ":" in host:
        return as_address(host) is None
    plain = unicodedata.normalize("NFKC", host).replace("\u3002", ".")
    last = plain.removesuffix(".").rpartition(".")[2]
    try:
        return _NUMBER.fullmatch(last) is not None and str(IPv4Address(host)) != host
    except ValueError:
        return True


def as_address(host: str) -> Address | None:
    """The address that a URL's host is; None where it is a name."""
    try:
        return ip_address(host.partition("%")[0])
    except ValueError:
        return None


def is_public(address: Address) -> bool:
    """Whether an address belongs to the public internet, whatever it is wrapped in.

    Private, shared (100.64.0.0/10), loopback, link-local (with 169.254.169.254 and fd00:ec2::254, where
    clouds keep their credentials), multicast, reserved and documentation addresses do not.
    """
    if isinstance(address, IPv6Address):
        inner = _inner(address)
        if inner is not None:
            return is_public(inner)
        if address not in _UNICAST:
            return False
    if any(address in network for network in _NOT_PUBLIC):
        return False
    return address.is_global and not address.is_multicast


def _inner(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 address is only a wrapping of: mapped, 6to4, Teredo, NAT64."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if address in _NAT64 or address in _V4_COMPATIBLE:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return None


def all_public(addresses: Iterable[str]) -> bool:
    """Whether every address that a name has is public: one that is not makes the name suspect as a whole."""
    found = [as_address(address) for address in addresses]
    return all(address is not None and is_public(address) for address in found)


def host_of(url: str) -> str:
    """The host of a URL, for messages: unlike its path it is no secret."""
    try:
        return printable(urlsplit(url).hostname or "-")
    except ValueError:
        return "-"
