"""Every error that loopwatch raises on purpose.

::

    LoopwatchError
    ├─ SettingsError      a setting that no detector can run on (also a ValueError)
    ├─ InputError         a file, record or argument that cannot be read (also a ValueError)
    ├─ ConfigError        a configuration that is refused (also a ValueError): .defects, all of them
    ├─ StoreError         the database cannot be used as it is
    │  └─ StoreUnavailable   not now: .retry_after seconds; nothing was stored
    ├─ LoopTripped        a guarded stream became a loop: .trip, .text
    ├─ ChannelError       an alert was not delivered: .permanent, .retry_after
    ├─ LimitExceeded      a run may not go on: .kind, .value, .limit
    ├─ AgentLoop          an agent's steps go in circles: .loop
    ├─ TrackerError       a tracked call was not made
    │  ├─ CapReached         the user's plan has spent its cap: .user, .plan, .spend, .cap
    │  ├─ UnknownPlan        a plan that the tracker was not given (also a ValueError): .plan
    │  ├─ MissingUser        nobody is named where somebody must be (also a ValueError)
    │  ├─ NotAClient         wrap was given no client that it knows (also a TypeError)
    │  ├─ MissingPackage     a package that is needed is not installed (also an ImportError)
    │  └─ ProjectKeyRefused  the loopwatch server refuses the tracker's key: .status
    └─ ModelError         a model was asked and gave no reply: .attempts, .tally of what was discarded
       ├─ UnreadableReply    an answer that cannot be read: a broken stream, HTML
       │  └─ ProviderFault      an error that the provider reports in the middle of its answer: .code
       ├─ CallTimeout        one attempt took longer than a call may
       ├─ UnreachableModel   no answer, and none to be had: a certificate, TLS, no HTTP at all
       ├─ RefusedRequest     a status that no retry changes: .status
       │  ├─ KeyRefused         401 or 403
       │  └─ ImagesRefused      the model takes no images, and the request had some
       ├─ RetriesSpent       every attempt failed, none of them by looping: .status of the last, if any
       └─ LoopedReply        attempts looped and the retries are spent, or the same loop came again

Messages are one line and say what to change. None carries text of a prompt or a reply;
``LoopTripped.text`` is an attribute, never part of the message.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from loopwatch.client.tally import Tally
    from loopwatch.config.defects import Defect
    from loopwatch.detect.trip import Trip


def one_line(text: str) -> str:
    """A text from outside in one line, without what would steer a terminal or break a log."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


class LoopwatchError(Exception):
    """The root of the tree: ``except LoopwatchError`` catches whatever this package raises on purpose."""

    def __reduce__(self) -> "tuple[Callable[..., LoopwatchError], tuple[Any, ...]]":
        """Copied and pickled with all that it carries, whatever its constructor takes."""
        return _restored, (type(self), self.args, self.__dict__)


def _restored(
    kind: "type[LoopwatchError]", args: "tuple[Any, ...]", state: "dict[str, Any]"
) -> LoopwatchError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class SettingsError(LoopwatchError, ValueError):
    """A setting that no detector can run on; the message names the setting and what it may be."""


class InputError(LoopwatchError, ValueError):
    """A file, a record or an argument that cannot be read as what it should be."""


class ConfigError(LoopwatchError, ValueError):
    """A configuration that is refused; ``defects`` has every one of the document, in its order."""

    def __init__(self, defects: "Sequence[Defect]") -> None:
        """Keep the defects; the message names all of them, in one line."""
        lines = [str(defect) for defect in defects]
        count = f"the configuration has {len(lines)} defects: " if len(lines) > 1 else ""
        super().__init__(count + "; ".join(lines))
        self.defects = tuple(defects)


class StoreError(LoopwatchError):
    """The database cannot be used as it is; the message says what to change. Never has its password."""


class StoreUnavailable(StoreError):
    """The database cannot be used just now: it is full, locked, stopped or out of reach.

    Nothing of what was asked has been stored, as far as anyone can know. Ask again after
    ``retry_after`` seconds; a call that carries its event id is never counted twice.
    """

    def __init__(self, message: str, retry_after: int = 1) -> None:
        """Take the message and the seconds."""
        super().__init__(message)
        self.retry_after = retry_after


class LoopTripped(LoopwatchError):
    """A guarded stream became a loop and was closed.

    ``trip`` is the verdict, ``text`` all that was received, the loop's beginning included;
    ``sound_text`` ends where the loop began.
    """

    def __init__(self, trip: "Trip", text: str) -> None:
        """Keep the verdict and the text; the message has the verdict's sentence alone."""
        super().__init__(f"model looped: {trip}")
        self.trip = trip
        self.text = text

    @property
    def sound_text(self) -> str:
        """The text before the onset; all of it where the rule knows no onset."""
        return self.text if self.trip.onset is None else self.text[: self.trip.onset]


