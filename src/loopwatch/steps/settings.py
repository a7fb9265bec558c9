"""Every figure that decides how long an agent may go on doing the same, each with its reason.

Measured on the ``traces*.jsonl.gz`` of ``corpus/`` (``loopwatch bench --traces``).
All counts are of steps or rounds, the first one included.
"""

from dataclasses import dataclass, fields, replace
from typing import Literal, Self, get_args

from loopwatch.errors import SettingsError

StepPreset = Literal["balanced", "eager"]
STEP_PRESETS: tuple[StepPreset, ...] = get_args(StepPreset)

LEAST = 2
"""One step is no repetition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSettings:
    """How patient a monitor is. Raises SettingsError on a figure that cannot be meant.

    ``waiting_tools`` are names of tools whose unchanged answer is never a loop, however often it comes:
    those of a monitor that is meant to run for ever. Their failures still are.
    """

    enabled: bool = True
    # The same call with the same outcome, in a row (``repeats``).
    firm: int = 5  # legitimate: an edit tried three times; OpenHands gives up after 3, cline after 5
    transient: int = 8  # 503, reset, time-out: clients retry five to seven times before they give up
    transient_slow: int = 14  # gaps that grow, or of ten seconds and more: a back-off at work
    absent_slow: int = 14  # a file or a server that is waited for: every ten seconds for two minutes
    same: int = 6  # a successful call repeated: 5 occur by accident, all peers but one stop by then
    same_slow: int = 10  # with ten seconds and more between
    same_sparse: int = 40  # with half a minute and more between: somebody waits for a change
    acting: int = 36  # scrolls, clicks, dice: lists of thirty pages are scrolled with one answer each
    writing: int = 10  # the same replacement made once an occurrence
    waiting: int = 60  # a pending answer: 36 equal ones, half a minute apart, are in the corpus
    watching: int = 120  # the same, or rounds of it, half a minute and more apart: an hour of watching
    waiting_quick: int = 40  # the same with less than ten seconds between
    waiting_measured: int = 24  # an answer with a percentage or a position, which would move if anything did
    # Different calls that fail in the same way (``failures``).
    failing: int = 6  # arguments that are alike, or a fault that no argument can mend
    failing_transient: int = 9
    failing_apart: int = 10  # things that have nothing in common: ten dead links in a list are work
    failing_after_work: int = 12  # with edits between: repairs that do not help yet
    surveyed: int = 30  # findings of a check, each of another thing: ports, links, permissions, tests
    barren: int = 14  # different questions, no answer: a search that widens
    same_answer: int = 10  # different questions, one answer of some length
    all_failing: int = 12  # consecutive failures of at most three kinds
    # The same call fails as before, with other steps between (``stuck``).
    stuck: int = 7  # without a successful change between
    stuck_after_work: int = 9  # with changes: a test that was repaired at the eighth attempt is legitimate
    # Rounds (``cycles``, ``sweeps``, ``recycled``).
    copies: int = 3  # a check run twice over is care; three times with nothing changed is a loop
    copies_acting: int = 12  # click and look, through the pages of a wizard
    copies_waiting: int = 45  # sleep and ask: thirty rounds of a slow pipeline are legitimate
    swept: int = 10  # re-reading seven files after a compaction is legitimate
    recycled: int = 14  # steps that brought nothing new
    recycled_acting: int = 60  # games are played with few moves
    # What agents say (``handovers``, ``recursion``, ``critique``, ``texts``, ``complaints``).
    handovers: int = 6  # thanks, agreed, approved: three courtesies end a piece of work
    spawned: int = 5  # the same task through five agents
    reviews: int = 5  # refusals that say much the same
    reviews_apart: int = 9  # refusals in other words each time, without a better score
    said: int = 4  # the same words with nothing done between
    said_alike: int = 6  # nearly the same words
    complained: int = 5  # the harness says the same after each
    # Files (``rewrites``).
    returns: int = 3  # back to an earlier state, with failures between; a bisection comes back once
    returns_well: int = 5  # the same where nothing failed: two variants measured in turn
    # Texts.
    read_texts: bool = True
    waiting_tools: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        for name in COUNTS:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < LEAST:
                raise SettingsError(f"{name} is {value!r}: it must be a whole number of at least {LEAST}")
        object.__setattr__(self, "waiting_tools", frozenset(self.waiting_tools))

    @classmethod
    def preset(cls, name: str) -> Self:
        """The settings called ``balanced`` or ``eager``. Raises SettingsError for any other name.

        ``balanced`` flags no legitimate run of the corpus. ``eager`` gives up sooner on everything: for
        agents whose every step is dear and whose run can be started again.
        """
        settings = cls()
        if name == "balanced":
            return settings
        if name == "eager":
            kept = {"copies", "returns", "returns_well"}
            sooner = {
                name: max(3, round(getattr(settings, name) * 0.7)) for name in COUNTS if name not in kept
            }
            return replace(settings, **sooner)
        raise SettingsError(f"there is no preset {name!r}: choose {', '.join(STEP_PRESETS)}")


COUNTS: tuple[str, ...] = tuple(one.name for one in fields(StepSettings) if one.type is int)
"""The names of the figures."""
