"""Whether a user's next call may go ahead: blocked by hand, hot, at the plan's cap, or free to go."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from loopwatch.records.money import usd
from loopwatch.server.answers import Json
from loopwatch.server.auth import admitted
from loopwatch.server.downgrades import cheaper
from loopwatch.server.queries import storable, user
from loopwatch.server.services import services
from loopwatch.store.users import CapState

_FIELDS = ("userId", "planName", "model")


async def check(request: Request) -> Response:
    """The answer that ``weckr-sdk`` acts on, for a user, a plan and a model.

    A user who is blocked, or hot where the project blocks those, is refused. One at the plan's cap is
    refused, or sent to a cheaper model: the one that the settings name, else the one that the prices
    propose. A model without a cheaper one, or that the settings map to itself, goes on.
    """
    key = await admitted(request)
    user_id, plan, model = (_text(request, field) for field in _FIELDS)
    server = services(request)
    if user_id is None:
        return Json({"allowed": True})
    known = await user(request, key.project_id, user_id)
    state = await server.store.users.cap_state(key.project_id, known, plan, model)
    alternative = state.downgrade_to
    if alternative is None and model is not None and state.cap is not None and state.reached:
        settings = (await server.store.projects.settings(key.project_id)).settings
        alternative = cheaper(model, server.prices.table(settings))
    return Json(answer(state, model, alternative))


def answer(state: CapState, model: str | None, alternative: str | None) -> dict[str, Any]:
    """What to do about a call, with the figures that it rests on in US dollars."""
    found: dict[str, Any] = {"allowed": True, "currentSpend": usd(state.spent_nano)}
    cap = state.cap_nano
    if cap is not None:
        found |= {"cap": usd(cap), "remainingBudget": usd(max(0, cap - state.spent_nano))}
    if state.blocked or state.hot:
        reason = state.blocked_reason if state.blocked else "an alert about this user is hot"
        return found | {"allowed": False, "action": "block", "reason": reason}
    if state.cap is None or not state.reached:
        return found
    if state.cap.action == "block":
        return found | {"allowed": False, "action": "block", "reason": "the plan's cap is reached"}
    if alternative is None or alternative == model:
        return found | {"action": "downgrade", "alternativeModel": None}
    return found | {"allowed": False, "action": "downgrade", "alternativeModel": alternative}


def _text(request: Request, field: str) -> str | None:
    """A name from the address; None where it is absent or blank."""
    value = storable(request.query_params.get(field, ""), field)
    return value if value.strip() else None