class ChannelError(LoopwatchError):
    """A channel did not take a message. The message holds no secret: neither a URL's path nor a key.

    ``permanent``: the same request would be refused again, so somebody has to change something first.
    ``retry_after``: seconds that the other side asked us to wait, where it did.
    """

    def __init__(self, message: str, *, permanent: bool = False, retry_after: float | None = None) -> None:
        """Take the reason, and whether and when another attempt makes sense."""
        super().__init__(message)
        self.permanent = permanent
        self.retry_after = retry_after


class LimitExceeded(LoopwatchError):
    """A ceiling of a run is reached: what would have passed it was not done.

    ``kind`` is ``iterations`` (model calls), ``cost`` (US dollars) or ``seconds``; ``value`` is where the
    run stands, ``limit`` what it may.
    """

    def __init__(self, kind: str, value: float, limit: float) -> None:
        """Keep all three; the message has them."""
        super().__init__(f"the run is at {value:g} of {limit:g} {kind}: raise the limit, or end the run")
        self.kind = kind
        self.value = value
        self.limit = limit


class AgentLoop(LoopwatchError):
    """An agent's steps go in circles; ``loop`` is the monitor's verdict, whose ``str`` says how."""

    def __init__(self, loop: object) -> None:
        """Keep the verdict; the message has its sentence."""
        super().__init__(f"the agent is going in circles: {loop}")
        self.loop = loop


class TrackerError(LoopwatchError):
    """A call through the tracker was not made; the message names the fix."""


class CapReached(TrackerError):
    """The user may spend no more this month, or is blocked. Amounts in US dollars; None: not told."""

    def __init__(self, user: str, plan: str, spend: float | None, cap: float | None) -> None:
        """Keep all four; the message has them."""
        amounts = "" if spend is None or cap is None else f" ({spend:.2f} of {cap:.2f} USD spent)"
        super().__init__(
            f"user {user!r} on plan {plan!r} may make no further call{amounts}: raise the plan's cap, "
            "or unblock the user, in the settings"
        )
        self.user = user
        self.plan = plan
        self.spend = spend
        self.cap = cap


class UnknownPlan(TrackerError, ValueError):
    """A call named a plan that is not among the tracker's."""

    def __init__(self, plan: str, known: "Sequence[str]") -> None:
        """Keep the plan; the message has those that there are."""
        super().__init__(f"there is no plan {plan!r}: add it to Tracker(plans=...), which has {[*known]}")
        self.plan = plan


class MissingUser(TrackerError, ValueError):
    """A call names no user where one is needed."""


class NotAClient(TrackerError, TypeError):
    """What was to be wrapped is no client of a known SDK."""


class MissingPackage(TrackerError, ImportError):
    """A package that is needed is not installed; the message has the command that installs it."""


class ProjectKeyRefused(TrackerError):
    """The loopwatch server refuses the tracker's key; ``status`` is 401 or 403."""

    def __init__(self, status: int) -> None:
        """Keep the status."""
        super().__init__(
            f"the loopwatch server refuses the key (HTTP {status}): give Tracker(api_key=...) one that "
            "`loopwatch keys create` made and that is not revoked"
        )
        self.status = status


class ModelError(LoopwatchError):
    """A model was asked and gave no reply.

    ``attempts`` says how often it was asked, ``tally`` what was generated, paid for and thrown away on
    the way; ModelClient sets both. ``error_type`` is the name under which a turn that ends so is
    recorded.
    """

    error_type = "model_rejected"
    attempts: int
    tally: "Tally"


class UnreadableReply(ModelError):
    """The answer cannot be read as a reply."""

    error_type = "model_parse"


class ProviderFault(UnreadableReply):
    """The provider reports an error in its answer, under HTTP 200.

    ``code`` is the HTTP status that it would have sent earlier, where the error tells it.
    """

    def __init__(self, message: str, code: int | None = None) -> None:
        """Take the message and the code."""
        super().__init__(message)
        self.code = code


class CallTimeout(ModelError):
    """One attempt took longer than a call may. Not retried: whoever asked decides."""

    error_type = "model_timeout"


class UnreachableModel(ModelError):
    """Nothing answers in a way that asking again could change."""


class RefusedRequest(ModelError):
    """The provider refused, and would again: ``status`` is the HTTP status."""

    def __init__(self, message: str, status: int) -> None:
        """Take the message and the status."""
        super().__init__(message)
        self.status = status


class KeyRefused(RefusedRequest):
    """The API key is missing or wrong, or may not do this."""

    error_type = "model_auth"


class ImagesRefused(RefusedRequest):
    """The model takes no images: the same request without them may be answered."""

    error_type = "model_vision_unsupported"


class RetriesSpent(ModelError):
    """Every attempt failed as the next might not have, or the next would have to wait for too long.

    ``status`` is that of the last, if it had one.
    """

    error_type = "model_retry_exhausted"

    def __init__(self, message: str, status: int | None = None) -> None:
        """Take the message and the last status."""
        super().__init__(message)
        self.status = status


class LoopedReply(ModelError):
    """The model looped and is not asked again; ``trips`` has the verdict of each attempt that looped."""

    error_type = "model_response_loop"

    def __init__(self, message: str, trips: "Sequence[Trip]") -> None:
        """Take the message and the verdicts."""
        super().__init__(message)
        self.trips = tuple(trips)
