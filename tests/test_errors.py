import copy
import pickle

import pytest

from loopwatch import errors
from loopwatch.client.tally import Discarded, Tally
from loopwatch.detect.trip import Trip

TRIP = Trip("cycle", 10, 100, onset=3, period=8, repeats=12.0)
EXAMPLES = {
    "ConfigError": lambda: errors.ConfigError([]),
    "LoopTripped": lambda: errors.LoopTripped(TRIP, "said"),
    "ProviderFault": lambda: errors.ProviderFault("overloaded", 529),
    "RetriesSpent": lambda: errors.RetriesSpent("spent", 503),
    "LoopedReply": lambda: errors.LoopedReply("looped", [TRIP]),
    "LimitExceeded": lambda: errors.LimitExceeded("cost", 1.5, 1.0),
    "CapReached": lambda: errors.CapReached("u1", "free", 2.0, None),
    "UnknownPlan": lambda: errors.UnknownPlan("gold", ["free"]),
    "ProjectKeyRefused": lambda: errors.ProjectKeyRefused(401),
    **dict.fromkeys(("RefusedRequest", "KeyRefused", "ImagesRefused")),
}
KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, errors.LoopwatchError)
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_error_can_be_copied_and_sent_to_another_process(kind: type[errors.LoopwatchError]) -> None:
    make = EXAMPLES.get(kind.__name__)
    if make is not None:
        error: errors.LoopwatchError = make()
    elif issubclass(kind, errors.RefusedRequest):
        error = kind("refused", 400)
    else:
        error = kind("it failed")
    if isinstance(error, errors.ModelError):
        error.attempts, error.tally = 3, Tally([Discarded(TRIP)])
    sent = pickle.loads(pickle.dumps(error))  # noqa: S301  our own
    for again in (copy.copy(error), sent):
        assert type(again) is kind
        assert str(again) == str(error)
        assert vars(again) == vars(error)


def test_a_text_from_outside_is_one_harmless_line() -> None:
    assert errors.one_line(" a\n\tb\x1b[2J\u202ec\ud800 ") == "a b [2J c"
