"""A server that speaks OpenAI's, Anthropic's and Gemini's formats, and a collector, each over a real socket.

They run in a thread of their own, so that sync clients can be tested too.
"""

import asyncio
import gzip
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web

LOOP = "We should check the cache again before we go on. "
TEXT = ("The sky ", "is blue ", "because air ", "scatters light.")
Reply = Callable[["Vendors", web.Request, dict[str, Any]], Any]


class Server:
    """An aiohttp application in a thread; ``url`` is where it listens."""

    def __init__(self) -> None:
        self.url = ""
        self.loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.app = web.Application(client_max_size=2**30)

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self._serve())
        self.loop.close()

    async def _serve(self) -> None:
        runner = web.AppRunner(self.app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()
        await asyncio.sleep(0.02)  # so that the last transports are closed

    @contextmanager
    def running(self) -> Iterator[Any]:
        self._thread.start()
        assert self._ready.wait(10)
        try:
            yield self
        finally:
            self.loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(10)


class Vendors(Server):
    """All three vendors. ``requests`` has the bodies, ``ended`` how each exchange ended.

    ``loops`` makes streams repeat themselves for ever, ``fail`` has statuses that are answered first,
    ``usage`` says whether OpenAI's usage is sent when asked, ``tools`` has tools that are called first,
    ``breaks_after`` so many events of a stream the connection is broken.
    """

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.ended: list[str] = []
        self.loops = False
        self.fail: list[tuple[int, str]] = []
        self.tools: list[dict[str, Any]] = []
        self.refuses_stream_options = False
        self.pause = 0.0
        self.breaks_after: int | None = None
        self.answer_pause = 0.0
        self.says: str | None = None
        self.usage: Any = CHAT_USAGE
        self.app.router.add_post("/v1/chat/completions", self._answer(_chat, _chat_stream))
        self.app.router.add_post("/v1/completions", self._answer(_text, _text_stream))
        self.app.router.add_post("/v1/responses", self._answer(_responses, _responses_stream))
        self.app.router.add_post("/v1/messages", self._answer(_messages, _messages_stream))
        self.app.router.add_post("/v1/messages/count_tokens", self._answer(_counted, _messages_stream))
        self.app.router.add_post("/v1/embeddings", self._answer(_embeddings, _chat_stream))
        self.app.router.add_post("/{version:v1.*}/models/{model}", self._answer(_gemini, _gemini_stream))

    def _answer(self, whole: Reply, stream: Reply) -> Any:
        async def handle(request: web.Request) -> web.StreamResponse:
            body = json.loads(await request.read())
            self.requests.append(body)
            self.headers.append({key.lower(): value for key, value in request.headers.items()})
            self.paths.append(request.path)
            if self.fail:
                status, message = self.fail.pop(0)
                return web.json_response({"error": {"message": message, "type": "x"}}, status=status)
            if self.refuses_stream_options and "stream_options" in body:
                said = "Unrecognized request argument supplied: stream_options"
                return web.json_response({"error": {"message": said}}, status=400)
            if body.get("stream") or ":stream" in request.path:
                return await self._stream(request, stream(self, request, body))
            await asyncio.sleep(self.answer_pause)
            return web.json_response(whole(self, request, body))

        return handle

    async def _stream(self, request: web.Request, events: Iterator[Any]) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        number = len(self.ended)
        self.ended.append("open")
        try:
            for count, event in enumerate(events, 1):
                await response.write(event)
                await asyncio.sleep(self.pause)
                if count == self.breaks_after and request.transport is not None:
                    request.transport.close()
                    return response
            await response.write_eof()
            self.ended[number] = "finished"
        except (ConnectionError, asyncio.CancelledError):
            self.ended[number] = "dropped"
            raise
        return response

    def words(self) -> Iterator[str]:
        while self.loops:
            yield LOOP
        yield from TEXT

    @property
    def text(self) -> str:
        return "".join(TEXT) if self.says is None else self.says

    def call(self) -> dict[str, Any] | None:
        return self.tools.pop(0) if self.tools else None


def _data(value: Any, event: str | None = None) -> bytes:
    head = f"event: {event}\n" if event else ""
    text = value if isinstance(value, str) else json.dumps(value)
    return f"{head}data: {text}\n\n".encode()


CHAT_USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 20,
    "total_tokens": 120,
    "prompt_tokens_details": {"cached_tokens": 40},
    "completion_tokens_details": {"reasoning_tokens": 5},
}


