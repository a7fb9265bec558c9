"""Whose call it is: a user, a feature and a plan, said with the call or around it.

Around it: ``with tracker.user("u1", feature="research"):`` holds for everything that runs in it, tasks
included, and for threads that are started through ``in_context``. With it: as extra keywords of the
vendor's method, or, where a type checker reads along, as the vendor's own ``extra_headers`` with the
names in HEADERS. Either way they are taken off before anything is sent.
"""

from collections.abc import Callable, Mapping, MutableMapping
from contextvars import ContextVar, copy_context
from functools import wraps
from inspect import iscoroutinefunction
from types import TracebackType
from typing import Any, NamedTuple, ParamSpec, TypeVar
from uuid import UUID

from loopwatch.errors import InputError, MissingUser

P = ParamSpec("P")
T = TypeVar("T")


class Labels(NamedTuple):
    """Who a call is for, what in the application makes it, and what its user pays. None: not said."""

    user_id: str | None = None
    feature: str | None = None
    plan: str | None = None

    def over(self, others: "Labels") -> "Labels":
        """These, and the others where these say nothing."""
        return Labels(
            *(mine if mine is not None else other for mine, other in zip(self, others, strict=True))
        )


HEADERS = {"x-loopwatch-user": "user_id", "x-loopwatch-feature": "feature", "x-loopwatch-plan": "plan"}
"""Headers by which a call may carry its labels; they never leave the process."""
KEYWORDS = {"user_id": "user_id", "userId": "user_id", "feature": "feature", "plan": "plan"}

NOBODY = Labels()
_around: ContextVar[tuple["_Entry", ...]] = ContextVar("loopwatch_labels", default=())


def current() -> Labels:
    """What is said around this place."""
    entries = _around.get()
    return entries[-1].labels if entries else NOBODY


def taken_from_keywords(keywords: MutableMapping[str, Any]) -> Labels:
    """The labels among the keywords, which lose them.

    Raises MissingUser where the user is no name, InputError where another label is none.
    """
    found: dict[str, Any] = {}
    for keyword, field in KEYWORDS.items():
        if keyword in keywords:
            value = keywords.pop(keyword)
            found[field] = found.get(field) if value is None else _name(value, field)
    return Labels(**found)


def labels_in(metadata: Mapping[str, Any]) -> Labels:
    """The labels among a framework's metadata, which says them in any type, and says nothing with a blank."""
    said = {keyword: str(metadata[keyword]) for keyword in KEYWORDS if metadata.get(keyword) is not None}
    return taken_from_keywords({keyword: text for keyword, text in said.items() if text.strip()})


def taking_labels(
    method: Callable[..., Any], put: Callable[[dict[str, Any], Mapping[str, str]], None]
) -> Callable[..., Any]:
    """A vendor's method, sync or async, that takes labels among its keywords.

    ``put`` gets the keywords without them, and the headers that say the same, to place among them.
    """

    def moved(keywords: dict[str, Any]) -> dict[str, Any]:
        labels = taken_from_keywords(keywords)
        if any(label is not None for label in labels):
            put(keywords, as_headers(labels))
        return keywords

    if iscoroutinefunction(method):

        @wraps(method)
        async def ask(*args: Any, **keywords: Any) -> Any:
            return await method(*args, **moved(keywords))

    else:

        @wraps(method)
        def ask(*args: Any, **keywords: Any) -> Any:
            return method(*args, **moved(keywords))

    return ask


def taken_from_headers(headers: Mapping[str, Any]) -> tuple[Labels, dict[str, Any]]:
    """The labels among the headers, and the headers without them."""
    found = {HEADERS[key.lower()]: value for key, value in headers.items() if key.lower() in HEADERS}
    rest = {key: value for key, value in headers.items() if key.lower() not in HEADERS}
    return Labels(**{field: _name(value, field) for field, value in found.items()}), rest


def as_headers(labels: Labels) -> dict[str, str]:
    """The headers that carry these labels."""
    values = labels._asdict()
    return {header: values[field] for header, field in HEADERS.items() if values[field] is not None}


def _name(value: object, field: str) -> str:
    """A label as text; ids may be numbers. Raises MissingUser for a user without a name, InputError."""
    if isinstance(value, int | UUID) and not isinstance(value, bool):
        value = str(value)
    if field == "user_id" and not (isinstance(value, str) and value.strip()):
        raise MissingUser("user_id must be text that names somebody: leave it out where nobody is known")
    if not isinstance(value, str):
        raise InputError(f"{field} is of type {type(value).__name__}: it must be text")
    return value.encode("utf-8", "replace").decode()  # half a character, which no row can hold


class _Entry(NamedTuple):
    """One time that a block was entered: by whom, and what holds in it."""

    block: "Around"
    labels: Labels


class Around:
    """A block in which calls have these labels; it may be entered again, also in another context.

    Leaving it takes away what this block said and nothing else: generators that are read side by side
    leave their blocks in any order, those of a web framework even in another context.
    """

    def __init__(self, labels: Labels) -> None:
        self._labels = labels

    def __enter__(self) -> Labels:
        """Say it, over what an outer block says."""
        labels = self._labels.over(current())
        _around.set((*_around.get(), _Entry(self, labels)))
        return labels

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Say it no more."""
        entries = _around.get()
        for place in reversed(range(len(entries))):
            if entries[place].block is self:
                _around.set(entries[:place] + entries[place + 1 :])
                return


def in_context(function: Callable[P, T]) -> Callable[P, T]:
    """The function, to be run in another thread with the labels, and the agent run, of this place.

    ``executor.submit(in_context(work), …)``: a thread starts with none of them by itself.
    """
    context = copy_context()

    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return context.copy().run(function, *args, **kwargs)

    return run
