"""Google's client, tracked: at the place where it hands its requests to HTTP and gets JSON back.

``generate_content`` may ask a model many times over, since it calls Python functions by itself; chats and
continuations do too. All of that goes through the client's ``_api_client``, which Google's own replaying
client replaces as well. A tracked client is a copy with another one; it shares the connections.
"""

from collections.abc import AsyncIterator, Iterator, Mapping
from copy import copy
from typing import TYPE_CHECKING, Any

from loopwatch.errors import LoopwatchError
from loopwatch.sdk.labels import HEADERS, taken_from_headers, taking_labels
from loopwatch.sdk.question import Question
from loopwatch.sdk.watching import Watched

if TYPE_CHECKING:
    from loopwatch.sdk.admission import Admission

ASKING = (":generateContent", ":streamGenerateContent")
METHODS = ("generate_content", "generate_content_stream")


def tracked(client: Any, admission: "Admission") -> Any:
    """A copy of a ``google.genai.Client`` that is tracked."""
    original = getattr(client, "_loopwatch_original", client)
    api = copy(original._api_client)  # noqa: SLF001  the only seam under which nothing is missed
    api.__class__ = admission.class_for(type(api), _api_class)
    wrapped = copy(original)
    wrapped.__class__ = admission.class_for(type(original), _client_class)
    wrapped._loopwatch_original = original  # noqa: SLF001  ours: whoever made it closes it
    wrapped._api_client = api  # noqa: SLF001  as above
    wrapped._models = _taking_labels(type(original.models)(api))  # noqa: SLF001  as above
    wrapped._aio = type(original.aio)(api)  # noqa: SLF001  as above
    _taking_labels(wrapped.aio.models)
    return wrapped


def _client_class(vendor: type, _admission: "Admission") -> type:
    return type(vendor.__name__, (vendor,), {"__del__": _nothing, "__module__": vendor.__module__})


def _nothing(_self: Any) -> None:
    """A copy closes nothing when it is forgotten; the client that it was made of does."""


def _taking_labels(models: Any) -> Any:
    for name in METHODS:
        setattr(models, name, taking_labels(getattr(models, name), _in_config))
    return models


def _in_config(keywords: dict[str, Any], headers: Mapping[str, str]) -> None:
    """Put labels among the headers of the call's config."""
    keywords["config"] = _with_headers(keywords.get("config"), dict(headers))


def _with_headers(config: Any, headers: dict[str, str]) -> Any:
    """A config with these headers, whether it is None, a mapping or Google's model; the caller's is left."""
    if config is None or isinstance(config, dict):
        options = (config or {}).get("http_options")
        return {**(config or {}), "http_options": _options_with(options, headers)}
    return config.model_copy(update={"http_options": _options_with(config.http_options, headers)})


def _options_with(options: Any, headers: dict[str, str]) -> Any:
    from google.genai.types import HttpOptions

    given = HttpOptions.model_validate(options or {})
    return given.model_copy(update={"headers": {**(given.headers or {}), **headers}})


def _api_class(vendor: Any, admission: "Admission") -> type:
    body = _methods(vendor, admission) | _async_methods(vendor, admission)
    return type(vendor.__name__, (vendor,), body | {"__del__": _nothing, "__module__": vendor.__module__})


def _methods(vendor: Any, admission: "Admission") -> dict[str, Any]:
    def request(self: Any, method: str, path: str, body: Any, options: Any = None) -> Any:
        asked = _question(self, path, body, options, admission)
        if asked is None:
            return vendor.request(self, method, path, body, _unlabelled(options))
        admission.admit(asked)
        watched = admission.watch(asked)
        try:
            answer = vendor.request(self, method, _path(path, asked), body, _unlabelled(options))
        except BaseException:
            watched.fail()
            raise
        watched.read(_bytes(answer))
        return answer

    def request_streamed(self: Any, method: str, path: str, body: Any, options: Any = None) -> Iterator[Any]:
        asked = _question(self, path, body, options, admission, streams=True)
        if asked is None:
            plain: Iterator[Any] = vendor.request_streamed(self, method, path, body, _unlabelled(options))
            return plain
        admission.admit(asked)
        stream = vendor.request_streamed(self, method, _path(path, asked), body, _unlabelled(options))
        return _heard(stream, admission.watch(asked))

    return {"request": request, "request_streamed": request_streamed}


