"""Turn outcomes and the taxonomy of errors."""

from collections import Counter

import msgspec
import pytest

from loopwatch.records.breach import exit_code
from loopwatch.records.outcome import ERROR_TYPES, KINDS, RE_ASKED, TurnOutcome, kind_of


def test_t2_a_clean_turn_says_no_more_than_it_must() -> None:
    clean = TurnOutcome(outcome="progressed", consecutive_errors=0, turns=14)
    assert msgspec.json.decode(msgspec.json.encode(clean)) == {
        "type": "turn_outcome",
        "outcome": "progressed",
        "consecutiveErrors": 0,
        "turns": 14,
    }


def test_the_seeds_turn_outcome_is_written_as_the_seed_has_it() -> None:
    turn = TurnOutcome(
        outcome="progressed",
        consecutive_errors=0,
        turns=14,
        loop_aborts=2,
        loop_abort_words=6130,
        loop_abort_chars=38900,
    )
    assert msgspec.json.encode(turn) == (
        b'{"type":"turn_outcome","outcome":"progressed","consecutiveErrors":0,"turns":14,'
        b'"loopAborts":2,"loopAbortWords":6130,"loopAbortChars":38900}'
    )


def test_t3_twenty_leaves_are_of_five_kinds() -> None:
    kinds = Counter(kind_of(error_type) for error_type in ERROR_TYPES)
    assert kinds == {
        "model_api": 8,
        "transpile": 3,
        "program_fault": 3,
        "sandbox_limit": 3,
        "missing_completion": 3,
    }
    assert list(kinds) == list(KINDS)


def test_four_failures_of_a_model_are_asked_again() -> None:
    assert {"model_timeout", "model_length_capped", "model_parse", "model_response_loop"} == RE_ASKED


@pytest.mark.parametrize(
    ("root", "breached", "code"),
    [
        ("completed", False, 0),
        ("completed", True, 3),
        ("canceled", False, 0),
        ("canceled", True, 3),
        ("exhausted", True, 3),
        ("model_error", False, 1),
        ("auth_error", True, 1),
        ("internal_error", True, 1),
    ],
)
def test_t12_a_failure_outranks_a_breach(root: str, breached: bool, code: int) -> None:  # noqa: FBT001
    assert exit_code(root, breached=breached) == code  # type: ignore[arg-type]
