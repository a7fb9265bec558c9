"""What a turn came to, and the one taxonomy of what can go wrong in it.

The names are those of the first seed's system: twenty error types, each of one of five kinds. An error is
an *error turn*: the agent goes on, and ceilings count it. What ends an agent outright is ``fatal``.
"""

from typing import Literal, get_args

import msgspec

ErrorKind = Literal["model_api", "transpile", "program_fault", "sandbox_limit", "missing_completion"]
KINDS: tuple[ErrorKind, ...] = get_args(ErrorKind)

ErrorType = Literal[
    "model_auth",
    "model_rejected",
    "model_retry_exhausted",
    "model_response_loop",
    "model_vision_unsupported",
    "model_parse",
    "model_timeout",
    "model_length_capped",
    "transpile_syntax",
    "transpile_compile",
    "transpile_unsupported",
    "program_api_error",
    "program_unknown_name",
    "program_throw",
    "sandbox_timeout",
    "sandbox_out_of_memory",
    "sandbox_trap",
    "missing_completion_no_call",
    "missing_completion_compaction",
    "missing_completion_no_program",
]
ERROR_TYPES: tuple[ErrorType, ...] = get_args(ErrorType)

_PREFIXES: dict[str, ErrorKind] = {
    "model_": "model_api",
    "transpile_": "transpile",
    "program_": "program_fault",
    "sandbox_": "sandbox_limit",
    "missing_completion_": "missing_completion",
}

RE_ASKED: frozenset[ErrorType] = frozenset(
    {"model_timeout", "model_length_capped", "model_parse", "model_response_loop"}
)
"""Failures of a model after which the same request goes out again; any other ends the agent."""

Outcome = Literal["progressed", "finished", "error", "fatal"]


def kind_of(error_type: ErrorType) -> ErrorKind:
    """The kind that an error type is of."""
    return next(kind for prefix, kind in _PREFIXES.items() if error_type.startswith(prefix))


class TurnOutcome(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, tag="turn_outcome"
):
    """What one turn of one agent came to. ``error`` and ``error_type`` are there just where it is an error.

    ``consecutive_errors`` is 0 unless the turn is an error, ``turns`` counts the agent's outcomes, this one
    included. The three loop figures are those of the replies that were discarded before the turn had its
    own; ``response_chars`` and ``response_output_tokens`` (reasoning included) are that reply's. All five
    are left out where they are 0.
    """

    outcome: Outcome
    error: ErrorKind | None = None
    error_type: ErrorType | None = None
    consecutive_errors: int
    turns: int
    loop_aborts: int = 0
    loop_abort_words: int = 0
    loop_abort_chars: int = 0
    response_chars: int = 0
    response_output_tokens: int = 0
