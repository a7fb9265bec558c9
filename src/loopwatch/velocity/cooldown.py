"""When a user may be alerted about again.

One clock per project and user, whatever the rule. It starts with the alert and nothing prolongs it: a
crossing within is counted and told with the next alert. It is computed from the last alert alone, so a
setting that changes holds at once, and a restart changes nothing.
"""


def may_alert(last_alert: int | None, now: int, cooldown: int) -> bool:
    """Whether an alert may go out: the last one is a whole ``cooldown`` away. All in microseconds.

    A last alert that lies in the future (the clock was set back) counts as far away as it is, so that
    neither a step of the clock nor a wrong one silences a user for longer than the cooldown.
    """
    return last_alert is None or abs(now - last_alert) >= cooldown
