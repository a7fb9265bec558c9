"""What a run says once at its launch: how its root's replies are watched, and what bounds it."""

from loopwatch.config.limits import CEILINGS, Limits
from loopwatch.config.loading import Config
from loopwatch.detect.settings import LoopDetection

UNBOUNDED = "limits: no ceiling is armed — only the host's clock bounds the run"


def launch_lines(config: Config) -> list[str]:
    """The lines of a launch, in their order. A run that armed nothing says nothing of loops."""
    block = config.root.loop_detection
    settings = block.settings() if block is not None else None
    lines = [] if settings is None else [armed(settings)]
    return [*lines, ceilings(config.limits) if config.limits.any_ceiling else UNBOUNDED]


def ceilings(limits: Limits) -> str:
    """The ceilings that are armed, as the document calls them."""
    written = limits.model_dump(by_alias=True, exclude_none=True)
    figures = [f"{key} {written[key]:g}" for key in CEILINGS if key in written]
    return f"limits: armed — {', '.join(figures)}"


def armed(settings: LoopDetection) -> str:
    """The seed's line for a detector with the five knobs; what goes beyond them follows after it."""
    run = settings.min_saturated_run
    when = f"after {run} consecutive words during which" if run else "as soon as"
    ceiling = settings.max_response_chars
    backstop = f", or once it passes {ceiling} characters" if ceiling else "; there is no length backstop"
    further = [rule for rule in settings.rules if rule not in ("words", "length")]
    return (
        f"loop detection: armed — a reply is abandoned {when} {settings.min_offenders} or more words have"
        f" each occurred more than {settings.repeat_threshold} times in the last {settings.window_words}"
        f"{backstop}"
        + (f"; further rules: {', '.join(further)}" if further else "")
        + (f"; channels: {', '.join(settings.channels)}" if settings.channels != ("content",) else "")
        + ("; in shadow: a trip is recorded and no reply is abandoned" if settings.shadow else "")
    )
