"""A step as the rules see it: what was done, what came of it, and of what kind both are."""

import re
from collections.abc import Container
from dataclasses import dataclass, field
from hashlib import blake2b

from loopwatch.steps import calls, outcomes
from loopwatch.steps.outcomes import Fault
from loopwatch.steps.ranges import part_of
from loopwatch.steps.step import Step
from loopwatch.steps.volatile import figureless, settled, shaped

NUMBERED = 120
"""Characters among which an entry of a list has its number."""
INFORMATIVE = 40
"""Characters from which a result is more than a receipt (``edited``, ``ok, 3 rows``)."""
SHORT, LONG, ECHOES = 3, 300, 48
"""Characters of an argument's word below or above which it is not looked for, and how many are."""

_KINDS: tuple[tuple[str, frozenset[str]], ...] = (
    ("write", calls.MUTATING),
    ("advance", calls.ADVANCING),
    ("look", calls.LOOKING),
    ("locate", calls.LOCATING),
    ("wait", calls.WAITING),
    ("ask", calls.ASKING),
    ("spawn", calls.SPAWNING),
    ("add", calls.ADDING),
    ("inspect", calls.INSPECTING),
    ("search", calls.SEARCHING),
)
_OF_COMMANDS = ("write", "wait", "search")
"""What the first words of a shell command tell; ``go`` and ``next`` are programs there."""
_NUMBER = re.compile(r"\d{1,9}")


def key(*parts: str) -> bytes:
    """A short name of what the parts say, the same in every process."""
    return blake2b("\x1d".join(parts).encode("utf-8", "surrogatepass"), digest_size=12).digest()


@dataclass(slots=True, kw_only=True)
class Reading:
    """One step, ready to be compared.

    ``call`` names the tool and its arguments, ``likeness`` the same without figures, ``outcome`` the
    result; of a failure ``outcome`` names what is complained of, and ``fault`` the same without figures
    and without what the arguments echo. ``words`` are those of the arguments, ``said`` those of the
    result, ``number`` the first figure of what was only said. ``bare`` is a call without arguments,
    ``numbered`` one about a numbered thing (``box_3.zip``, ``/users/7``), ``turn`` counts the steps of
    agents alone.
    Nothing here holds a text of the step, and ``repr`` none of its words.
    """

    at: int
    t: float
    role: str
    tool: str | None
    call: bytes
    likeness: bytes
    outcome: bytes
    fault: bytes | None = None
    failure: Fault | None = None
    words: frozenset[str] = field(default=frozenset(), repr=False)
    said: frozenset[str] = field(default=frozenset(), repr=False)
    phrases: frozenset[str] = field(default=frozenset(), repr=False)
    barren: bool = False
    undone: bool = False
    informative: bool = False
    pending: bool = False
    measured: bool = False
    ended: bool = False
    idle: bool = False
    acts: frozenset[str] = field(default_factory=frozenset)
    part: tuple[int, int] | None = None
    path: bytes | None = None
    before: bytes | None = None
    after: bytes | None = None
    refused: bool | None = None
    standing: float | None = None
    number: int | None = None
    turn: int = 0
    bare: bool = False
    numbered: bool = False

    @property
    def whole(self) -> bytes:
        """Who did what, and what came of it."""
        return key(self.role) + self.call + self.outcome

    @property
    def waits(self) -> bool:
        """Whether the step is one of waiting."""
        return self.failure is None and (self.pending or self.idle or "wait" in self.acts)


