"""Where messages really arrive: an HTTP server and an SMTP server on this machine, which fail on demand."""

import asyncio
import base64
import json
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any, NamedTuple

from aiohttp import web
from pydantic import SecretStr

PATH = "/services/T000/B000/very-secret-path"


class Received(NamedTuple):
    """A request that arrived."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Reply(NamedTuple):
    """What to answer: a status, a text, headers; None as status: never."""

    status: int | None = 200
    text: str = "ok"
    headers: dict[str, str] = {}  # noqa: RUF012  nobody writes to it


@dataclass
class HttpSink:
    """Answers with the script's replies one by one, then with 200."""

    script: list[Reply]
    base: str = ""
    received: list[Received] = field(default_factory=list)
    closing: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> SecretStr:
        return SecretStr(self.base + PATH)

    async def answer(self, request: web.Request) -> web.Response:
        self.received.append(Received(request.path, dict(request.headers), await request.read()))
        reply = self.script.pop(0) if self.script else Reply()
        if reply.status is None:
            await self.closing.wait()
        return web.Response(status=reply.status or 200, text=reply.text, headers=reply.headers)


@asynccontextmanager
async def http_sink(*script: Reply, tls: ssl.SSLContext | None = None) -> AsyncIterator[HttpSink]:
    """Run an HTTP sink for as long as the block lasts."""
    sink = HttpSink(list(script))
    app = web.Application(client_max_size=2**24)
    app.router.add_route("*", "/{path:.*}", sink.answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
        sink.base = f"{'https' if tls else 'http'}://127.0.0.1:{runner.addresses[0][1]}"
        yield sink
    finally:
        sink.closing.set()
        await runner.cleanup()


async def free_port() -> int:
    """A port at which nobody listens."""
    server = await asyncio.start_server(lambda _r, w: w.close(), "127.0.0.1", 0)
    port = int(server.sockets[0].getsockname()[1])
    server.close()
    await server.wait_closed()
    return port


@dataclass
class SmtpSink:
    """Speaks as much SMTP as smtplib does. ``codes`` are answers by the verb they refuse."""

    codes: dict[str, Sequence[str]] = field(default_factory=dict)
    tls: ssl.SSLContext | None = None
    password: str | None = None
    port: int = 0
    letters: list[EmailMessage] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    verbs: list[str] = field(default_factory=list)
    silent: asyncio.Event = field(default_factory=asyncio.Event)

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if "CONNECT" in self.codes:
                await self.say(writer, self.codes["CONNECT"][0])
            else:
                await self.say(writer, "220 sink ESMTP")
            while line := (await reader.readline()).decode("latin-1").rstrip("\r\n"):
                if not await self.obey(line, reader, writer):
                    break
        except (ConnectionError, ssl.SSLError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def say(self, writer: asyncio.StreamWriter, *lines: str) -> None:
        writer.write("".join(f"{line}\r\n" for line in lines).encode())
        await writer.drain()

    async def obey(self, line: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        verb = line.split(" ", maxsplit=1)[0].upper()
        self.verbs.append(verb)
        refusal = self.refusal(verb)
        if refusal == "silence":
            await self.silent.wait()
            return False
        if refusal is not None:
            await self.say(writer, refusal)
        elif verb == "EHLO":
            offers = [*(["STARTTLS"] if self.tls else []), *(["AUTH PLAIN"] if self.password else [])]
            await self.say(writer, "250-sink", *(f"250-{offer}" for offer in offers), "250 HELP")
        elif verb == "STARTTLS":
            await self.say(writer, "220 go ahead")
            await writer.start_tls(self.tls or ssl.create_default_context())
        elif verb == "AUTH":
            given = base64.b64decode(line.split(" ")[2]).split(b"\0")[2].decode()
            await self.say(writer, "235 ok" if given == self.password else "535 no such user")
        elif verb == "DATA":
            await self.say(writer, "354 go on")
            await self.take(await reader.readuntil(b"\r\n.\r\n"), writer)
        else:
            if verb == "RCPT":
                self.recipients.append(line)
            await self.say(writer, "221 bye" if verb == "QUIT" else "250 ok")
        return verb != "QUIT"

    def refusal(self, verb: str) -> str | None:
        answers = list(self.codes.get(verb, ()))
        if not answers:
            return None
        self.codes[verb] = answers[1:]
        return answers[0] or None

    async def take(self, data: bytes, writer: asyncio.StreamWriter) -> None:
        letter = message_from_bytes(data.removesuffix(b".\r\n"), policy=default)
        self.letters.append(letter)
        await self.say(writer, self.refusal("END") or "250 taken")


@asynccontextmanager
async def smtp_sink(
    *, implicit_tls: bool = False, tls: ssl.SSLContext | None = None, **options: Any
) -> AsyncIterator[SmtpSink]:
    """Run an SMTP sink for as long as the block lasts; with ``tls`` it offers STARTTLS, or is it."""
    sink = SmtpSink(tls=None if implicit_tls else tls, **options)
    server = await asyncio.start_server(sink.converse, "127.0.0.1", 0, ssl=tls if implicit_tls else None)
    sink.port = server.sockets[0].getsockname()[1]
    try:
        yield sink
    finally:
        sink.silent.set()
        server.close()
        await server.wait_closed()
