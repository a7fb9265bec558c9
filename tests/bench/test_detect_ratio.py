"""What watching a reply costs, against decoding its chunks: ratios within one run, printed.

Deltas are token-size: a word or part of one with the blank before it, one mark, up to three digits.
"""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from loopwatch.detect.detector import LoopDetector
from loopwatch.detect.settings import LoopDetection
from loopwatch.offline.corpus import read_corpus

CORPUS = Path(__file__).parents[2] / "corpus"
TEXTS = {
    "prose": "G-prose-01",
    "reasoning": "G-reasoning-03",
    "code": "G-long-04",
    "JSON": "G-json-04",
    "Chinese": "G-cjk_long-04",
    "tile map": "G-tilemap-04",
}
TOKEN = re.compile(r"\s?[^\W\d_]{1,7}|\s?\d{1,3}|\s+|[^\w\s]|_")
CHARS = 60_000
ROUNDS = 5


class Delta(msgspec.Struct):
    """What a client reads of a delta, and no more: the thing to be measured against."""

    role: str | None = None
    content: str | None = None
    reasoning: str | None = None
    tool_calls: list[msgspec.Raw] | None = None


class Choice(msgspec.Struct):
    delta: Delta
    index: int = 0
    finish_reason: str | None = None


class Chunk(msgspec.Struct):
    choices: list[Choice]
    id: str | None = None
    model: str | None = None
    provider: str | None = None
    usage: msgspec.Raw | None = None


def chunk(delta: str) -> bytes:
    """The event data that OpenRouter sends for one delta."""
    choice = {"index": 0, "delta": {"role": "assistant", "content": delta}, "finish_reason": None}
    body = {
        "id": "gen-1767225600-AbCdEfGhIjKlMnOpQrSt",
        "provider": "OpenAI",
        "model": "openai/gpt-4o-mini",
        "object": "chat.completion.chunk",
        "created": 1_767_225_600,
        "choices": [choice | {"native_finish_reason": None, "logprobs": None}],
        "system_fingerprint": "fp_0123456789",
    }
    return json.dumps(body).encode()


def best_of(work: Callable[[], object]) -> float:
    """CPU seconds of the fastest of a few rounds."""
    rounds = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        rounds.append(time.process_time() - start)
    return min(rounds)


@pytest.mark.parametrize("name", TEXTS)
def test_pure_python_against_decoding_the_same_chunks(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = next(case.text for case in read_corpus(CORPUS) if case.id == TEXTS[name])[:CHARS]
    deltas = TOKEN.findall(text)
    chunks = [chunk(delta) for delta in deltas]
    decode_chunk = msgspec.json.Decoder(Chunk).decode
    decode = best_of(lambda: [decode_chunk(data).choices[0].delta.content for data in chunks])
    figures = []
    for preset in ("balanced", "seed"):
        settings = LoopDetection.preset(preset)

        def watch(settings: LoopDetection = settings) -> None:
            push = LoopDetector(settings).push
            for delta in deltas:
                push(delta)

        figures.append(f"{preset} {best_of(watch) / decode:.2f}x")
    line = f"{name:10} {len(text) / len(deltas):.1f} characters a delta, of a decode: {', '.join(figures)}"
    with capsys.disabled():
        print(f"\n{line}")  # noqa: T201  what `make bench` is for
