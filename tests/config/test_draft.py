"""What an editor keeps: empty is not 0, and nothing of a document is lost on the way through it."""

import copy
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopwatch.config.draft import ON, AgentDraft, Draft, armed, draft_of, fresh
from loopwatch.config.entries import AGENT, KNOBS, LIMITS, LOOP_DETECTION, SLOT
from loopwatch.config.fields import keys
from loopwatch.config.limits import Limits
from loopwatch.config.loading import load_config
from loopwatch.config.loop_detection import LoopDetectionBlock
from loopwatch.config.reading import MOST_BYTES, read
from loopwatch.config.written import NO_ROOT, Written, written
from loopwatch.errors import ConfigError
from tests.config.documents import EVERYTHING, SEED_BLOCK, sound

FIGURES = ["256", "32", "2", "3000", "250000"]


def opened(document: Any) -> Draft:
    return draft_of(read(json.dumps(document)))


def with_loop(block: Mapping[str, Any]) -> Draft:
    document = sound()
    document["agents"][0]["loopDetection"] = block
    return opened(document)


def knobs(agent: AgentDraft) -> list[str]:
    return [agent.loop.get(knob, "") for knob in KNOBS]


def said(draft: Draft) -> dict[str, Any]:
    """The document of a draft, which must be sound."""
    found = written(draft)
    assert found.config is not None, [str(refusal) for refusal in found.refusals]
    assert load_config(found.text).declared == found.config.declared
    return found.config.declared


def refused(draft: Draft) -> dict[str, str]:
    """The refusals by the field that each is about."""
    found = written(draft)
    assert found.config is None
    return {refusal.field: str(refusal) for refusal in found.refusals}


# The seed's vectors of the editor.


def test_e1_arming_a_fresh_profile_fills_in_the_seeds_figures_and_saves_all_five() -> None:
    draft = fresh()
    assert knobs(draft.agents[0]) == [""] * 5
    draft.agents[0].loop = armed(draft.agents[0].loop)
    assert knobs(draft.agents[0]) == FIGURES
    assert said(draft)["agents"][0]["loopDetection"] == SEED_BLOCK


def test_e2_a_stored_armed_detector_that_lacks_knobs_opens_with_them_filled_in() -> None:
    draft = with_loop({"enabled": True, "windowWords": 512, "minSaturatedRun": 0})
    assert knobs(draft.agents[0]) == ["512", "32", "2", "0", "250000"]
    assert said(draft)["agents"][0]["loopDetection"] == SEED_BLOCK | {
        "windowWords": 512,
        "minSaturatedRun": 0,
    }


def test_e3_a_disarmed_one_opens_with_what_it_says_and_empty_fields_beside_it() -> None:
    draft = with_loop({"enabled": False, "minOffenders": 3})
    assert knobs(draft.agents[0]) == ["", "", "3", "", ""]


@pytest.mark.parametrize("text", ["-4", "12.5", "abc", "1 000", "007", "٢٥٦", "Infinity", "NaN", "true", "0"])
def test_e4_a_window_that_is_no_whole_number_is_refused_by_its_label_and_agent(text: str) -> None:
    draft = with_loop(SEED_BLOCK)
    draft.agents[0].loop["windowWords"] = text
    found = refused(draft)
    assert list(found) == ["agents.0.loopDetection.windowWords"]
    (line,) = found.values()
    assert line.startswith("agent `Implementer`: Window (words) = ")
    assert line.endswith(": must be a whole number of at least 1")


def test_e5_off_with_a_tuned_knob_keeps_it_and_untouched_off_writes_no_key() -> None:
    draft = fresh()
    assert "loopDetection" not in said(draft)["agents"][0]
    draft.agents[0].loop["repeatThreshold"] = "64"
    assert said(draft)["agents"][0]["loopDetection"] == {"enabled": False, "repeatThreshold": 64}


# Around them.


def test_switching_off_and_on_keeps_what_was_tuned() -> None:
    loop = armed({"windowWords": "512"})
    loop["enabled"] = ""
    loop["minOffenders"] = "0"
    assert armed(loop) == armed({}) | {"windowWords": "512", "minOffenders": "0"}


