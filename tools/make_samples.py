"""Write src/loopwatch/server/configs/samples.jsonl.gz: a dozen replies to try a configuration on.

Most are cases of the corpus, cut to where everything that they show has been shown; the first is the
first seed's own. tests/server/configs/test_samples.py holds each title to what the detectors say.
"""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "src" / "loopwatch" / "server" / "configs" / "samples.jsonl.gz"

SAMPLES = (
    (
        "L-sentence-01",
        20_000,
        "content",
        "Two sentences of a summary",
        "A loop of more than seven words: the seed's window never saturates, the rule cycle sees it at once.",
    ),
    (
        "L-single_word-01",
        12_000,
        "content",
        "One word, again and again",
        "A single offender is a common word to the seed, which wants two; to the rule cycle it is a loop.",
    ),
    (
        "L-short_phrase-01",
        26_000,
        "reasoning",
        "Two words in the thinking",
        "It loops in the reasoning channel, which only a detector that watches that channel reads.",
    ),
    (
        "L-tool_args-01",
        12_000,
        "tools",
        "A function inside a tool call",
        "The arguments of a call loop, in one escaped line: watched where the channel tools is.",
    ),
    (
        "L-translation_loop-02",
        12_000,
        "content",
        "A translation whose wording wavers",
        "No two copies are alike, so nothing is periodic; the rule phrases sees that it was all said before.",
    ),
    (
        "L-counter-04",
        24_000,
        "content",
        "A numbered list that never ends",
        "The number moves, the step stays. The rule cycle is patient here: lists of forty are honest work.",
    ),
    (
        "L-whitespace-01",
        12_000,
        "content",
        "JSON, then nothing but line breaks",
        "The object is complete and the model goes on: no word ever comes. The rule blank sees it.",
    ),
    (
        "L-cjk-03",
        10_000,
        "content",
        "A paragraph without spaces",
        "Chinese has no spaces to count words by; the rule cycle counts characters.",
    ),
    (
        "G-tilemap-08",
        None,
        "content",
        "A map of 64 by 64 letters",
        "Honest work that the seed's figures abandon: raise the saturated run.",
    ),
    (
        "G-narration-06",
        None,
        "content",
        "Long reasoning that restates itself",
        "It says Wait and begins again, and gets somewhere: nothing here should be cut.",
    ),
    (
        "G-verse-05",
        None,
        "content",
        "A counting song",
        "Two hundred lines that differ by a number, asked for and finished: nothing here should be cut.",
    ),
)
"""Cases by their id, where they are cut, the channel that they came on, the title, and what they show."""


def samples() -> Iterator[dict[str, str]]:
    """All samples, in the order in which they are offered."""
    yield {
        "id": "void-0",
        "channel": "content",
        "title": "void 0; for ever",
        "shows": "The loop that the seed was written for: its figures abandon it 12,261 characters in.",
        "text": "void 0;\n" * 2_500,
    }
    packed = gzip.decompress((ROOT / "corpus" / "replies.jsonl.gz").read_bytes()).decode()
    cases = {case["id"]: case for case in map(json.loads, packed.splitlines())}
    for name, chars, channel, title, shows in SAMPLES:
        text = cases[name]["text"][:chars]
        yield {"id": name, "channel": channel, "title": title, "shows": shows, "text": text}


if __name__ == "__main__":
    lines = "".join(json.dumps(sample, ensure_ascii=False) + "\n" for sample in samples())
    TARGET.write_bytes(gzip.compress(lines.encode(), mtime=0))
    print(f"{lines.count(chr(10))} samples in {TARGET.name}, {len(lines):,} characters")
