"""Asking upstream: the client's own transport, with bodies left as they are and connections kept a while."""

import aiohttp

from loopwatch.client.http import CONNECT, AiohttpTransport

KEPT_SECONDS = 4.0
"""How long an idle connection is kept: shorter than any server we know of (uvicorn closes after five), since
a request that meets a connection in the act of closing is lost. Another TLS handshake is what it saves."""
OWN_VOICE = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")
"""Headers that aiohttp would add where the client sent none."""


class UpstreamTransport(AiohttpTransport):
    """Sends on what a client sent, through the proxies that the environment names."""

    def _new_session(self) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=KEPT_SECONDS)
        return aiohttp.ClientSession(
            connector=connector,
            timeout=aiohttp.ClientTimeout(total=None, connect=CONNECT),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            skip_auto_headers=OWN_VOICE,
        )
