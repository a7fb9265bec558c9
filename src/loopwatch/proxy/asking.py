"""A watched request on its way: asked upstream, heard, logged; what a streamed and a whole answer share."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from multidict import CIMultiDict
from yarl import URL

from loopwatch.client.http import AiohttpResponse
from loopwatch.client.listener import place_of
from loopwatch.client.schedule import delay_after
from loopwatch.client.status import is_success
from loopwatch.client.transport import TransportError
from loopwatch.client.watchdog import Expired, Watchdog
from loopwatch.errors import InputError
from loopwatch.proxy.client import Client
from loopwatch.proxy.dialects.errors import LOOP
from loopwatch.proxy.headers import Headers, back, encoding
from loopwatch.proxy.house import House
from loopwatch.proxy.incoming import Incoming, silent
from loopwatch.proxy.question import Inquiry
from loopwatch.proxy.refusals import Broken, Refusal
from loopwatch.proxy.trips import Cut
from loopwatch.proxy.watching import Watch, Whole
from loopwatch.records.call import Call
from loopwatch.sdk.guarding import Guard
from loopwatch.sdk.question import Question
from loopwatch.sdk.watching import Desk, Watched
from loopwatch.wire.usage import Usage

_log = logging.getLogger(__name__)


class Asking:
    """One watched request. ``usage`` is that of the attempt that ended last."""

    def __init__(self, house: House, client: Client, inquiry: Inquiry, question: Question, path: str) -> None:
        self.house = house
        self.client = client
        self.inquiry = inquiry
        self.question = question
        self.path = path
        self.usage = Usage()
        detection = house.settings.detection
        self._desk = Desk(
            clock=house.clock,
            rates=house.rates,
            guard=detection if detection.enabled and inquiry.is_single else None,
            quiet=True,
            plans={},
            take=self._take,
            lost=self._lost,
            open=set(),
        )
        self._place: int | None = None
        self._discarded = 0

    @asynccontextmanager
    async def opened(
        self, url: URL, headers: CIMultiDict[str], body: bytes
    ) -> AsyncIterator[tuple[Incoming, Watched]]:
        """Ask upstream; its answer for the block. After it nothing is open, and the row is written."""
        settings = self.house.settings
        watchdog = Watchdog(self.house.clock, idle=settings.idle_secs, ceiling=settings.ceiling_secs)
        watched = Watched(self.question, self._desk)
        response: AiohttpResponse | None = None
        try:
            response = await watchdog.wait(self.house.transport.ask("POST", url, headers, body))
            if not is_success(response.status):
                watched.fail()
            yield Incoming(response, watchdog, watched), watched
        except Expired as expired:
            watched.fail()
            raise silent(expired, watchdog) from None
        except TransportError as error:
            watched.fail()
            raise Broken(str(error)) from None
        except InputError as error:
            raise Broken(f"the upstream's answer cannot be read: {error}") from None
        finally:
            watchdog.stop()
            if response is not None:
                response.drop()
            watched.end()

    async def relay_plain(self, incoming: Incoming, watched: Watched, begun: bytes = b"") -> None:
        """Hand on an answer that is no stream, byte for byte, and take its figures.

        What has been read of it already has ``begun`` it.
        """
        response = incoming.response
        reading = Whole(watched)
        await self.client.start(response.status, self.head(response))
        if begun:
            reading.read(begun)
            await self.client.write(begun)
        while data := await incoming.read():
            incoming.progressed()
            reading.read(data)
            await self.client.write(data)
        if is_success(response.status) and not encoding(response):
            reading.finish()
        await self.client.end()

    async def discard(self, attempt: int, watched: Watched, guard: Guard) -> None:
        """A reply looped before any of it was relayed: wait, so that it can be asked for anew.

        Raises Refusal where that has been done often enough, or the same loop came again.
        """
        settings, trip = self.house.settings, guard.trip
        assert trip is not None  # noqa: S101  or there were nothing to discard
        place = place_of(trip, guard.channel, watched.draft.text(guard.channel))
        is_same = place is not None and place == self._place
        self._place = place
        stops = is_same and settings.detection.stop_on_same_loop
        if stops or attempt > settings.retries:
            self.tell(watched, guard, "error")
            why = "looped at the same place again" if stops else f"looped in each of {attempt} attempts"
            raise Refusal(502, f"the reply {why}: {trip}", code=LOOP, final=True)
        self.tell(watched, guard, "retry")
        self.house.tallies.retried += 1
        self._discarded += 1
        await self.house.clock.sleep(delay_after(attempt))

    def tell(self, watched: Watched, guard: Guard, action: str) -> Cut:
        """Say what was cut, to whoever listens."""
        trip, inquiry = guard.trip, self.inquiry
        assert trip is not None  # noqa: S101  or there were nothing to tell
        is_shadow = action == "shadow"
        most = None if inquiry.asked is None else inquiry.dialect.most_tokens(inquiry.asked)
        spent = self.usage.output_tokens or 0
        cut = Cut(
            trip=trip,
            channel=guard.channel,
            action=action,
            model=self.question.model,
            path=self.path,
            user=self.question.labels.user_id,
            unspent=None if most is None or is_shadow else max(0, most - spent),
            saved_chars=len(watched.draft.text(guard.channel)) - trip.chars if is_shadow else None,
        )
        self.house.tallies.trips[trip.rule, action] += 1
        _log.warning("%s", cut.line)
        self.house.tell(cut.record())
        return cut

    def finished(self, watched: Watched, watch: Watch) -> None:
        """A stream is over that was not cut: log it, and what would have been cut of it."""
        watch.finish()
        watched.end()
        guard = watched.guard
        if guard is not None and guard.trip is not None:
            self.tell(watched, guard, "shadow")
        if watch.fault is not None:
            _log.warning("%s: the stream could not be read for loops to its end: %s", self.path, watch.fault)

    def head(self, response: AiohttpResponse, *, without: tuple[str, ...] = ()) -> Headers:
        """The headers of our answer."""
        headers = back(response, without=without)
        if self._discarded:
            headers.append((b"x-loopwatch-discarded", str(self._discarded).encode()))
        return headers

    def _take(self, call: Call, usage: Usage | None, question: Question) -> None:
        del question
        self.usage = usage or Usage()
        self.house.ledger.put(call)

    def _lost(self, error: Exception) -> None:
        _log.error("%s: the call was not logged: %s", self.path, type(error).__name__)


def is_half_call(watched: Watched, guard: Guard) -> bool:
    """Whether a reply has begun to call a tool: ended as if it were whole, half a call might be made."""
    return bool(watched.draft.tool_calls) or guard.channel == "tools"
