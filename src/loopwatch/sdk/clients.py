"""OpenAI's and Anthropic's clients, and whatever is built like them (Azure, Bedrock), tracked.

A tracked client is the vendor's own copy of the client (``with_options``), of a subclass with another
``post``: the one method through which every resource asks. So whatever the vendor builds on it (parsing,
stream helpers, raw responses, ``beta``, ``with_options``) goes on working, and is tracked.
"""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any

from loopwatch.sdk.labels import taken_from_headers, taking_labels
from loopwatch.sdk.question import Question, format_at
from loopwatch.sdk.raw import listen
from loopwatch.sdk.streams import ear_of, with_ear
from loopwatch.sdk.watching import Watched

if TYPE_CHECKING:
    from loopwatch.sdk.admission import Admission

RESOURCES = (
    *("chat.completions", "completions", "responses", "messages"),
    *("beta.chat.completions", "beta.responses", "beta.messages"),
)
"""Where the methods are whose callers may add labels; each as far as the vendor's client has it."""
METHODS = ("create", "stream", "parse")


def tracked(client: Any, admission: "Admission") -> Any:
    """A copy of ``client`` that is tracked; it shares the connections."""
    vendor = vendor_of(type(client))
    copy = client.with_options()
    if getattr(type(copy), "_loopwatch_vendor", None) is None or copy._loopwatch_admission is not admission:  # noqa: SLF001  ours
        copy.__class__ = admission.class_for(vendor, _subclass)
    return copy


def vendor_of(kind: type) -> type:
    """The vendor's own class, of a tracked client's too."""
    return getattr(kind, "_loopwatch_vendor", None) or kind


def _subclass(vendor: type, admission: "Admission") -> type:
    made: Any = vendor
    post = _async_post if iscoroutinefunction(made.post) else _post
    body: dict[str, Any] = {
        "_loopwatch_vendor": vendor,
        "_loopwatch_admission": admission,
        "post": post(vendor, admission),
        "__module__": vendor.__module__,
        "__qualname__": vendor.__qualname__,
    }
    for root in dict.fromkeys(path.partition(".")[0] for path in RESOURCES):
        if hasattr(vendor, root):
            body[root] = _Resource(root, vendor)
    return type(vendor)(vendor.__name__, (vendor,), body)


class _Resource:
    """A resource of a client whose methods take labels as well; made when it is first asked for."""

    def __init__(self, root: str, vendor: type) -> None:
        self._root = root
        self._made: Any = vars(_home(vendor, root))[root]

    def __get__(self, client: Any, owner: type) -> Any:
        """The resource, which the client keeps."""
        if client is None:
            return self
        resource = self._made.__get__(client, owner)
        for path in RESOURCES:
            root, *further = path.split(".")
            if root == self._root:
                _take_labels(resource, further)
        client.__dict__[self._root] = resource
        return resource


def _home(vendor: type, name: str) -> type:
    return next(kind for kind in vendor.__mro__ if name in vars(kind))


def _take_labels(resource: Any, path: list[str]) -> None:
    for name in path:
        if not hasattr(type(resource), name):
            return
        resource = getattr(resource, name)
    for name in METHODS:
        if hasattr(type(resource), name):
            setattr(resource, name, taking_labels(getattr(resource, name), _among_headers))


def _among_headers(keywords: dict[str, Any], headers: Mapping[str, str]) -> None:
    """Put labels where ``post`` finds them."""
    keywords["extra_headers"] = {**(keywords.get("extra_headers") or {}), **headers}


def _post(vendor: Any, admission: "Admission") -> Callable[..., Any]:
    def post(self: Any, path: str, **options: Any) -> Any:
        question = _question(self, path, options, admission)
        if question is None:
            return vendor.post(self, path, **options)
        admission.admit(question)
        watched = _prepared(question, options, admission)
        try:
            try:
                answer = vendor.post(self, path, **options)
            except Exception as error:
                if not _refuses_usage(error, question, options, admission):
                    raise
                answer = vendor.post(self, path, **options)
        except BaseException:
            watched.fail()
            raise
        return _received(answer, watched)

    return post


def _async_post(vendor: Any, admission: "Admission") -> Callable[..., Any]:
    async def post(self: Any, path: str, **options: Any) -> Any:
        question = _question(self, path, options, admission)
        if question is None:
            return await vendor.post(self, path, **options)
        await admission.admit_async(question)
        watched = _prepared(question, options, admission)
        try:
            try:
                answer = await vendor.post(self, path, **options)
            except Exception as error:
                if not _refuses_usage(error, question, options, admission):
                    raise
                answer = await vendor.post(self, path, **options)
        except BaseException:
            watched.fail()
            raise
        return _received(answer, watched)

    return post


def _question(client: Any, path: str, options: dict[str, Any], admission: "Admission") -> Question | None:
    """What is asked at ``path``, the labels taken off the options; None where no model answers."""
    request = options.get("options") or {}
    labels, headers = taken_from_headers(request.get("headers") or {})
    if "headers" in request:
        options["options"] = {**request, "headers": headers}
    spoken, body = format_at(path), options.get("body")
    if spoken is None or not isinstance(body, dict):
        return None
    return admission.question(
        format=spoken,
        base_url=str(client.base_url),
        model=str(body.get("model", "unknown")),
        labels=labels,
        body=body,
        streams=bool(options.get("stream")),
    )


def _prepared(question: Question, options: dict[str, Any], admission: "Admission") -> Watched:
    """The options as they are to be sent: the model that was admitted, usage asked for, an ear in the stream.

    A caller who says anything about usage is obeyed.
    """
    body = {**question.body, "model": question.model}
    if question.streams and options.get("stream_cls") is not None:
        options["stream_cls"] = with_ear(options["stream_cls"])
        asked = body.get("stream_options")
        own = asked if isinstance(asked, dict) else {}
        silent = "include_usage" not in own and question.format == "openai"
        if silent and question.base_url not in admission.without_usage:
            body["stream_options"] = {**own, "include_usage": True}
            question.hides_usage = True
    options["body"] = body
    return admission.watch(question)


def _refuses_usage(
    error: Exception, question: Question, options: dict[str, Any], admission: "Admission"
) -> bool:
    """Whether it is what we asked for that a gateway refuses; then it is no longer asked, now or later."""
    refused = getattr(error, "status_code", None) == HTTPStatus.BAD_REQUEST and "stream_options" in str(error)
    if not (refused and question.hides_usage):
        return False
    admission.without_usage.add(question.base_url)
    question.hides_usage = False
    options["body"] = {**question.body, "model": question.model}
    return True


def _received(answer: Any, watched: Watched) -> Any:
    """The answer, untouched; what it tells is noted."""
    ear = ear_of(answer)
    if ear is not None:
        ear.watched = watched
        return answer
    response = getattr(answer, "http_response", None)
    if response is not None and not hasattr(response, "_content"):  # that is still to be read
        listen(response, watched)
        return answer
    data = _document(answer)
    if data is None or watched.question.streams:
        watched.fail()
    else:
        watched.read(data)
    return answer


def _document(answer: Any) -> bytes | None:
    """The provider's document, of a parsed answer or of a raw one that has been read; None of others."""
    try:
        if hasattr(answer, "http_response"):
            content = answer.http_response.content
            return content if isinstance(content, bytes) else None
        text = answer.model_dump_json(warnings=False)
        return text.encode() if isinstance(text, str) else None
    except Exception:  # noqa: BLE001  whatever a vendor's model holds, the caller has the answer
        return None
