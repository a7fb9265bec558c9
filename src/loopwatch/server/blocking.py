"""The page behind the "block this user" link of an alert: who is meant, and a key to prove that one may.

Opening it changes nothing, since mail scanners and chat previews open every link. Whoever blocks shows
an administrator's key of the alert's project.
"""

from html import escape
from http import HTTPStatus
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from loopwatch.alerts.links import BlockLinks, BlockRequest
from loopwatch.errors import InputError
from loopwatch.server import bodies
from loopwatch.server.services import services

MOST_FORM = 4_096
"""Bytes of the form: a key and nothing else."""

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}

STYLE = """
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 4rem auto; padding: 0 1rem;
  color: #1d2329; background: #f7f7f5; color-scheme: light dark }
@media (prefers-color-scheme: dark) { body { color: #e4e6e8; background: #16191c } }
h1 { font-size: 1.4rem } dt { opacity: .7 } dd { margin: 0 0 .75rem; overflow-wrap: anywhere }
input { width: 100%; font: inherit; padding: .5rem; box-sizing: border-box }
button { font: inherit; margin-top: 1rem; padding: .5rem 1.25rem; border: 0; border-radius: .3rem;
  color: #fff; background: #b3261e }
.refused { color: #b3261e }
"""


async def ask(request: Request) -> Response:
    """Show who would be blocked."""
    return _form(_meant(request))


async def block(request: Request) -> Response:
    """Block, where the key that was shown may."""
    meant = _meant(request)
    form = parse_qs((await bodies.read(request, MOST_FORM)).decode("utf-8", "replace"))
    server = services(request)
    key = await server.store.keys.authenticate(form.get("key", [""])[0].strip())
    if key is None or not key.admin or key.project_id != meant.project:
        return _form(meant, "This is no administrator's key of the project.", HTTPStatus.FORBIDDEN)
    wait = server.buckets.take(key.id)
    if wait:
        raise HTTPException(HTTPStatus.TOO_MANY_REQUESTS, "this key asks too often: wait a moment")
    reason = f"blocked by key {key.prefix}, from alert {meant.alert_id}"
    await server.store.users.block(meant.project, meant.user_id, reason)
    return _page("Blocked", f"<p>The next call of <b>{escape(meant.user_id)}</b> is refused.</p>")


def _meant(request: Request) -> BlockRequest:
    """What the link asks for. Raises HTTPException for one that is not ours, or too old."""
    server = services(request)
    links: BlockLinks | None = server.telling.links
    if links is None:
        reason = "this server makes no block links: set LOOPWATCH_SECRET, or block through the API"
        raise HTTPException(HTTPStatus.NOT_FOUND, reason)
    try:
        return links.read(request.path_params["token"], server.clock.now())
    except InputError as error:
        raise HTTPException(HTTPStatus.NOT_FOUND, str(error)) from None


def _form(meant: BlockRequest, refused: str = "", status: int = HTTPStatus.OK) -> Response:
    complaint = f'<p class="refused">{escape(refused)}</p>' if refused else ""
    return _page(
        "Block this user?",
        f"<dl><dt>User</dt><dd>{escape(meant.user_id)}</dd><dt>Project</dt><dd>{escape(meant.project)}</dd></dl>"
        f'{complaint}<form method="post"><label>An administrator\'s key of the project'
        '<input type="password" name="key" autocomplete="off" required autofocus></label>'
        "<button>Block</button></form>",
        status,
    )


def _page(title: str, body: str, status: int = HTTPStatus.OK) -> Response:
    return HTMLResponse(
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{title} · loopwatch</title><style>{STYLE}</style><h1>{title}</h1>{body}</html>",
        status,
        HEADERS,
    )
