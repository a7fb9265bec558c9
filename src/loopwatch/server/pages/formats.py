"""Figures and times as people read them. None is an en dash: unknown is not 0."""

from datetime import UTC, datetime, timedelta

NONE = "\N{EN DASH}"
_UNITS = ((1_000_000_000_000, "T"), (1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k"))
_SPANS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
_JUST_NOW = 5
_WEEK = timedelta(days=7)


def count(value: float | None) -> str:
    """A whole number with its thousands apart: 61,400."""
    return NONE if value is None else f"{value:,.0f}"


def short(value: float | None) -> str:
    """A number in three digits: 1.2 M, 61.4 k, 830."""
    if value is None:
        return NONE
    for unit, name in _UNITS:
        if abs(value) >= unit * 0.9995:
            scaled = value / unit
            places = 0 if abs(scaled) >= 99.95 else 1  # noqa: PLR2004  three digits
            return f"{scaled:,.{places}f}".removesuffix(".0") + f" {name}"
    return f"{value:,.0f}"


def percent(share: float | None) -> str:
    """A share of 1 as a percentage."""
    return NONE if share is None else f"{share * 100:.0f} %" if share >= 0.1 else f"{share * 100:.1f} %"  # noqa: PLR2004


def span(seconds: float) -> str:
    """A length of time in its largest unit: 5 min, 2 h, 3 d."""
    for unit, name in _SPANS:
        if seconds >= unit:
            return f"{seconds / unit:.0f} {name}"
    return "0 s"


def ago(at: datetime | None, now: datetime) -> str:
    """How long ago a moment was, or a date where that is longer than a week."""
    if at is None:
        return NONE
    passed = now - at
    if passed < timedelta(0):
        return f"in {span(-passed.total_seconds())}"
    if passed.total_seconds() < _JUST_NOW:
        return "just now"
    return f"{span(passed.total_seconds())} ago" if passed < _WEEK else f"{at:%-d %b %Y}"


def exact(at: datetime | None) -> str:
    """A moment to the second, in UTC."""
    return "" if at is None else f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
