"""The samples show what they say they show."""

import runpy
from pathlib import Path

import pytest

from loopwatch.detect.settings import LoopDetection
from loopwatch.offline.verdict import judge
from loopwatch.server.configs.samples import samples

TOOL = Path(__file__).parents[3] / "tools" / "make_samples.py"
SEEN = {
    "void-0": ("words", "cycle"),
    "L-sentence-01": (None, "cycle"),
    "L-single_word-01": (None, "cycle"),
    "L-short_phrase-01": ("words", "cycle"),
    "L-tool_args-01": (None, "cycle"),
    "L-translation_loop-02": (None, "phrases"),
    "L-counter-04": ("words", "cycle"),
    "L-whitespace-01": (None, "blank"),
    "L-cjk-03": (None, "cycle"),
    "G-tilemap-08": ("words", None),
    "G-narration-06": (None, None),
    "G-verse-05": (None, None),
}
"""Which rule of `seed` and of `balanced` sees each."""


@pytest.mark.parametrize("name", SEEN)
def test_a_sample_shows_what_its_title_says(name: str) -> None:
    text = samples()[name].text
    found = [judge(text, LoopDetection.preset(preset), "", "") for preset in ("seed", "balanced")]
    assert tuple(verdict.rule for verdict in found) == SEEN[name]


def test_there_are_a_dozen_each_with_a_title_and_a_point() -> None:
    assert list(samples()) == list(SEEN)
    assert all(len(one.title) > 10 and len(one.shows) > 40 for one in samples().values())
    assert {one.channel for one in samples().values()} == {"content", "reasoning", "tools"}


def test_the_seeds_own_loop_is_cut_where_the_seed_cuts_it() -> None:
    verdict = judge(samples()["void-0"].text, LoopDetection(), "", "")
    assert verdict.at_char == 12_261


def test_they_are_what_the_tool_writes() -> None:
    made = {one["id"]: one for one in runpy.run_path(str(TOOL))["samples"]()}
    assert list(made) == list(samples())
    assert [made[name]["text"] for name in made] == [one.text for one in samples().values()]
    assert [made[name]["shows"] for name in made] == [one.shows for one in samples().values()]
