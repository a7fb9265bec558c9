"""What a configuration makes of a reply, and what is shown of it."""

import json
from typing import Any

import pytest

from loopwatch.config.document import Profile
from loopwatch.config.loading import load_config
from loopwatch.errors import InputError
from loopwatch.server.configs.samples import samples
from loopwatch.server.configs.trial import MOST_CHARS, Trial, tried
from tests.config.documents import SEED_BLOCK, sound

LOOP = "void 0;\n" * 2_500


def agent(block: dict[str, Any] | None) -> Profile:
    document = sound()
    if block is not None:
        document["agents"][0]["loopDetection"] = block
    return load_config(json.dumps(document)).root


def parts(trial: Trial) -> list[tuple[str, int]]:
    return [(passage.part, passage.chars) for passage in trial.passages]


def test_the_seeds_loop_is_cut_where_the_seed_says_and_marked_from_its_onset() -> None:
    trial = tried(agent(SEED_BLOCK), "Here it is.\n" + LOOP)
    assert trial.is_cut
    assert trial.verdict is not None
    cut = 12_261 + len("Here it is.\n")
    assert (trial.verdict.rule, trial.verdict.at_char) == ("words", cut)
    assert trial.verdict.saved_chars == trial.chars - cut
    assert trial.saved_share == pytest.approx(0.387, abs=0.001)
    assert sum(passage.chars for passage in trial.passages) == trial.chars
    assert [part for part, _ in parts(trial)] == ["before", "loop", "left_out", "loop", "after", "left_out"]


def test_a_detector_that_is_off_cuts_nothing_and_the_presets_say_what_they_would() -> None:
    trial = tried(agent(None), LOOP)
    assert (trial.is_cut, trial.watched, trial.verdict, trial.saved_share) == (False, False, None, 0.0)
    assert [(other.preset, other.verdict.rule) for other in trial.others] == [
        ("seed", "words"),
        ("balanced", "cycle"),
        ("eager", "cycle"),
    ]
    assert [part for part, _ in parts(trial)] == ["before", "left_out", "before"]


def test_a_channel_that_is_not_watched_is_not_cut_and_it_is_told_what_would_be() -> None:
    for block, watched in ((SEED_BLOCK, False), (SEED_BLOCK | {"channels": ["reasoning"]}, True)):
        trial = tried(agent(block), LOOP, "reasoning")
        assert (trial.watched, trial.is_cut, trial.would_trip) == (watched, watched, True)


def test_in_shadow_nothing_is_cut() -> None:
    trial = tried(agent(SEED_BLOCK | {"shadow": True}), LOOP)
    assert (trial.shadow, trial.is_cut, trial.would_trip) == (True, False, True)


def test_a_reply_over_the_ceiling_is_cut_without_an_onset() -> None:
    trial = tried(agent(SEED_BLOCK | {"maxResponseChars": 1_000}), "".join(f"word{n} " for n in range(400)))
    assert trial.verdict is not None
    assert (trial.verdict.rule, trial.verdict.onset_char) == ("length", None)
    assert {part for part, _ in parts(trial)} == {"before", "left_out", "after"}
    assert trial.verdict.at_char is not None
    shown = sum(chars for part, chars in parts(trial)[:3])
    assert shown == trial.verdict.at_char


def test_a_further_rule_sees_what_the_seeds_cannot() -> None:
    text = samples()["L-sentence-01"].text
    assert not tried(agent(SEED_BLOCK), text).is_cut
    assert tried(agent(SEED_BLOCK | {"rules": ["cycle"]}), text).is_cut


@pytest.mark.parametrize("text", ["", "  \n\t"])
def test_no_text_is_asked_for(text: str) -> None:
    with pytest.raises(InputError, match="paste a reply"):
        tried(agent(SEED_BLOCK), text)


def test_too_much_is_refused_with_both_figures() -> None:
    with pytest.raises(InputError, match=r"500,001 characters and at most 500,000 are tried"):
        tried(agent(SEED_BLOCK), "x" * (MOST_CHARS + 1))


def test_a_short_reply_is_shown_whole() -> None:
    trial = tried(agent(SEED_BLOCK), "Done. 漢字 and 🎉")
    assert [(passage.part, passage.text) for passage in trial.passages] == [("before", "Done. 漢字 and 🎉")]


def test_nothing_of_the_text_is_in_a_repr_of_the_verdicts_sample() -> None:
    with pytest.raises(InputError) as error:
        tried(agent(SEED_BLOCK), "secret " * MOST_CHARS)
    assert "secret" not in str(error.value)
