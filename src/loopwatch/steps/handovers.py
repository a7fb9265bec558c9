"""Rules ``handover`` and ``recursion``: work that is passed on and never done.

What ``handover`` sees: messages, mentions, transfers between agents, one after the other, with nothing done
between and nothing new in them: courtesies, or words that were all said before. What ``recursion`` sees:
the same task handed to a new agent by each new agent.

What they must not confuse it with: agents that converge (their messages say something new), that work
between their messages (any other call ends the streak), a lead that gives each of its agents a task of its
own, or the same task to several at once.
"""

from collections import deque

from loopwatch.steps.calls import verbs
from loopwatch.steps.finding import Finding
from loopwatch.steps.reading import Reading
from loopwatch.steps.settings import StepSettings

HEARD = 16
"""Messages whose words are remembered."""
NEW = 1
"""Messages among the judged ones that may say something new."""
COURTEOUS = verbs(
    "understood noted thank thanks you standing by confirmed acknowledged holding parked ok okay ack "
    "received got it welcome agreed sure ready waiting will wait over to your turn for the from me i "
    "am is are and a of now sounds good great perfect absolutely no problem happy help let know if "
    "need anything else here please proceed go ahead after awaiting transferred transferring routed "
    "routing passing passed back handing handed forwarding forwarded message delivered sent done "
    "roger copy that appreciate"
)
"""Words of which a message may consist without saying anything."""


class Handovers:
    """Follows the messages between agents."""

    __slots__ = ("_count", "_heard", "_new", "_onset", "_roles", "_settings")

    def __init__(self, settings: StepSettings) -> None:
        """Start with no message."""
        self._settings = settings
        self._heard: deque[frozenset[str]] = deque(maxlen=HEARD)
        self._new: deque[bool] = deque(maxlen=settings.handovers)
        self._roles: deque[str] = deque(maxlen=settings.handovers)
        self._onset: deque[int] = deque(maxlen=settings.handovers)
        self._count = 0

    def read(self, reading: Reading) -> Finding | None:
        """Take the next step; return the loop, if it is one by now."""
        if reading.role == "system":
            return None
        if not ("hand" in reading.acts or reading.tool is None):
            self._clear()
            return None
        known = frozenset[str]().union(*self._heard)
        courteous = bool(reading.said) and reading.said <= COURTEOUS
        told = reading.phrases <= known and (reading.number is None or reading.phrases in self._heard)
        self._new.append(not (courteous or told))
        self._heard.append(reading.phrases)
        self._roles.append(reading.role)
        self._onset.append(reading.at)
        self._count += 1
        full = len(self._new) == self._settings.handovers
        if not full or sum(self._new) > NEW or len(set(self._roles)) == 1:
            return None
        return Finding("handover", self._onset[0], None, len(self._new))

    def _clear(self) -> None:
        self._new.clear()
        self._roles.clear()
        self._onset.clear()


class Recursion:
    """Follows one task through the agents that hand it on."""

    __slots__ = ("_onset", "_roles", "_settings", "_task")

    def __init__(self, settings: StepSettings) -> None:
        """Start with no task."""
        self._settings = settings
        self._task = b""
        self._roles: set[str] = set()
        self._onset = 0

    def read(self, reading: Reading) -> Finding | None:
        """Take the next step; return the loop, if it is one by now."""
        if "spawn" not in reading.acts:
            return None
        if reading.call != self._task:
            self._task, self._roles, self._onset = reading.call, set(), reading.at
        self._roles.add(reading.role)
        if len(self._roles) < self._settings.spawned:
            return None
        return Finding("recursion", self._onset, 1, len(self._roles))
