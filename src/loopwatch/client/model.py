"""``ModelClient``: asks a model, and comes back with its reply or with one clear error."""

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from types import TracebackType
from typing import Any, Self

import msgspec

from loopwatch.client.attempt import Attempt, Failed
from loopwatch.client.call import Call
from loopwatch.client.endpoint import endpoint
from loopwatch.client.http import AiohttpTransport
from loopwatch.client.items import Item, Reply
from loopwatch.client.late import LatePrice, look_up
from loopwatch.client.schedule import LONGEST
from loopwatch.client.tally import Abandoned, Discarded
from loopwatch.client.transport import Transport
from loopwatch.client.watchdog import Watchdog
from loopwatch.clock import Clock, SystemClock
from loopwatch.detect.settings import LoopDetection
from loopwatch.errors import ModelError, SettingsError
from loopwatch.pricing.providers import provider_of
from loopwatch.wire.openai import FIXED

RETRIES = 10
"""Retries, as the system of the seed has them, like the two below: 303 seconds of waits."""

IDLE_SECS = 60.0
"""Longer than providers take to begin, shorter than anybody waits for a reply that has stopped."""

CALL_TIMEOUT_SECS = 900.0
"""A quarter of an hour: the longest replies of reasoning models take minutes."""

LONGEST_SECS = 10**9
"""Thirty years: what no timer of an event loop refuses."""

IMAGES = ("image_url", "input_image", "image")
NO_LOOKUP = "this provider has no look-up of prices: ModelClient(generation_lookup=True) asks all the same"


