"""What pages load from us: our own style and script, and what npm brought at build time, where it did.

Every address carries a hash of its file, so that browsers may keep it for a year and still see the next
version at once.
"""

import hashlib
from functools import cache
from pathlib import Path

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

FOLDER = Path(__file__).parent / "static"
HTMX = "vendor/htmx.min.js"
CHARTS = "vendor/uPlot.iife.min.js"
_YEAR = "public, max-age=31536000, immutable"


class Assets(StaticFiles):
    """The files of ``static/``, kept by browsers where their address has a hash."""

    def __init__(self) -> None:
        super().__init__(directory=FOLDER)

    async def get_response(self, path: str, scope: Scope) -> Response:
        """A file, with how long it may be kept."""
        response = await super().get_response(path, scope)
        is_versioned = scope["query_string"].startswith(b"v=")
        response.headers["Cache-Control"] = _YEAR if is_versioned else "no-cache"
        return response


@cache
def address(name: str) -> str | None:
    """Where a page finds a file; None where it is not there: what npm brings need not be."""
    try:
        content = (FOLDER / name).read_bytes()
    except FileNotFoundError:
        return None
    return f"/static/{name}?v={hashlib.sha256(content).hexdigest()[:12]}"
