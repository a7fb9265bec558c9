"""A provider that sends one event at a time, at a pace, in a process of its own: run it, read its port.

As little as can be between the bytes and the socket, so that what is measured is whoever reads.
"""

import asyncio
import json
import re
import sys
from pathlib import Path

from loopwatch.offline.corpus import read_corpus

CORPUS = Path(__file__).parents[2] / "corpus"
TOKEN = re.compile(r"\s?[^\W\d_]{1,7}|\s?\d{1,3}|\s+|[^\w\s]|_")


def tokens(count: int) -> list[str]:
    """Token-size deltas of a legitimate reply."""
    text = next(case.text for case in read_corpus(CORPUS) if case.id == "G-prose-01")
    return TOKEN.findall(text)[:count]


def event(delta: dict[str, str], finish_reason: str | None = None) -> bytes:
    body = {
        "id": "gen-1767225600-AbCdEfGhIjKlMnOpQrSt",
        "provider": "OpenAI",
        "model": "openai/gpt-4o-mini",
        "object": "chat.completion.chunk",
        "created": 1_767_225_600,
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason, "logprobs": None}],
        "system_fingerprint": "fp_0123456789",
    }
    return b"data: " + json.dumps(body).encode() + b"\n\n"


async def answer(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, events: int, pace: float
) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")
    )
    await reader.readexactly(length)
    writer.write(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    )
    sent = [event({"role": "assistant", "content": word}) for word in tokens(events - 1)]
    loop = asyncio.get_running_loop()
    due = loop.time()
    for data in [*sent, event({}, "stop") + b"data: [DONE]\n\n"]:
        writer.write(b"%x\r\n%b\r\n" % (len(data), data))
        due += pace
        await asyncio.sleep(due - loop.time())
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    writer.close()


async def main(events: int, pace: float) -> None:
    server = await asyncio.start_server(lambda r, w: answer(r, w, events, pace), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)  # noqa: T201  for whoever started it
    await asyncio.to_thread(sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), float(sys.argv[2])))
