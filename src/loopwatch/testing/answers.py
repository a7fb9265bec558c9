"""Answers of the scriptable provider: a status, headers and steps, and the usual ones by name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from http import HTTPStatus
from typing import Any

import msgspec

from loopwatch.testing.exchange import Request, Step
from loopwatch.testing.steps import Document, Done, Finish, Hang, Loop, Raw, Role, Say, Think, Usage


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request is answered with. The body ends with its steps.

    ``before`` is played before the head is sent: ``Pause``, ``Hang``, ``Cut`` or ``Reset``. ``split``
    is the most bytes of one write. The chunks carry ``id`` (by default "gen-" and the request's number;
    "" leaves it out), ``model`` (by default the provider's, else the one asked for) and ``provider``
    (else the provider's, if it has one); where the id is ``announced``, a header says it too, as at
    OpenRouter. ``headers`` are added to, or replace, those of an event stream.
    """

    steps: Sequence[Step] = ()
    _: KW_ONLY
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    before: Sequence[Step] = ()
    split: int | None = None
    id: str | None = None
    announced: bool = False
    model: str | None = None
    provider: str | None = None


Scripted = Answer | Callable[[Request], Answer]
"""An answer, or what decides on one when the request is there."""


class Script:
    """Answers in their order; the last one is repeated."""

    def __init__(self, answers: Sequence[Scripted]) -> None:
        """Begin with the first; where there is none, every request is a 404."""
        self._answers = answers or [status(404, error(404, "no answer is scripted for this request"))]
        self._given = 0

    def next(self, request: Request) -> Answer:
        """The answer to this request."""
        scripted = self._answers[min(self._given, len(self._answers) - 1)]
        self._given += 1
        return scripted if isinstance(scripted, Answer) else scripted(request)


def answer(
    text: str | Sequence[str],
    *,
    reasoning: str | Sequence[str] = "",
    usage: Usage | None = None,
    finish: str = "stop",
    delay: float = 0,
    **fields: Any,
) -> Answer:
    """A whole, sound reply, streamed. ``fields`` are those of ``Answer``, here and below."""
    steps: list[Step] = [Role(), Think(reasoning, delay), Say(text, delay), Finish(finish)]
    if usage is not None:
        steps.append(usage)
    return Answer([*steps, Done()], **fields)


def looping(
    text: str | Sequence[str] = "void 0; ",
    *,
    beginning: str | Sequence[str] = "",
    delay: float = 0,
    **fields: Any,
) -> Answer:
    """A reply that begins soundly, if at all, and then repeats a text until it is dropped."""
    return Answer([Role(), Say(beginning, delay), Loop(text, delay)], **fields)


def hanging(text: str | Sequence[str] = "", **fields: Any) -> Answer:
    """A reply that falls silent after a text and never ends."""
    return Answer([Role(), Say(text), Hang()] if text else [Hang()], **fields)


def status(
    code: int,
    body: Mapping[str, Any] | str | bytes | None = None,
    *,
    retry_after: float | str | None = None,
    headers: Mapping[str, str] | None = None,
    **fields: Any,
) -> Answer:
    """A status with a whole body: a document, a text, or a page where it begins with "<".

    Without a body, an error's is the document that OpenAI would send.
    """
    if body is None:
        body = error(code) if code >= HTTPStatus.BAD_REQUEST else ""
    content_type, data = _encoded(body)
    known = {"Content-Type": content_type, "Content-Length": str(len(data))}
    if retry_after is not None:
        known["Retry-After"] = str(retry_after)
    return Answer([Raw(data)], status=code, headers={**known, **(headers or {})}, **fields)


def error(code: int, message: str | None = None) -> dict[str, Any]:
    """An error as OpenAI's API words it; the message is the status's phrase where none is given."""
    if message is None:
        message = HTTPStatus(code).phrase if code in set(HTTPStatus) else f"Status {code}"
    return {"error": {"code": code, "message": message, "type": "scripted_error"}}


def document(text: str, *, usage: Usage | None = None, finish: str = "stop", **fields: Any) -> Answer:
    """A reply that is not streamed: one ``chat.completion``."""
    headers = {"Content-Type": "application/json", **fields.pop("headers", {})}
    return Answer([Document(text, finish, usage)], headers=headers, **fields)


def priced(
    *,
    total_cost: float | None = None,
    native_tokens_prompt: int | None = None,
    native_tokens_cached: int | None = None,
    native_tokens_completion: int | None = None,
    native_tokens_reasoning: int | None = None,
    provider_name: str | None = None,
    more: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Answer:
    """What a look-up of a generation finds; ``more`` has further figures."""
    figures = {
        "total_cost": total_cost,
        "native_tokens_prompt": native_tokens_prompt,
        "native_tokens_cached": native_tokens_cached,
        "native_tokens_completion": native_tokens_completion,
        "native_tokens_reasoning": native_tokens_reasoning,
        "provider_name": provider_name,
    }
    known = {name: figure for name, figure in figures.items() if figure is not None}
    return status(200, {"data": {**known, **(more or {})}}, **fields)


def _encoded(body: Mapping[str, Any] | str | bytes) -> tuple[str, bytes]:
    """The content type that a body looks like, and its bytes."""
    if isinstance(body, Mapping):
        return "application/json", msgspec.json.encode(body)
    if isinstance(body, bytes):
        return "application/octet-stream", body
    return ("text/html" if body.lstrip().startswith("<") else "text/plain"), body.encode()