def _async_methods(vendor: Any, admission: "Admission") -> dict[str, Any]:
    async def async_request(self: Any, method: str, path: str, body: Any, options: Any = None) -> Any:
        asked = _question(self, path, body, options, admission)
        if asked is None:
            return await vendor.async_request(self, method, path, body, _unlabelled(options))
        await admission.admit_async(asked)
        watched = admission.watch(asked)
        try:
            answer = await vendor.async_request(self, method, _path(path, asked), body, _unlabelled(options))
        except BaseException:
            watched.fail()
            raise
        watched.read(_bytes(answer))
        return answer

    async def async_request_streamed(
        self: Any, method: str, path: str, body: Any, options: Any = None
    ) -> AsyncIterator[Any]:
        asked = _question(self, path, body, options, admission, streams=True)
        call = vendor.async_request_streamed
        if asked is None:
            plain: AsyncIterator[Any] = await call(self, method, path, body, _unlabelled(options))
            return plain
        await admission.admit_async(asked)
        watched = admission.watch(asked)
        try:
            stream = await call(self, method, _path(path, asked), body, _unlabelled(options))
        except BaseException:
            watched.fail()
            raise
        return _heard_async(stream, watched)

    return {"async_request": async_request, "async_request_streamed": async_request_streamed}


def _question(
    api: Any, path: str, body: Any, options: Any, admission: "Admission", *, streams: bool = False
) -> Question | None:
    """What is asked at ``path``, for whom; None where no model answers there."""
    name = path.partition("?")[0]
    if not name.endswith(ASKING) or not isinstance(body, dict):
        return None
    labels, _ = taken_from_headers(_headers(options))
    base_url = str(getattr(getattr(api, "_http_options", None), "base_url", None) or "")
    return admission.question(
        format="gemini",
        base_url=base_url,
        model=_model(name),
        labels=labels,
        body=body,
        streams=streams,
    )


def _model(name: str) -> str:
    return name.rpartition("/")[2].partition(":")[0]


def _path(path: str, asked: Question) -> str:
    """The path of the model that was admitted."""
    before = _model(path.partition("?")[0])
    return path if before == asked.model else path.replace(f"/{before}:", f"/{asked.model}:", 1)


def _headers(options: Any) -> dict[str, Any]:
    headers = options.get("headers") if isinstance(options, dict) else getattr(options, "headers", None)
    return dict(headers) if headers else {}


def _unlabelled(options: Any) -> Any:
    """The options without labels among their headers; the caller's are left as they are."""
    headers = _headers(options)
    if not any(key.lower() in HEADERS for key in headers):
        return options
    _, rest = taken_from_headers(headers)
    if isinstance(options, dict):
        return {**options, "headers": rest}
    return options.model_copy(update={"headers": rest})


def _bytes(answer: Any) -> bytes:
    body = answer.body or ""
    return body.encode("utf-8", "surrogatepass") if isinstance(body, str) else bytes(body)


def _heard(stream: Iterator[Any], watched: Watched) -> Iterator[Any]:
    inner: Any = stream
    silent = True
    failed = False
    try:
        for answer in inner:
            silent = False
            if watched.hear(_bytes(answer)) == "cut":
                inner.close()
                _cut(watched)
                return
            yield answer
    except LoopwatchError:
        raise
    except Exception:
        failed = silent  # else what was heard of the reply was paid for
        raise
    finally:
        watched.end(failed=failed)
        inner.close()


async def _heard_async(stream: AsyncIterator[Any], watched: Watched) -> AsyncIterator[Any]:
    inner: Any = stream
    silent = True
    failed = False
    try:
        async for answer in inner:
            silent = False
            if watched.hear(_bytes(answer)) == "cut":
                await inner.aclose()
                _cut(watched)
                return
            yield answer
    except LoopwatchError:
        raise
    except Exception:
        failed = silent  # else what was heard of the reply was paid for
        raise
    finally:
        watched.end(failed=failed)
        await inner.aclose()


def _cut(watched: Watched) -> None:
    tripped = watched.tripped()
    if tripped is not None:
        raise tripped
