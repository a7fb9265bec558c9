"""``StepMonitor``: reads an agent's run step by step and says when it goes in circles.

Each step is read once into what can be compared (``reading``); the rules keep short names of that and never
a text. Rules about one agent follow each agent for itself, so that sub-agents that work side by side hide
nothing from them; rules about what agents do to each other, and to their files, follow the whole run.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol

from loopwatch.steps.critique import Critique
from loopwatch.steps.cycles import Cycles
from loopwatch.steps.failures import Failures, Stuck
from loopwatch.steps.finding import Finding, Rule
from loopwatch.steps.handovers import Handovers, Recursion
from loopwatch.steps.loop import StepLoop
from loopwatch.steps.memory import remember
from loopwatch.steps.reading import Reading, key, read
from loopwatch.steps.repeats import Repeats
from loopwatch.steps.rewrites import Rewrites
from loopwatch.steps.sayings import Complaints, Sayings
from loopwatch.steps.settings import StepSettings
from loopwatch.steps.step import Step
from loopwatch.steps.sweeps import Pages, Sweeps
from loopwatch.steps.wishes import times_asked

AGENTS = 64
"""Agents followed at a time; the one that has been silent for longest is forgotten."""
CALLS = 2_048
"""Distinct changes that are remembered, to tell a new one."""
TYPED = 2.0
"""Seconds: nobody reads an answer and types the same message again within them."""
LEAST_CHARS = 256
"""Characters below which no preset of the text rules calls anything a loop."""
READ_CHARS = 65_536
"""Characters of what one step says that are read for a loop of its own."""


class TextDetector(Protocol):
    """What reads a text for loops: ``loopwatch.detect``'s LoopDetector, or anything that answers alike."""

    def push(self, text: str, /) -> object | None:
        """Take a piece of the text; return something once it is a loop."""


class _Agent:
    """The rules that follow one agent."""

    __slots__ = ("cycles", "failures", "pages", "repeats", "sayings", "stuck")

    def __init__(self, settings: StepSettings, asked: int) -> None:
        self.repeats = Repeats(settings, asked)
        self.failures = Failures(settings)
        self.stuck = Stuck(settings)
        self.cycles = Cycles(settings)
        self.sayings = Sayings(settings)
        self.pages = Pages(settings)

    def read(self, reading: Reading, changes: int) -> Finding | None:
        return (
            self.repeats.read(reading)
            or self.failures.read(reading, changes)
            or self.stuck.read(reading, changes)
            or self.cycles.read(reading)
            or self.sayings.read(reading)
            or self.pages.read(reading, changes)
        )


class _Stretch:
    """The rules between two messages of the user."""

    __slots__ = ("_asked", "_changed", "_changes", "_rules", "_settings", "_sweeps", "_turns", "agents")

    def __init__(self, settings: StepSettings, wish: str = "") -> None:
        self._settings = settings
        self._asked = times_asked(wish)
        self.agents: OrderedDict[str, _Agent] = OrderedDict()
        self._changed: OrderedDict[bytes, None] = OrderedDict()
        self._changes = self._turns = 0
        self._sweeps = Sweeps(settings)
        self._rules: tuple[Rule, ...] = (
            Cycles(settings),
            Handovers(settings),
            Recursion(settings),
            Critique(settings),
            Rewrites(settings),
            Complaints(settings),
        )

    def read(self, reading: Reading) -> Finding | None:
        if "write" in reading.acts and reading.failure is None:
            self._note_change(reading.call)
        found = None
        if reading.role != "system":
            self._turns += 1
            reading.turn = self._turns
            found = self._agent(reading.role).read(reading, self._changes)
        for rule in self._rules:  # each must see the step, whoever judges first
            judged = rule.read(reading)
            found = found or judged
        swept = self._sweeps.read(reading, self._changes)
        return found or swept

    def _note_change(self, call: bytes) -> None:
        if call not in self._changed:
            self._changes += 1
        remember(self._changed, call, None, CALLS)

    def _agent(self, name: str) -> _Agent:
        agent = self.agents.get(name) or _Agent(self._settings, self._asked)
        return remember(self.agents, name, agent, AGENTS)


class StepMonitor:
    """One monitor for one agent run: ``observe`` each step, look at the answer.

    Without settings it runs the preset ``balanced``. What an agent says is read for loops of its own by
    a detector that ``text_detector`` makes, one for each text; without it only repetition from step to
    step is seen. A message of the user starts every rule anew: whatever is done next was asked for.
    Memory is bounded whatever the run holds, the work of a step grows with its own text alone. After a
    verdict the monitor is inert and repeats it.
    """

    __slots__ = ("_asked", "_last_t", "_settings", "_stretch", "_text_detector", "loop", "steps_seen")

    def __init__(
        self,
        settings: StepSettings | None = None,
        text_detector: Callable[[], TextDetector] | None = None,
    ) -> None:
        """Start at the beginning of a run."""
        self._settings = StepSettings.preset("balanced") if settings is None else settings
        self._text_detector = text_detector if self._settings.read_texts else None
        self._stretch = _Stretch(self._settings)
        self._asked = b""
        self._last_t = 0.0
        self.loop: StepLoop | None = None
        self.steps_seen = 0

    def observe(self, step: Step) -> StepLoop | None:
        """Read the next step; answer with the verdict once the run is a loop, else None."""
        if self.loop is not None or not self._settings.enabled:
            return self.loop
        at = self.steps_seen
        self.steps_seen += 1
        if step.role == "user" and self._is_new_wish(step):
            self._stretch = _Stretch(self._settings, step.result or step.text or "")
            return None
        reading = read(step, at, self._stretch.agents)
        if step.role == "user":
            reading.role = "system"  # a program that says the same again is part of the harness
        self._last_t = step.t
        found = self._stretch.read(reading) or self._read_texts(step, at)
        if found is not None:
            self.loop = StepLoop(found.rule, found.onset, self.steps_seen, found.period, found.repeats)
        return self.loop

    def _is_new_wish(self, step: Step) -> bool:
        """Whether a person may have said that: not the same again faster than one can type."""
        asked, gap = key(step.result or step.text or ""), step.t - self._last_t
        again = asked == self._asked and step.t > 0 and gap < TYPED
        self._asked = asked
        self._last_t = step.t
        return not again

    def _read_texts(self, step: Step, at: int) -> Finding | None:
        if self._text_detector is None or step.role in {"user", "system"}:
            return None
        for text in (step.text, None if step.tool else step.result):
            if (
                text
                and len(text) >= LEAST_CHARS
                and self._text_detector().push(text[:READ_CHARS]) is not None
            ):
                return Finding("text", at, None, 0)
        return None