def _chat(server: Vendors, _request: web.Request, body: dict[str, Any]) -> Any:
    call = server.call()
    message: dict[str, Any] = {"role": "assistant", "content": server.text}
    if call is not None:
        function = {"name": call["name"], "arguments": json.dumps(call["args"])}
        tool = {"id": call["id"], "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [tool]}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"] + "-2026",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if call else "stop"}],
        "usage": server.usage,
    }


def _chat_stream(server: Vendors, _request: web.Request, body: dict[str, Any]) -> Iterator[bytes]:
    asked = (body.get("stream_options") or {}).get("include_usage")
    base = {"id": "gen-1", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}
    extra: dict[str, Any] = {"usage": None} if asked else {}
    for word in server.words():
        yield _data(
            base | extra | {"choices": [{"index": 0, "delta": {"content": word}, "finish_reason": None}]}
        )
    yield _data(base | extra | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    if asked:
        yield _data(base | {"choices": [], "usage": server.usage})
    yield _data("[DONE]")


def _text(_server: Vendors, _request: web.Request, body: dict[str, Any]) -> Any:
    choice = {"index": 0, "text": "".join(TEXT), "finish_reason": "stop", "logprobs": None}
    return {
        "id": "cmpl-1",
        "object": "text_completion",
        "created": 1,
        "model": body["model"],
        "choices": [choice],
        "usage": CHAT_USAGE,
    }


def _text_stream(server: Vendors, _request: web.Request, body: dict[str, Any]) -> Iterator[bytes]:
    base = {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": body["model"]}
    for word in server.words():
        choice = {"index": 0, "text": word, "finish_reason": None, "logprobs": None}
        yield _data(base | {"choices": [choice]})
    if (body.get("stream_options") or {}).get("include_usage"):
        yield _data(base | {"choices": [], "usage": CHAT_USAGE})
    yield _data("[DONE]")


RESPONSES_USAGE = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 40, "cache_write_tokens": 0},
    "output_tokens": 20,
    "output_tokens_details": {"reasoning_tokens": 5},
    "total_tokens": 120,
}


def _response(body: dict[str, Any], status: str = "completed", text: str = "".join(TEXT)) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "content": [part]}
    done = status == "completed"
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": body["model"],
        "status": status,
        "output": [item] if done else [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": RESPONSES_USAGE if done else None,
    }


def _responses(server: Vendors, _request: web.Request, body: dict[str, Any]) -> Any:
    return _response(body, text=server.text)


def _responses_stream(server: Vendors, _request: web.Request, body: dict[str, Any]) -> Iterator[bytes]:
    number = 0

    def event(kind: str, **fields: Any) -> bytes:
        nonlocal number
        number += 1
        return _data({"type": kind, "sequence_number": number, **fields}, kind)

    yield event("response.created", response=_response(body, "in_progress"))
    item = {"id": "msg_1", "type": "message", "status": "in_progress", "role": "assistant", "content": []}
    yield event("response.output_item.added", output_index=0, item=item)
    part = {"type": "output_text", "text": "", "annotations": []}
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    yield event("response.content_part.added", **place, part=part)
    for word in server.words():
        yield event("response.output_text.delta", **place, delta=word, logprobs=[])
    yield event("response.completed", response=_response(body))


def _messages(server: Vendors, _request: web.Request, body: dict[str, Any]) -> Any:
    call = server.call()
    content: list[dict[str, Any]] = [{"type": "text", "text": "".join(TEXT)}]
    if call is not None:
        content = [{"type": "tool_use", "id": call["id"], "name": call["name"], "input": call["args"]}]
    usage = {
        "input_tokens": 50,
        "cache_read_input_tokens": 40,
        "cache_creation_input_tokens": 10,
        "output_tokens": 20,
    }
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": "tool_use" if call else "end_turn",
        "stop_sequence": None,
        "usage": usage,
    }


def _counted(_server: Vendors, _request: web.Request, _body: dict[str, Any]) -> Any:
    return {"input_tokens": 7}


