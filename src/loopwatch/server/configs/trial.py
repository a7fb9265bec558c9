"""A reply tried on a configuration: where it would be cut, by what, and what that would have saved.

The text is read here and shown back; it is kept nowhere, and no message and no log has any of it.
"""

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from loopwatch.config.document import Profile
from loopwatch.detect.settings import PRESETS, Channel, LoopDetection, Preset
from loopwatch.detect.trip import Rule
from loopwatch.errors import InputError
from loopwatch.offline.verdict import Verdict, judge

MOST_CHARS = 500_000
"""Longest reply that is tried: past the seed's ceiling twice over, and half a second's work at most."""
BEFORE, BEGIN, END, AFTER = 400, 1_600, 600, 400
"""Characters shown of the text before a loop, of its beginning and end, and of what follows the cut."""

RULES: Mapping[Rule, str] = {
    "words": "word saturation",
    "cycle": "exact repetition",
    "phrases": "recycled wording",
    "blank": "white space without end",
    "length": "the reply ceiling",
}
"""What each rule sees, for people."""

Part = Literal["before", "loop", "after", "left_out"]


class Passage(NamedTuple):
    """A piece of the text as it is shown; of ``left_out`` only how many characters there are."""

    part: Part
    text: str
    chars: int


class Other(NamedTuple):
    """What one of the presets makes of the same reply."""

    preset: Preset
    verdict: Verdict


class Trial(NamedTuple):
    """What an agent's detector does with a reply.

    ``verdict`` is None where the detector is off. ``watched`` says whether it reads this channel at all;
    where it does not, the verdict is what it would say if it did. ``shadow``: it records and cuts nothing.
    """

    agent: str
    channel: Channel
    watched: bool
    shadow: bool
    chars: int
    verdict: Verdict | None
    passages: tuple[Passage, ...]
    others: tuple[Other, ...]

    @property
    def is_cut(self) -> bool:
        """Whether the reply is abandoned."""
        return self.would_trip and self.watched and not self.shadow

    @property
    def would_trip(self) -> bool:
        """Whether the detector, given the text, calls it a loop."""
        return self.verdict is not None and self.verdict.tripped

    @property
    def saved_share(self) -> float:
        """Which share of the reply follows the cut, from 0 to 1."""
        return self.verdict.saved_chars / self.chars if self.verdict is not None and self.chars else 0.0


def tried(agent: Profile, text: str, channel: Channel = "content") -> Trial:
    """Read a reply as an agent's detector would. Raises InputError where there is none, or too much.

    Up to half a second's work: call it in a thread.
    """
    if not text.strip():
        raise InputError("there is no text yet: paste a reply, choose a file, or take one of the samples")
    if len(text) > MOST_CHARS:
        raise InputError(
            f"the reply has {len(text):,} characters and at most {MOST_CHARS:,} are tried: leave out some of"
            " it, or run `loopwatch scan` on the file"
        )
    settings = agent.loop_detection.settings() if agent.loop_detection is not None else None
    verdict = None if settings is None else _judged(text, settings)
    return Trial(
        agent.name,
        channel,
        settings is not None and channel in settings.channels,
        settings is not None and settings.shadow,
        len(text),
        verdict,
        tuple(_passages(text, verdict)),
        tuple(Other(preset, _judged(text, LoopDetection.preset(preset))) for preset in PRESETS),
    )


def _judged(text: str, settings: LoopDetection) -> Verdict:
    return judge(text, settings, "", "")


def _passages(text: str, verdict: Verdict | None) -> Iterator[Passage]:
    """The text in the parts that are shown: before the loop, from its onset to the cut, after it."""
    if verdict is None or verdict.at_char is None:
        yield from _shortened(text, "before", BEGIN, END)
        return
    cut = verdict.at_char
    onset = cut if verdict.onset_char is None else verdict.onset_char
    yield from _shortened(text[:onset], "before", BEFORE // 2, BEFORE)
    yield from _shortened(text[onset:cut], "loop", BEGIN, END)
    yield from _shortened(text[cut:], "after", AFTER, 0)


def _shortened(text: str, part: Part, begin: int, end: int) -> Iterator[Passage]:
    """A part with its middle left out where it is long; at least a line's worth is left out, or nothing."""
    if len(text) <= begin + end + 100:
        if text:
            yield Passage(part, text, len(text))
        return
    stop = len(text) - end
    yield Passage(part, text[:begin], begin)
    yield Passage("left_out", "", stop - begin)
    if end:
        yield Passage(part, text[stop:], end)