def test_an_armed_detector_with_an_empty_knob_is_refused_and_disarming_makes_it_savable() -> None:
    draft = with_loop(SEED_BLOCK)
    draft.agents[0].loop["minOffenders"] = " "
    found = refused(draft)
    assert list(found) == ["agents.0.loopDetection.minOffenders"]
    assert found["agents.0.loopDetection.minOffenders"].startswith(
        "agent `Implementer`: Offenders to saturate: is missing"
    )
    draft.agents[0].loop["enabled"] = ""
    assert "minOffenders" not in said(draft)["agents"][0]["loopDetection"]


@pytest.mark.parametrize("enabled", [True, False])
def test_more_offenders_than_words_are_warned_about_only_while_armed(*, enabled: bool) -> None:
    found = written(with_loop(SEED_BLOCK | {"enabled": enabled, "windowWords": 64, "minOffenders": 300}))
    assert found.config is not None
    warned = [(warning.field, str(warning)) for warning in found.warnings]
    assert [field for field, _ in warned] == ["agents.0.loopDetection.minOffenders"] * enabled
    assert all("`Implementer`" in line and "300" in line and "64" in line for _, line in warned)


def test_zeroes_that_mean_something_are_kept_apart_from_empty() -> None:
    draft = with_loop(SEED_BLOCK | {"minSaturatedRun": 0, "maxResponseChars": 0})
    assert knobs(draft.agents[0])[3:] == ["0", "0"]
    assert said(draft)["agents"][0]["loopDetection"]["maxResponseChars"] == 0


def test_a_round_trip_changes_nothing_of_any_document() -> None:
    assert said(opened(EVERYTHING)) == EVERYTHING
    assert said(opened(sound())) == sound()


def test_keys_that_are_not_known_are_refused_beside_the_rest_and_survive() -> None:
    document = copy.deepcopy(EVERYTHING)
    document["agents"][0]["temperament"] = {"calm": [1, None]}
    document["agents"][0]["loopDetection"]["windowWord"] = 3
    document["slots"]["primary"]["region"] = "eu"
    document["limits"]["maxTurn"] = 4
    document["owner"] = "ana"
    found = written(opened(document))
    assert json.loads(found.text) == document
    assert {refusal.field for refusal in found.refusals} == {
        "agents.0.more",
        "agents.0.loopDetection.more",
        "slots.0.more",
        "limits.more",
        "more",
    }


def test_what_no_field_can_show_stays_as_it_was_and_is_refused_where_it_stands() -> None:
    document = sound()
    document["agents"][0] |= {"name": ["a"], "loopDetection": {"enabled": "yes", "rules": ["two words"]}}
    found = written(opened(document))
    assert json.loads(found.text)["agents"] == document["agents"]
    assert {refusal.field for refusal in found.refusals} == {"agents.0.more", "agents.0.loopDetection.more"}


@pytest.mark.parametrize(
    "document",
    [[], {"agents": {}}, {"agents": [1]}, {"slots": []}, {"limits": 3}, {"agents": [{"loopDetection": 1}]}],
)
def test_what_has_not_a_documents_shape_is_refused_whole(document: Any) -> None:
    with pytest.raises(ConfigError, match=r"must be (a list|an object)"):
        opened(document)


def test_the_root_is_written_first_and_somebody_must_be_it() -> None:
    draft = opened(EVERYTHING)
    draft.root = 1
    assert [agent["id"] for agent in said(draft)["agents"]] == ["worker", "lead"]
    draft.agents[1].texts["name"] = ""
    assert list(refused(draft)) == ["agents.1.name"], "a refusal goes to its field, wherever it is written"
    draft.root = None
    assert refused(draft)["agents"] == f"Agents: {NO_ROOT}"


def test_without_agents_there_is_no_document() -> None:
    draft = fresh()
    draft.remove_agent(0)
    assert draft.root is None
    assert refused(draft) == {"agents": "Agents = []: must have at least one entry"}


def test_agents_come_and_go_without_taking_the_root_along() -> None:
    draft = fresh()
    draft.add_agent()
    draft.add_agent()
    assert [agent.texts["id"] for agent in draft.agents] == ["implementer", "agent-1", "agent-2"]
    assert draft.agents[1].texts["modelSlot"] == "primary"
    draft.root = 2
    draft.remove_agent(0)
    roots = [draft.root]
    draft.remove_agent(1)
    roots.append(draft.root)
    assert roots == [1, None]
    draft.remove_agent(7)
    assert [agent.texts["id"] for agent in draft.agents] == ["agent-1"]