def read(step: Step, at: int, agents: Container[str] = ()) -> Reading:
    """What the rules see of ``step``, the ``at``-th of a run in which ``agents`` have taken part so far."""
    heard = settled(step.error if step.error is not None else step.result)
    if step.tool is None:
        return _spoken(step, at, heard)
    words = calls.words_of_name(step.tool)
    argument = calls.essential(step.args)
    command = calls.string_of(step.args, calls.COMMANDS)
    acts = _acts(step, words | calls.first_words(command), agents)
    failed = step.error is not None or outcomes.failing(heard, plain=bool(words & calls.READING))
    complaint = outcomes.complaint_of(heard) if failed else heard
    empty = not heard.strip()
    reading = Reading(
        at=at,
        t=step.t,
        role=step.role,
        tool=step.tool,
        call=key(step.tool, argument),
        likeness=key(step.tool, figureless(argument)),
        outcome=key(complaint),
        words=calls.letters(argument),
        said=calls.letters(_saying(step, heard)),
        phrases=calls.phrases(_saying(step, heard)) if "hand" in acts else frozenset(),
        barren=outcomes.barren(heard),
        informative=len(heard) >= INFORMATIVE,
        acts=acts,
        part=part_of(step.args),
        bare=not step.args,
        numbered=calls.is_numbered(argument),
    )
    if failed:
        reading.failure = outcomes.fault_of(complaint)
        reading.fault = key(shaped(_without_echo(complaint, argument)))
    else:
        reading.pending = outcomes.pending(heard)
        reading.undone = outcomes.undone(heard)
        reading.ended = outcomes.ended(heard)
        reading.measured = outcomes.measured(heard)
        reading.idle = empty and not any(
            str(value).strip() for name, value in step.args.items() if name != "wrap"
        )
    if "review" in acts:
        _judge(reading, heard)
    if "write" in acts:
        _place(reading, step)
    return reading


def _spoken(step: Step, at: int, heard: str) -> Reading:
    said = settled(step.text) if step.text and not heard else heard
    name = key("", said)
    reading = Reading(
        at=at,
        t=step.t,
        role=step.role,
        tool=None,
        call=name,
        likeness=key("", figureless(said)),
        outcome=name,
        said=calls.letters(said),
        phrases=calls.phrases(said),
        number=_first_number(said),
        acts=frozenset(["review"] if calls.words_of_name(step.role) & calls.REVIEWING else []),
    )
    if "review" in reading.acts:
        _judge(reading, said)
    return reading


def _first_number(said: str) -> int | None:
    found = _NUMBER.search(said[:NUMBERED])
    return int(found.group()) if found else None


def _acts(step: Step, words: frozenset[str], agents: Container[str]) -> frozenset[str]:
    names = calls.words_of_name(step.tool or "") | calls.words_of_name(
        calls.string_of(step.args, ("action",))
    )
    command = calls.string_of(step.args, calls.COMMANDS)
    if " " not in command.strip():  # a debugger's ``continue``, a game's ``north``
        names |= calls.words_of_name(command)
    acts = {kind for kind, verbs in _KINDS if names & verbs or (kind in _OF_COMMANDS and words & verbs)}
    named = calls.RECIPIENTS & step.args.keys()
    known = any(isinstance(step.args[name], str) and step.args[name] in agents for name in named)
    if known or (names & calls.HANDING and (named or names & calls.PASSING)):
        acts.add("hand")
        acts.discard("write")
    if (names | calls.words_of_name(step.role)) & calls.REVIEWING:
        acts.add("review")
    return frozenset(acts)


def _saying(step: Step, heard: str) -> str:
    return f"{calls.string_of(step.args, calls.SAYINGS)} {heard}"


def _without_echo(complaint: str, argument: str) -> str:
    """A complaint without the long words that it repeats from the arguments."""
    echoed = {*argument.replace("\x1e", " ").replace("\x1f", " ").split()}
    for value in argument.split("\x1e"):
        echoed.add(value.partition("\x1f")[2].strip())
    echoed = {word.strip("'\"()[],:;") for word in echoed if SHORT < len(word) < LONG}
    for word in sorted(echoed, key=lambda word: (-len(word), word))[:ECHOES]:
        complaint = complaint.replace(word, "~")
    return complaint


def _judge(reading: Reading, heard: str) -> None:
    reading.standing = outcomes.standing(heard)
    if outcomes.accepting(heard):
        reading.refused = False
    elif outcomes.refusing(heard) or reading.standing is not None:
        reading.refused = True


def _place(reading: Reading, step: Step) -> None:
    path = calls.string_of(step.args, calls.PATHS)
    after = calls.string_of(step.args, calls.CONTENTS)
    if path and after:
        reading.path = key(path)
        reading.after = key(path, after)
        before = calls.string_of(step.args, calls.BEFORE)
        reading.before = key(path, before) if before else None
