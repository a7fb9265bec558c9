"""The bytes of one answer -> deltas, a verdict, a reply. It waits for nothing and opens nothing."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from loopwatch.client.items import Delta, LoopSeen
from loopwatch.detect.engine import LoopDetector
from loopwatch.errors import InputError, UnreadableReply
from loopwatch.wire.assembly import assembly_for, whole_reply
from loopwatch.wire.lines import BYTE_ORDER_MARK, LINE_CAP, first_mark
from loopwatch.wire.sse import SSEDecoder

if TYPE_CHECKING:
    from loopwatch.detect.settings import Channel, LoopDetection
    from loopwatch.detect.trip import Trip
    from loopwatch.wire.pieces import Piece
    from loopwatch.wire.reply import Reply

HTML = "the answer is a page of HTML, no reply: does the base URL end with the API's version (/v1)?"
ENDLESS = f"the answer has no end after {LINE_CAP:,} bytes, and is no event stream"
PLACE = 64
"""Characters from the onset on in which two loops must agree to be the same one."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A verdict, the channel it is about, and a mark that the same loop in another attempt has too."""

    trip: "Trip"
    channel: "Channel"
    place: int | None


def place_of(trip: "Trip", channel: "Channel", text: str) -> int | None:
    """A loop's beginning and where it is in ``text``, as one number: no text of a reply is kept."""
    if trip.onset is None:
        return None
    return hash((trip.rule, channel, trip.onset, text[trip.onset : trip.onset + PLACE]))


class Listener:
    """Feed it what arrives until there is a ``reply`` or a ``loop``.

    An event stream or, where a server does not stream, one document: the first byte tells. A document
    is complete when it is read, so it is not judged: there is nothing left to save. With no
    ``settings``, nobody watches for loops.
    """

    __slots__ = (
        *("_begun", "_decoder", "_detectors", "_document", "_head", "_shadow"),
        *("assembly", "loop", "progress", "reply", "seen"),
    )

    def __init__(self, settings: "LoopDetection | None") -> None:
        """Start at the beginning of an answer, with detectors of its own."""
        self.assembly = assembly_for("openai")
        self.reply: Reply | None = None
        self.loop: Loop | None = None
        self.seen: list[LoopSeen] = []
        self.progress = 0
        self._decoder = SSEDecoder()
        self._document: bytearray | None = None
        self._begun = False
        self._head = b""  # what came before it is known what this is
        self._detectors: dict[Channel, LoopDetector] = {}
        self._shadow = settings is not None and settings.shadow
        if settings is not None and settings.enabled:
            self._detectors = {channel: LoopDetector(settings) for channel in settings.channels}

    def feed(self, data: bytes) -> "list[Delta | LoopSeen]":
        """Take the next bytes; none say that the answer has ended. Return what they bring.

        What is wrong in them outweighs a loop, and a loop the end of the reply. Raises UnreadableReply,
        and ProviderFault where the provider reports an error.
        """
        if not self._begun and data:
            data = self._begin(data)
            if not data:
                return []
        if self._document is not None:
            return self._read_document(data)
        assembly = self.assembly
        pieces: list[Piece] = []
        try:
            for event in self._decoder.feed(data) if data else self._decoder.finish():
                pieces += assembly.push(event.data)
                if assembly.done:
                    break
        except InputError as error:
            raise UnreadableReply(str(error)) from None
        self.progress = assembly.progress
        heard = self._judge(pieces) if self._detectors else cast("list[Delta | LoopSeen]", pieces)
        if (not data or assembly.done) and self.loop is None:
            self.reply = assembly.finish()
        return heard

    def take_finished(self) -> bool:
        """Take a reply that the provider had finished, though the connection broke before it said so.

        Whether there was one. It was billed: to ask again would be to pay again.
        """
        try:
            reply = self.assembly.finish()
        except UnreadableReply:
            return False
        if self._document is None and reply.finish_reason is not None:
            self.reply = reply
        return self.reply is not None

    def _begin(self, data: bytes) -> bytes:
        """Tell a document from events by the first byte; return what is to be read now."""
        data = self._head + data
        start = first_mark(data)
        if start is None:
            self._head = data
            return b""
        self._begun = True
        if start == b"<":
            raise UnreadableReply(HTML)
        if start in (b"{", b"["):
            self._document = bytearray()
            return data.removeprefix(BYTE_ORDER_MARK)
        return data

    def _judge(self, pieces: "list[Piece]") -> "list[Delta | LoopSeen]":
        heard: list[Delta | LoopSeen] = []
        for piece in pieces:
            detector = self._detectors.get(piece.channel)
            trip = detector.push(piece.text) if detector is not None else None
            if trip is None:
                heard.append(piece)
            elif self._shadow:
                self.seen.append(LoopSeen(trip, piece.channel))
                heard += [piece, self.seen[-1]]
                del self._detectors[piece.channel]
            else:
                place = place_of(trip, piece.channel, self.assembly.text(piece.channel))
                self.loop = Loop(trip, piece.channel, place)
                break
        return heard

    def _read_document(self, data: bytes) -> "list[Delta | LoopSeen]":
        document = self._document
        assert document is not None  # noqa: S101  or nobody would ask
        document += data
        if len(document) > LINE_CAP:
            raise UnreadableReply(ENDLESS)
        if data:
            self.progress += bool(data.strip())  # blanks keep a connection alive, and are no progress
            return []
        self.reply = reply = whole_reply("openai", bytes(document))
        pieces = [Delta(reply.reasoning, "reasoning"), Delta(reply.text)]
        pieces += [Delta(call.arguments, "tools") for call in reply.tool_calls]
        return [piece for piece in pieces if piece.text]
