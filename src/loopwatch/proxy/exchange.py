"""One request of a client, from its head to the end of its answer, whatever happens in between."""

import asyncio
import hashlib
import hmac
import logging
from collections.abc import AsyncIterator
from http import HTTPStatus

from multidict import CIMultiDict
from starlette.types import Receive, Scope, Send
from yarl import URL

from loopwatch.client.transport import TransportError
from loopwatch.client.watchdog import Expired, Watchdog
from loopwatch.errors import InputError
from loopwatch.pricing.providers import LOCAL, provider_of
from loopwatch.proxy.asking import Asking
from loopwatch.proxy.client import Client
from loopwatch.proxy.dialects.errors import STEPS
from loopwatch.proxy.headers import KEY, Headers, back, onward
from loopwatch.proxy.house import House
from loopwatch.proxy.incoming import Incoming, silent
from loopwatch.proxy.presence import ClientGone, while_connected
from loopwatch.proxy.question import Inquiry, inquiry
from loopwatch.proxy.refusals import Broken, Refusal, refuse
from loopwatch.proxy.routes import Route, route
from loopwatch.proxy.streamed import Streamed
from loopwatch.proxy.whole import Assembled
from loopwatch.sdk.labels import Labels
from loopwatch.sdk.question import Question, provider_at

_log = logging.getLogger(__name__)

BODIES = frozenset((b"content-length", b"transfer-encoding"))
"""Headers of which one says that a body follows."""
BUSY_SECONDS = b"1"


