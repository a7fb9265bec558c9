"""Whose call it is: a header, the path or the request itself says so, in that order.

A name that looks like an e-mail address or a card number is kept nowhere: it becomes a pseudonym where the
project wants that, else nobody's. The call goes through all the same.
"""

import logging
from collections.abc import Mapping
from typing import Any

from loopwatch.errors import InputError
from loopwatch.proxy.headers import Headers
from loopwatch.proxy.routes import Route
from loopwatch.records.identity import Pseudonym
from loopwatch.records.row import MOST_CHARS, name
from loopwatch.sdk.labels import HEADERS, Labels

_log = logging.getLogger(__name__)


class Callers:
    """Names callers, and says once of each kind of name that it was not kept."""

    def __init__(self, pseudonym: Pseudonym | None = None) -> None:
        self._pseudonym = pseudonym
        self._told: set[str] = set()

    def labels(self, headers: Headers, asked: Route, body: Mapping[str, Any]) -> Labels:
        """The labels of a call."""
        said = {
            HEADERS[key]: value.decode("utf-8", "replace").strip()
            for raw, value in headers
            if (key := raw.decode("latin-1").lower()) in HEADERS
        }
        user = self._kept(said.get("user_id") or asked.user or _named(body), "userId")
        feature = self._kept(said.get("feature"), "feature")
        plan = said.get("plan")
        return Labels(user, feature, plan[:MOST_CHARS] if plan else None)

    def _kept(self, text: str | None, key: str) -> str | None:
        """A name as it may be kept; None for none."""
        if not text or not text.isprintable():
            return None
        try:
            return name(text[:MOST_CHARS], key, self._pseudonym)
        except InputError as error:
            if key not in self._told:
                self._told.add(key)
                _log.warning("%s; such calls are logged without it", error)
            return None


def _named(body: Mapping[str, Any]) -> str | None:
    """The user that a request names: OpenAI's ``user`` or ``safety_identifier``, Anthropic's metadata."""
    metadata = body.get("metadata")
    inner = metadata.get("user_id") if isinstance(metadata, dict) else None
    found = (body.get("user"), body.get("safety_identifier"), inner)
    return next((one for one in found if isinstance(one, str) and one.strip()), None)