def test_a_model_must_be_bound() -> None:
    draft = fresh()
    draft.agents[0].texts["modelSlot"] = ""
    assert list(refused(draft)) == ["agents.0.modelSlot"]
    draft.agents[0].texts["modelId"] = "gpt-5.4-nano"
    assert said(draft)["agents"][0]["modelId"] == "gpt-5.4-nano"


def test_slots_need_names_and_each_its_own() -> None:
    draft = fresh()
    draft.add_slot()
    draft.slots.append({"name": "primary", "model": "other"})
    assert {"slots.1.name", "slots.2.name"} <= refused(draft).keys()
    draft.remove_slot(1)
    draft.slots[1]["name"] = "true"
    draft.agents[0].texts["modelSlot"] = "true"
    assert said(draft)["agents"][0]["modelSlot"] == "true"
    draft.remove_slot(9)
    draft.remove_slot(1)
    assert refused(draft)["agents.0.modelSlot"].startswith("agent `Implementer`: Model slot")


def test_a_field_for_json_says_where_it_is_none() -> None:
    draft = fresh()
    draft.agents[0].loop["retryWith"] = '{"temperature": 0.7,} // hotter'
    assert said(draft)["agents"][0]["loopDetection"]["retryWith"] == {"temperature": 0.7}
    draft.agents[0].loop["retryWith"] = "{temperature"
    draft.agents[0].texts["more"] = "[1]"
    draft.limits["more"] = '{"maxTurns": 3}'
    draft.limits["maxTurns"] = "4"
    assert refused(draft) == {
        "agents.0.more": "agent `Implementer`: Further keys: must be an object { … }",
        "agents.0.loopDetection.retryWith": "agent `Implementer`: Retry with: this is not JSON: line 1,"
        " column 2: expected a key in double quotes, or }, found `t`",
        "limits.more": "Further keys: comes twice in its object: keep one",
    }


def test_a_number_is_kept_as_it_was_written() -> None:
    draft = fresh()
    draft.limits |= {"maxTurns": " 1e2 ", "maxCost": "2.50"}
    limits = said(draft)["limits"]
    assert (limits["maxTurns"], limits["maxCost"]) == (100, 2.5)
    draft.limits["maxTurns"] = "9" * 5_000
    assert list(refused(draft)) == ["limits.maxTurns"]


def test_a_draft_that_became_too_large_is_refused_as_a_whole() -> None:
    draft = fresh()
    draft.agents[0].texts["customInstructions"] = "x" * MOST_BYTES
    assert refused(draft) == {"": f"the document is larger than {MOST_BYTES} bytes"}


def test_a_key_in_place_of_a_variables_name_is_in_no_message() -> None:
    draft = fresh()
    draft.slots[0]["apiKeyEnv"] = "sk-proj-4f9d8a7b6c5e4d3c2b1a"
    found = refused(draft)
    assert list(found) == ["slots.0.apiKeyEnv"]
    assert "4f9d8a7b" not in str(found)


def test_every_key_of_the_figures_has_a_field() -> None:
    assert set(keys(Limits)) == set(LIMITS) - {"more"}
    assert set(keys(LoopDetectionBlock)) == set(LOOP_DETECTION) - {"more"}


def test_every_field_says_what_it_is_for() -> None:
    assert all(entry.label and entry.help for block in (AGENT, SLOT, LIMITS) for entry in block.values())
    assert (LIMITS["modelCallTimeoutSecs"].figure, LIMITS["maxTurns"].figure) == ("900", "")


@given(st.dictionaries(st.sampled_from(list(LOOP_DETECTION)), st.text(max_size=20)))
def test_whatever_is_typed_is_judged(texts: dict[str, str]) -> None:
    draft = fresh()
    draft.agents[0].loop |= texts
    found: Written = written(draft)
    assert (found.config is None) == bool(found.refusals)
    assert all(refusal.field for refusal in found.refusals)


def test_a_switch_is_on_by_one_word_alone() -> None:
    draft = fresh()
    draft.agents[0].loop |= {"shadow": ON, "stopOnSameLoop": "yes"}
    assert said(draft)["agents"][0]["loopDetection"] == {
        "enabled": False,
        "stopOnSameLoop": False,
        "shadow": True,
    }
