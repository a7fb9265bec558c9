"""A dozen replies to try a configuration on: loops of several shapes, and what only looks like one.

Made by ``tools/make_samples.py``, most of them from the corpus.
"""

import gzip
from functools import cache
from importlib.resources import files

import msgspec

from loopwatch.detect.settings import Channel


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """One reply, the channel that it came on, and what it shows."""

    id: str
    title: str
    shows: str
    channel: Channel
    text: str


@cache
def samples() -> dict[str, Sample]:
    """All of them by their ids, in the order in which they are offered."""
    packed = (files("loopwatch.server.configs") / "samples.jsonl.gz").read_bytes()
    lines = gzip.decompress(packed).splitlines()
    every = [msgspec.json.decode(line, type=Sample) for line in lines]
    return {sample.id: sample for sample in every}