class Exchange:
    """One request and its answer."""

    def __init__(self, house: House, scope: Scope, receive: Receive, send: Send) -> None:
        self._house = house
        self._send = send
        self._receive = receive
        self._headers: Headers = scope["headers"]
        self._first = dict(reversed(self._headers))  # of several, the first
        self._method: str = scope["method"]
        self._raw_path: str = scope["raw_path"].decode("ascii")
        self._query: str = scope["query_string"].decode("latin-1")
        self._asked_of = Route("openai", None, "(no path yet)")
        self._client = Client(receive, send, house.clock, house.settings.client_idle_secs)

    async def run(self) -> None:
        """Answer it. Raises nothing: a stream that breaks is left unfinished, which closes the connection."""
        tallies = self._house.tallies
        tallies.streams += 1
        try:
            await self._answered()
        except ClientGone:
            tallies.gone += 1
        except asyncio.CancelledError:
            _log.warning("%s: the proxy stops: its stream was cut", self._what)
        except Exception:  # noqa: BLE001  whatever it is, the next request is served
            _log.exception("%s: a fault of the proxy", self._what)
            await self._refuse(Refusal(500, "a fault of the proxy: its log has the reason"))
        finally:
            self._client.close()
            tallies.streams -= 1
            tallies.answers[self._asked_of.vendor, self._client.status] += 1

    async def _answered(self) -> None:
        try:
            await self._handled()
        except Refusal as refusal:
            _log.info("%s: %d: %s", self._what, refusal.status, refusal.message)
            await self._refuse(refusal)
        except Broken as broken:
            self._house.tallies.broken += 1
            _log.warning("%s: %s", self._what, broken)
            await self._refuse(Refusal(broken.status, str(broken)))

    @property
    def _what(self) -> str:
        """The request as it may be logged: a path may hold our labels, a query a key."""
        return f"{self._method} {self._asked_of.path}"

    async def _refuse(self, refusal: Refusal) -> None:
        if not self._client.status:
            self._client.status = refusal.status
            await refuse(self._send, self._asked_of.vendor, refusal)

    async def _handled(self) -> None:
        asked = self._asked()
        target = self._house.settings.upstreams.target(asked, self._query)
        if target is None:
            reason = f"no upstream for {asked.vendor}: start with --upstream {asked.vendor}=URL"
            raise Refusal(HTTPStatus.NOT_FOUND, reason, final=True)
        if asked.dialect is None:
            await self._pass(target)
        else:
            await self._ask(asked, target)

    def _asked(self) -> Route:
        """What is asked, by whoever may ask. Raises Refusal."""
        house = self._house
        try:
            asked = route(self._method, self._raw_path, frozenset(self._first))
        except InputError as error:
            raise Refusal(HTTPStatus.BAD_REQUEST, str(error)) from None
        self._asked_of = asked
        if house.tallies.streams > house.settings.max_streams:
            busy: Headers = [(b"retry-after", BUSY_SECONDS)]
            reason = f"{house.settings.max_streams} requests are under way: ask again, or raise --max-streams"
            raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, reason, headers=busy)
        given = self._first.get(KEY.encode(), (asked.key or "").encode("utf-8", "replace"))
        wanted = house.settings.key
        if wanted is not None and not hmac.compare_digest(given, wanted.encode()):
            reason = f"the proxy's key is missing or wrong: send it as {KEY}, or in the base URL as /k/KEY"
            raise Refusal(HTTPStatus.UNAUTHORIZED, reason)
        if self._first.get(b"upgrade", b"").lower() == b"websocket":
            closing: Headers = [(b"connection", b"close")]  # 426: what Codex takes for "then by HTTP"
            raise Refusal(426, "WebSockets are not relayed: use HTTP", headers=closing)
        if house.name.encode() in b",".join(value for name, value in self._headers if name == b"via"):
            reason = "the upstream leads back to this proxy: --upstream must be the provider's address"
            raise Refusal(HTTPStatus.LOOP_DETECTED, reason, final=True)
        return asked

    def _onward(self, target: URL, *, watched: bool, length: bool) -> CIMultiDict[str]:
        headers = onward(self._headers, via=self._house.name, watched=watched, length=length)
        if provider_of(str(target)) == LOCAL:
            headers["connection"] = "close"  # nothing to save, and llama.cpp closes those it means to keep
        return headers

    async def _pass(self, target: URL) -> None:
        """Hand a request on that is not watched, and its answer back, as they come."""
        client, house = self._client, self._house
        has_body = not BODIES.isdisjoint(self._first)
        sent = self._sent() if has_body else None
        headers = self._onward(target, watched=False, length=True)
        watchdog = Watchdog(house.clock, idle=house.settings.idle_secs, ceiling=house.settings.ceiling_secs)
        receive = client.receive_after_body if has_body else self._receive
        async with while_connected(receive):
            try:
                response = await watchdog.wait(house.transport.ask(self._method, target, headers, sent))
                await self._pass_back(Incoming(response, watchdog, None))
            except TransportError as error:
                if client.left is not None:
                    raise client.left from None
                raise Broken(str(error)) from None
            except Expired as expired:
                raise silent(expired, watchdog) from None
            finally:
                watchdog.stop()

    async def _pass_back(self, incoming: Incoming) -> None:
        try:
            await self._client.start(incoming.response.status, back(incoming.response))
            while data := await incoming.read():
                incoming.progressed()
                await self._client.write(data)
            await self._client.end()
        finally:
            incoming.response.drop()

    def _sent(self) -> AsyncIterator[bytes]:
        return self._client.pieces()

    async def _ask(self, asked: Route, target: URL) -> None:
        """Hand a request for a reply on, and have its answer watched."""
        house, settings = self._house, self._house.settings
        body = await self._client.body(self._first.get(b"content-length", b""), settings.max_body)
        encoding = self._first.get(b"content-encoding", b"").decode("latin-1").strip().lower()
        packed = "" if encoding == "identity" else encoding
        read = inquiry(asked, self._query, body, packed, settings.max_body)
        labels = house.callers.labels(self._headers, asked, read.fields)
        async with while_connected(self._receive):
            self._judge_steps(read, labels)
            question = self._question(read, asked, labels)
            asking = Asking(house, self._client, read, question, asked.path)
            if not await self._assembled(asking, asked):
                headers = self._onward(target, watched=True, length=False)
                await Streamed(asking).relay(target, headers, body)

    async def _assembled(self, asking: Asking, asked: Route) -> bool:
        """Answer with a document that came as a stream; False where none is asked for, or to be had."""
        read, upstreams = asking.inquiry, self._house.settings.upstreams
        base = upstreams.base(asked.vendor) or ""
        guarded = read.is_single and self._house.settings.detection.enabled
        if read.asked is None or read.streams or not guarded or base in self._house.unstreamable:
            return False
        anew = read.dialect.streaming(read.asked)
        target = upstreams.target(asked._replace(path=anew.path), anew.query)
        assert target is not None  # noqa: S101  there is one for the request as it came
        headers = self._onward(target, watched=True, length=False)
        headers.popall("content-encoding", None)
        if await Assembled(asking).answer(target, headers, anew.body):
            return True
        self._house.unstreamable.add(base)
        _log.warning("%s does not stream such requests: its whole answers are not guarded", base)
        return False

    def _question(self, read: Inquiry, asked: Route, labels: Labels) -> Question:
        base = self._house.settings.upstreams.base(asked.vendor) or ""
        return Question(
            format=read.dialect.format,
            provider=LOCAL if read.dialect.format == "ollama" else provider_at(base, read.dialect.format),
            base_url=base,
            model=read.model,
            labels=labels,
            body=read.fields,
            streams=True,
        )

    def _judge_steps(self, read: Inquiry, labels: Labels) -> None:
        """See whether the agent goes in circles. Raises Refusal where such a one is to be stopped."""
        house, on_steps = self._house, self._house.settings.on_steps
        if on_steps == "off" or read.asked is None:
            return
        shown = b"".join(self._first.get(name, b"") for name in (b"authorization", b"x-api-key"))
        caller = f"{labels.user_id}/{hashlib.sha256(shown).hexdigest()}"
        circling = house.conversations.read(read.dialect.format, read.fields, caller)
        if circling is None:
            return
        loop = circling.loop
        if circling.is_news:
            house.tallies.steps[loop.rule, on_steps] += 1
            _log.warning("%s: an agent of %s goes in circles: %s", self._what, read.model, loop)
            record = {"event": "steps", "rule": loop.rule, "onset": loop.onset, "steps": loop.steps}
            house.tell({**record, "action": on_steps, "model": read.model, "user": labels.user_id})
        if on_steps == "block":
            reason = f"the agent goes in circles: {loop}; it goes on once its user says something"
            raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, reason, code=STEPS, final=True)
        self._client.extra.append((b"x-loopwatch-steps", loop.rule.encode()))
