"""Who is asking: the cookie of a session, signed and known to the database; and the token of their forms.

The cookie holds a random token under the server's signature. A visitor who is not signed in has one of
another kind, so that the form to sign in is theirs and nobody else's, too.
"""

import hashlib
import hmac
import secrets
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from datetime import timedelta
from typing import NamedTuple
from urllib.parse import urlsplit

from itsdangerous import BadSignature, Signer
from starlette.requests import Request
from starlette.responses import Response

from loopwatch.store.members import Member
from loopwatch.store.sessions import LIFETIME, Sessions

CSRF_FIELD = "csrf"
CSRF_HEADER = "x-csrf-token"
MOST_COOKIE = 500
_PURPOSES = (b"loopwatch session 1", b"loopwatch visit 1", b"loopwatch form 1")
_MARK = 8
"""Characters of a cookie's name that tell one server from another on the same host: cookies know no port."""


class Visitor(NamedTuple):
    """Whoever asks. ``token`` is what their cookie holds; "" where they have none yet."""

    member: Member | None
    session_id: str
    token: str


@dataclass(frozen=True, slots=True)
class Door:
    """Reads and writes the cookies. ``secret`` is the server's, ``public_url`` where browsers find it."""

    secret: bytes = field(repr=False)
    public_url: str

    @property
    def is_secure(self) -> bool:
        """Whether browsers come by https alone, so that cookies never leave it."""
        return urlsplit(self.public_url).scheme == "https"

    @property
    def session_cookie(self) -> str:
        """The name of the cookie of those who are signed in."""
        return self._name("session")

    @property
    def visit_cookie(self) -> str:
        """The name of the cookie of those who are not."""
        return self._name("visit")

    async def visitor(self, request: Request, sessions: Sessions) -> Visitor:
        """Who is asking."""
        token = self._read(request, self.session_cookie, _PURPOSES[0])
        found = await sessions.find(token) if token else None
        if found is not None:
            return Visitor(found.member, found.session_id, token)
        return Visitor(None, "", self._read(request, self.visit_cookie, _PURPOSES[1]))

    def form_token(self, token: str) -> str:
        """What proves that a form came from a page of ours, shown to whoever has this cookie."""
        made = hmac.digest(self._key(_PURPOSES[2]), token.encode(), hashlib.sha256)
        return urlsafe_b64encode(made).decode().rstrip("=")

    def is_form_token(self, token: str, sent: str) -> bool:
        """Whether a form came from a page of ours."""
        return bool(token) and hmac.compare_digest(self.form_token(token).encode(), sent.encode())

    def welcome(self, response: Response, token: str) -> None:
        """Give the browser the cookie of a session, and take its visitor's."""
        self._write(response, self.session_cookie, _PURPOSES[0], token, LIFETIME)
        response.delete_cookie(self.visit_cookie, path="/", secure=self.is_secure)

    def goodbye(self, response: Response) -> None:
        """Take the cookie of a session back."""
        response.delete_cookie(self.session_cookie, path="/", secure=self.is_secure)

    def new_visit(self) -> str:
        """A token for a browser that has none."""
        return secrets.token_urlsafe(16)

    def mark(self, response: Response, token: str) -> None:
        """Give the browser the cookie of a visitor, for as long as it is open."""
        self._write(response, self.visit_cookie, _PURPOSES[1], token, None)

    def _write(
        self, response: Response, name: str, purpose: bytes, token: str, age: timedelta | None
    ) -> None:
        response.set_cookie(
            name,
            Signer(self.secret, salt=purpose, digest_method=hashlib.sha256).sign(token).decode(),
            max_age=None if age is None else int(age.total_seconds()),
            path="/",
            secure=self.is_secure,
            httponly=True,
            samesite="lax",  # a link in an alert must find whoever follows it signed in
        )

    def _read(self, request: Request, name: str, purpose: bytes) -> str:
        """What a cookie holds; "" for none, and for one that we did not sign."""
        signed = request.cookies.get(name, "")
        try:
            return (
                Signer(self.secret, salt=purpose, digest_method=hashlib.sha256)
                .unsign(signed[:MOST_COOKIE].encode("latin-1", "replace"))
                .decode()
            )
        except (BadSignature, UnicodeDecodeError):
            return ""

    def _name(self, kind: str) -> str:
        mark = hmac.digest(self.secret, b"loopwatch cookie 1", hashlib.sha256).hex()[:_MARK]
        return f"{'__Host-' if self.is_secure else ''}loopwatch-{kind}-{mark}"

    def _key(self, purpose: bytes) -> bytes:
        return hmac.digest(self.secret, purpose, hashlib.sha256)