class ModelClient:
    """Asks any OpenAI-compatible endpoint, streams, and retries what a retry may fix.

    A reply that loops is dropped as soon as ``loop_detection`` (settings, or the name of a preset) sees
    it; without any, nobody watches. ``retries`` follow the first attempt; each attempt may be silent for
    ``idle_secs`` and last ``call_timeout_secs`` in all, so that a call takes (retries + 1) times as long
    at most, plus its waits, none of them longer than ``retry_max_delay_secs`` unless the provider asks for
    it. ``retry_with`` are fields that the request has instead after a loop.
    ``generation_lookup`` says whether prices can be asked for later (by default, at OpenRouter).

    One client serves any number of calls of one event loop at a time, but no second thread. Use it as
    an async context manager, or close it with ``aclose``, which ends whatever is under way, for good.

    >>> async with ModelClient("gpt-4o-mini", loop_detection="balanced") as client:
    ...     reply = await client.complete({"messages": [{"role": "user", "content": "Hello"}]})
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        api_key_env: str | None = None,
        headers: Mapping[str, str] | None = None,
        loop_detection: LoopDetection | str | None = None,
        retries: int = RETRIES,
        idle_secs: float = IDLE_SECS,
        call_timeout_secs: float = CALL_TIMEOUT_SECS,
        retry_max_delay_secs: float = LONGEST,
        retry_with: Mapping[str, Any] | None = None,
        generation_lookup: bool | None = None,
        transport: Transport | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Raises InputError on an invalid address or key, SettingsError on an invalid setting."""
        _require(
            retries=retries,
            idle_secs=idle_secs,
            call_timeout_secs=call_timeout_secs,
            retry_max_delay_secs=retry_max_delay_secs,
        )
        self._at = endpoint(base_url, api_key=api_key, api_key_env=api_key_env, headers=headers)
        self._model = model
        if isinstance(loop_detection, str):
            loop_detection = LoopDetection.preset(loop_detection)
        self._settings = loop_detection
        self._retries = retries
        self._idle = float(idle_secs)
        self._ceiling = float(call_timeout_secs)
        self._longest_wait = float(retry_max_delay_secs)
        self._retry_with = dict(retry_with or {})
        for name in FIXED:
            if name in self._retry_with:
                raise SettingsError(f"retry_with has {name}: a retry asks the same question, and streams")
        try:
            msgspec.json.encode(self._retry_with)
        except (TypeError, ValueError, RecursionError) as error:
            raise SettingsError(f"retry_with is no JSON: {error}") from None
        self._looks_up = self._at.is_openrouter if generation_lookup is None else generation_lookup
        self._transport: Transport = transport if transport is not None else AiohttpTransport()
        self._clock = clock if clock is not None else SystemClock()

    def __repr__(self) -> str:
        """Whom it asks; no key."""
        return f"ModelClient({self._model!r} at {self._at.base_url})"

    @property
    def model(self) -> str | None:
        """The model that is asked where a request names none."""
        return self._model

    @property
    def provider(self) -> str | None:
        """Whose API it is, by the address: genai-prices' name, ``local``, or None where it is not known."""
        return provider_of(self._at.base_url)

    @property
    def looks_up(self) -> bool:
        """Whether the provider can be asked what a discarded reply has cost."""
        return self._looks_up

    async def complete(self, request: Mapping[str, Any], *, label: str = "") -> Reply:
        """The reply to ``request``, the body of a chat completion. ``label`` names the call in messages.

        Raises a ModelError where there is none: whichever it is, its ``tally`` has what was thrown away.
        """
        async with aclosing(self.stream(request, label=label)) as items:
            async for item in items:
                if isinstance(item, Reply):
                    return item
        raise AssertionError("a stream ends with a reply or with an error")

    async def stream(self, request: Mapping[str, Any], *, label: str = "") -> AsyncGenerator[Item, None]:
        """The reply as it comes: ``Delta`` after ``Delta``, in the end the ``Reply``.

        An ``AttemptDiscarded`` says that the deltas so far belong to no reply. Closing this generator
        (``contextlib.aclosing``) closes the connection. Raises as ``complete``.
        """
        body = {"model": self._model, **request} if self._model is not None else dict(request)
        settings = self._settings
        call = Call(
            attempts=self._retries + 1,
            ceiling=self._ceiling,
            label=label,
            stop_on_same_loop=settings is not None and settings.stop_on_same_loop,
            provider=self.provider,
            longest_wait=self._longest_wait,
        )
        images = _has_images(request.get("messages"))
        while True:
            attempt = self._attempt(body, images=images)
            call.begin()
            try:
                try:
                    await attempt.begin()
                    while attempt.reply is None:
                        for item in await attempt.hear():
                            yield item
                        attempt.refuse_loop()
                finally:
                    attempt.end()
            except Failed as failure:
                discarded = call.failed(attempt, failure)
            except ModelError as error:
                raise call.fatal(attempt, error) from None
            else:
                yield call.accepted(attempt)
                return
            yield discarded
            if discarded.trip is not None:
                body |= self._retry_with
            await self._clock.sleep(discarded.wait)

    async def price_discarded(self, replies: Iterable[str | Discarded | Abandoned]) -> list[LatePrice]:
        """What replies that were thrown away have cost in the end, by generation id or as in a tally.

        Takes up to half a minute, for all of them together: meant for the end of a run. One entry for
        each, in their order; one without an id, or at a provider that cannot be asked, is unpriced.
        """
        ids = [one if isinstance(one, str) else one.generation_id for one in replies]
        if not self._looks_up:
            return [LatePrice(one or "", reason=NO_LOOKUP) for one in ids]
        known = list(dict.fromkeys(one for one in ids if one))
        found = await look_up(known, at=self._at, transport=self._transport, clock=self._clock)
        prices = {price.generation_id: price for price in found}
        return [prices[one] if one else LatePrice("", reason="it had no generation id") for one in ids]

    async def aclose(self) -> None:
        """Close whatever is open."""
        await self._transport.aclose()

    async def __aenter__(self) -> Self:
        """Nothing is opened before it is needed."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        await self.aclose()

    def _attempt(self, body: Mapping[str, Any], *, images: bool) -> Attempt:
        request = self._at.chat(body)
        return Attempt(
            request,
            at=self._at,
            transport=self._transport,
            watchdog=Watchdog(self._clock, idle=self._idle, ceiling=self._ceiling),
            settings=self._settings,
            model=str(body.get("model")),
            images=images,
        )


def _require(*, retries: Any, **seconds: Any) -> None:
    """Raise SettingsError on what no client can run on."""
    if not isinstance(retries, int) or isinstance(retries, bool) or retries < 0:
        raise SettingsError(f"retries is {retries!r}: it must be a whole number, 0 or more")
    for name, value in seconds.items():
        if not isinstance(value, int | float) or not 0 < value <= LONGEST_SECS:
            raise SettingsError(f"{name} is {value!r}: it must be a number of seconds, above 0 and finite")


def _has_images(messages: object) -> bool:
    """Whether any message holds a picture."""
    for message in messages if isinstance(messages, Sequence) else ():
        content = message.get("content") if isinstance(message, Mapping) else None
        for part in content if isinstance(content, list | tuple) else ():
            if isinstance(part, Mapping) and part.get("type") in IMAGES:
                return True
    return False
