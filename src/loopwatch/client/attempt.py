"""One HTTP request for a reply, from its sending to the last chunk, or to a loop."""

import asyncio
from typing import TYPE_CHECKING

from loopwatch.client.endpoint import Endpoint
from loopwatch.client.listener import Listener, Loop
from loopwatch.client.quoting import SHOWN, Quoting
from loopwatch.client.schedule import retry_after
from loopwatch.client.status import BODY, is_retryable, is_success, message_of, named, refusal
from loopwatch.client.transport import Request, Response, Transport, TransportError
from loopwatch.client.watchdog import Expired, Watchdog
from loopwatch.detect.settings import CHANNELS
from loopwatch.errors import CallTimeout, ModelError, ProviderFault, UnreachableModel, one_line
from loopwatch.pricing.scripts import CharCounts, count_chars

if TYPE_CHECKING:
    from loopwatch.client.items import Delta, LoopSeen
    from loopwatch.detect.settings import LoopDetection
    from loopwatch.wire.reply import Reply
    from loopwatch.wire.usage import Usage

GENERATION_ID = "x-generation-id"
HEADER = 300
"""Characters of a header's value that are read."""


class Failed(Exception):
    """An attempt failed in a way that a retry may fix: a status, a broken connection, silence, a loop.

    ``asked`` are the seconds of a Retry-After.
    """

    def __init__(
        self, cause: str, *, status: int | None = None, asked: int | None = None, loop: Loop | None = None
    ) -> None:
        """Take the cause, and what came with it."""
        super().__init__(cause)
        self.cause = cause
        self.status = status
        self.asked = asked
        self.loop = loop


class Attempt:
    """Asks once. ``images`` says whether the request has any."""

    def __init__(
        self,
        request: Request,
        *,
        at: Endpoint,
        transport: Transport,
        watchdog: Watchdog,
        settings: "LoopDetection | None",
        model: str,
        images: bool,
    ) -> None:
        """Take what is asked, of which model, who asks, and who watches."""
        self.model = model
        self._request = request
        self._at = at
        self._transport = transport
        self._watchdog = watchdog
        self._images = images
        self._quoting = Quoting(request.body, at.secrets)
        self._listener = Listener(settings)
        self._response: Response | None = None
        self._generation_id: str | None = None

    @property
    def reply(self) -> "Reply | None":
        """The reply, once it is complete."""
        return self._listener.reply

    @property
    def seen(self) -> "list[LoopSeen]":
        """Loops in a reply that is watched in the shadow."""
        return self._listener.seen

    @property
    def generation_id(self) -> str | None:
        """What the reply's price can be asked for under."""
        return self._generation_id or self._listener.assembly.generation_id

    @property
    def usage(self) -> "Usage | None":
        """What it is billed for, as far as the stream has said."""
        return self._listener.assembly.usage

    @property
    def counts(self) -> CharCounts:
        """The characters that have come, of every channel."""
        return count_chars("".join(map(self._listener.assembly.text, CHANNELS)))

    @property
    def provider(self) -> str | None:
        """Who serves it, as far as the stream has said."""
        return self._listener.assembly.provider

    async def begin(self) -> None:
        """Send the request and judge the head of its answer.

        Raises Failed where a retry may fix it, else a ModelError; so does ``hear``.
        """
        try:
            self._response = await self._watchdog.wait(self._transport.send(self._request))
            await self._judge_head(self._response)
        except Expired as expired:
            raise self._ran_out(expired) from None
        except TransportError as error:
            raise _broken(error) from None

    async def hear(self) -> "list[Delta | LoopSeen]":
        """What the next read brings; in the end there is a ``reply``, or a loop, which raises Failed."""
        watchdog, listener, response = self._watchdog, self._listener, self._response
        assert response is not None  # noqa: S101  it has begun
        progress = listener.progress
        watchdog.watch()
        try:
            data = await response.read()
        except TransportError as error:
            if listener.take_finished():
                return []
            raise _broken(error) from None
        except asyncio.CancelledError:
            try:
                watchdog.explain()
            except Expired as expired:
                raise self._ran_out(expired) from None
            raise
        finally:
            watchdog.rest()
        try:
            heard = listener.feed(data)
        except ProviderFault as fault:
            said = self._quoting.clean(str(fault))[:SHOWN]
            if fault.code is None or not is_retryable(fault.code):
                raise ProviderFault(said, fault.code) from None
            raise Failed(said, status=fault.code) from None
        if listener.progress != progress:
            watchdog.progressed()
        if listener.loop is not None or listener.reply is not None:
            self.end()  # nothing more is read, whatever the consumer does with this
        return heard

    def refuse_loop(self) -> None:
        """Raise Failed where what was heard is a loop."""
        loop = self._listener.loop
        if loop is not None:
            raise Failed(f"model looped: {loop.trip}", loop=loop)

    def end(self) -> None:
        """Close the connection, whatever is still to come."""
        self._watchdog.stop()
        if self._response is not None:
            self._response.drop()

    async def _judge_head(self, response: Response) -> None:
        """Let a success pass, before a chunk is read; of anything else, read what it says."""
        status, headers = response.status, response.headers
        self._generation_id = _header(headers.get(GENERATION_ID))
        if is_success(status):
            return
        body, over = await self._beginning(response)
        quoting = self._quoting
        if is_retryable(status):
            if over:
                raise Expired("ceiling")
            cause = named(status) + quoting.quote(message_of(body))
            raise Failed(cause, status=status, asked=retry_after(status, headers.get("retry-after")))
        location = quoting.clean(_header(headers.get("location")) or "")
        raise refusal(status, body, at=self._at, quoting=quoting, images=self._images, location=location)

    async def _beginning(self, response: Response) -> tuple[bytes, bool]:
        """The beginning of an error's body, and whether the call's time ran out over it."""
        body = b""
        try:
            while len(body) < BODY and (data := await self._watchdog.wait(response.read())):
                body += data
        except TransportError:
            pass  # the status has said what matters
        except Expired as expired:
            return body, expired.which == "ceiling"
        return body[:BODY], False

    def _ran_out(self, expired: Expired) -> Exception:
        served = f" (served by {self.provider})" if self.provider else ""
        if expired.which == "ceiling":
            most = f"{self._watchdog.ceiling:g} s, the most that an attempt may take"
            return CallTimeout(f"no reply within {most}{served}")
        return Failed(f"nothing came for {self._watchdog.idle:g} s{served}")


def _broken(error: TransportError) -> Failed | ModelError:
    return UnreachableModel(str(error)) if error.permanent else Failed(str(error))


def _header(value: str | None) -> str | None:
    """A header's value as one harmless line; None where there is none."""
    return (one_line(value)[:HEADER] or None) if value is not None else None
