"""An answer that was asked for whole is asked upstream as a stream, so that a loop in it can be cut."""

import itertools
from http import HTTPStatus

import msgspec
from multidict import CIMultiDict
from yarl import URL

from loopwatch.client.status import BODY, is_success
from loopwatch.proxy.asking import Asking, is_half_call
from loopwatch.proxy.dialects.dialect import Assembler
from loopwatch.proxy.dialects.errors import LOOP
from loopwatch.proxy.headers import content_type, encoding
from loopwatch.proxy.incoming import Incoming
from loopwatch.proxy.refusals import Broken, Refusal
from loopwatch.proxy.unpacking import Unpacker, unpacker
from loopwatch.proxy.watching import Watch
from loopwatch.sdk.guarding import Guard
from loopwatch.sdk.watching import Watched
from loopwatch.wire.faults import error_of, status_of

CHANGED = ("content-type", "content-length", "content-encoding")
"""Headers that a document has its own of."""
TRIP = b"x-loopwatch-trip"
STREAM = b"stream"
"""What an error speaks of whose cause is that we asked for a stream, or for its usage."""


class Assembled:
    """Answers one request with a document."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking

    async def answer(self, url: URL, headers: CIMultiDict[str], body: bytes) -> bool:
        """Ask, and answer; False where the upstream will not stream this, and nothing was answered.

        Raises Broken, Refusal and ClientGone.
        """
        asking = self._asking
        for attempt in itertools.count(1):
            async with asking.opened(url, headers, body) as (incoming, watched):
                response = incoming.response
                if response.status in (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY):
                    said = await _beginning(incoming)
                    if STREAM in said.lower():
                        return False
                    await asking.relay_plain(incoming, watched, said)
                    return True
                framing = asking.inquiry.dialect.framing(content_type(response))
                packed = encoding(response)
                unpacking = unpacker(packed) if packed else None
                # An array is what Gemini sends where no events are asked for; we have, so it is a document.
                if framing in (None, "array") or not is_success(response.status):
                    await asking.relay_plain(incoming, watched)
                    return True
                if packed and unpacking is None:
                    raise Broken(f"the upstream packs its answer as {packed[:20]!r}, which nobody asked for")
                assembler = asking.inquiry.dialect.assembler()
                watch = Watch(watched, assembler, framing)
                looped = await _heard(incoming, watch, watched, unpacking)
                if looped is None:
                    asking.finished(watched, watch)
                    await self._answer(incoming, assembler)
                    return True
            if asking.house.settings.on_trip != "retry":
                await self._answer_cut(incoming, assembler, watched, looped)
                return True
            await asking.discard(attempt, watched, looped)
        return True

    async def _answer(self, incoming: Incoming, assembler: Assembler) -> None:
        if assembler.error is not None:
            status = status_of(error_of(assembler.error)) or HTTPStatus.BAD_GATEWAY
            await self._send(incoming, assembler.error, status)
            return
        document = None if assembler.is_torn else assembler.document()
        if document is None:
            raise Broken("the upstream ended its answer before the reply was complete")
        await self._send(incoming, document)

    async def _answer_cut(
        self, incoming: Incoming, assembler: Assembler, watched: Watched, guard: Guard
    ) -> None:
        asking = self._asking
        document = assembler.document(asking.usage)
        fails = asking.house.settings.on_trip == "error" or is_half_call(watched, guard) or document is None
        cut = asking.tell(watched, guard, "error" if fails else "stop")
        trip = (TRIP, cut.header.encode())
        if fails or document is None:
            raise Refusal(502, cut.message.removeprefix("loopwatch: "), code=LOOP, headers=[trip])
        asking.client.extra.append(trip)
        await self._send(incoming, document)

    async def _send(self, incoming: Incoming, document: object, status: int | None = None) -> None:
        asking, response = self._asking, incoming.response
        body = msgspec.json.encode(document)
        headers = asking.head(response, without=CHANGED)
        headers += [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await asking.client.start(status or response.status, headers)
        await asking.client.end(body)


async def _beginning(incoming: Incoming) -> bytes:
    """What an error says, as far as it must be known."""
    said = b""
    while len(said) < BODY and (data := await incoming.read()):
        incoming.progressed()
        said += data
    return said


async def _heard(
    incoming: Incoming, watch: Watch, watched: Watched, unpacking: Unpacker | None
) -> Guard | None:
    """Hear a stream to its end, or to a loop: then the verdict."""
    progress = 0
    while data := await incoming.read():
        for piece in (data,) if unpacking is None else unpacking.feed(data):
            if watch.read(piece) is not None:
                incoming.response.drop()
                watched.end()
                return watched.guard
        if watch.fault is not None:
            raise Broken(f"the upstream's stream cannot be read: {watch.fault}")
        if watch.progress != progress:
            progress = watch.progress
            incoming.progressed()
    return None
