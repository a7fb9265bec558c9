"""The one rule that every project has unless it is switched off: the seed's, tokens in the window.

Here because it is read by rooms that do not know each other: ``alerts`` has the further rules, ``store``
judges by this one where it is given no others. Pure.
"""

from loopwatch.config.project import ProjectSettings
from loopwatch.records.alert import Crossing, Rule, Standing
from loopwatch.velocity.window import above


def velocity(standing: Standing, settings: ProjectSettings) -> Crossing | None:
    """More tokens in the window than a person types: strictly more than the threshold."""
    threshold = settings.token_threshold if settings.velocity_alerts else None
    return crossed("velocity", standing.tokens, threshold)


def crossed(rule: Rule, observed: int, threshold: int | None) -> Crossing | None:
    """What a rule found, in its own unit; None where it is off or not strictly above its threshold."""
    if threshold is None or not above(observed, threshold):
        return None
    return Crossing(rule=rule, observed=observed, threshold=threshold)