def _messages_stream(server: Vendors, _request: web.Request, body: dict[str, Any]) -> Iterator[bytes]:
    start = {"input_tokens": 50, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 10}
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": start | {"output_tokens": 1},
    }
    yield _data({"type": "message_start", "message": message}, "message_start")
    block = {"type": "text", "text": ""}
    yield _data({"type": "content_block_start", "index": 0, "content_block": block}, "content_block_start")
    yield _data({"type": "ping"}, "ping")
    for word in server.words():
        delta = {"type": "text_delta", "text": word}
        yield _data({"type": "content_block_delta", "index": 0, "delta": delta}, "content_block_delta")
    yield _data({"type": "content_block_stop", "index": 0}, "content_block_stop")
    end = {"delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 20}}
    yield _data({"type": "message_delta", **end}, "message_delta")
    yield _data({"type": "message_stop"}, "message_stop")


GEMINI_USAGE = {
    "promptTokenCount": 100,
    "cachedContentTokenCount": 40,
    "candidatesTokenCount": 15,
    "thoughtsTokenCount": 5,
    "totalTokenCount": 120,
}


def _candidate(request: web.Request, part: dict[str, Any], finish: str | None) -> dict[str, Any]:
    model = request.match_info["model"].partition(":")[0]
    candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": [part]}}
    if finish:
        candidate["finishReason"] = finish
    usage = GEMINI_USAGE if finish else {"promptTokenCount": 100, "totalTokenCount": 100}
    return {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": model,
        "responseId": "gem-1",
    }


def _gemini(server: Vendors, request: web.Request, _body: dict[str, Any]) -> Any:
    call = server.call()
    part: dict[str, Any] = {"text": "".join(TEXT)}
    if call is not None:
        part = {"functionCall": {"name": call["name"], "args": call["args"]}}
    return _candidate(request, part, "STOP")


def _gemini_stream(server: Vendors, request: web.Request, _body: dict[str, Any]) -> Iterator[bytes]:
    for word in server.words():
        yield _data(_candidate(request, {"text": word}, None))
    yield _data(_candidate(request, {"text": ""}, "STOP"))


def _embeddings(_server: Vendors, _request: web.Request, body: dict[str, Any]) -> Any:
    one = {"object": "embedding", "index": 0, "embedding": [0.5]}
    usage = {"prompt_tokens": 3, "total_tokens": 3}
    return {"object": "list", "model": body["model"], "data": [one], "usage": usage}


class Collector(Server):
    """What a loopwatch server is to a tracker: it keeps the rows, and answers checks as it is told.

    ``statuses`` are answered to POSTs before any is accepted; ``verdict`` is the answer to a check, or a
    status.
    """

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[dict[str, Any]] = []
        self.posts: list[dict[str, str]] = []
        self.sizes: list[int] = []
        self.statuses: list[tuple[int, dict[str, str]]] = []
        self.seen: list[list[str]] = []
        self.rejected: list[dict[str, Any]] = []
        self.checks: list[dict[str, str]] = []
        self.verdict: dict[str, Any] | int = {"allowed": True}
        self.check_pause = 0.0
        self.app.router.add_post("/api/v1/calls", self._calls)
        self.app.router.add_get("/api/v1/check", self._check)

    async def _calls(self, request: web.Request) -> web.Response:
        body = await request.read()  # aiohttp has unpacked it
        self.posts.append({key.lower(): value for key, value in request.headers.items()})
        text = body if not body.startswith(b"\x1f\x8b") else gzip.decompress(body)
        rows = [json.loads(line) for line in text.splitlines() if line.strip()]
        self.seen.append([row["eventId"] for row in rows])
        self.sizes.append(len(rows))
        if self.statuses:
            status, headers = self.statuses.pop(0)
            return web.Response(status=status, headers=headers)
        self.rows += rows
        return web.json_response({"accepted": len(rows), "rejected": self.rejected}, status=202)

    async def _check(self, request: web.Request) -> web.Response:
        self.checks.append({**request.query, "key": request.headers.get("x-api-key", "")})
        await asyncio.sleep(self.check_pause)
        if isinstance(self.verdict, int):
            return web.Response(status=self.verdict)
        return web.json_response(self.verdict)
