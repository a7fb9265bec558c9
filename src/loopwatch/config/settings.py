"""A project's settings, judged: every defect at once, and no secret in any message.

What is shown of settings has masks in place of secrets. What comes back from there may hold them still:
``unmasked`` puts the secret that there is in their place.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from loopwatch.config.defects import Defect, Fault, Path, discreet, found, locus, shown
from loopwatch.config.destinations import KINDS, LEAST_SECRET, MASK, SECRETS, is_mask
from loopwatch.config.faults import fault
from loopwatch.config.fields import keys
from loopwatch.config.project import Cap, ProjectSettings
from loopwatch.config.reach import EVERYWHERE, Reach
from loopwatch.errors import ConfigError

MOST_CHANNELS = 20


def read_settings(document: Mapping[str, Any], reach: Reach = Reach()) -> ProjectSettings:  # noqa: B008  frozen
    """Judge a settings document. ``reach`` says which webhook URLs the operator allows.

    Raises ConfigError with every defect, each naming its key.
    """
    every = list(_between(document.get("channels")))
    settings = None
    try:
        settings = ProjectSettings.model_validate(dict(document), context=reach)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        every = [*(_fault(one, document) for one in details), *every]
    if settings is None or every:
        raise ConfigError([_defect(one, document) for one in every])
    return settings


def unmasked(document: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """The document with each mask replaced by the secret that the channel of that name had ``before``."""
    secrets = {_key(channel): channel for channel in before.get("channels", ())}
    value = dict(document)
    channels = value.get("channels")
    if isinstance(channels, list):
        value["channels"] = [_unmasked(channel, secrets.get(_key(channel), {})) for channel in channels]
    return value


def _unmasked(channel: Any, before: Mapping[str, Any]) -> Any:
    if not isinstance(channel, dict) or not before or before.get("type") != channel.get("type"):
        return channel
    shown = _masked(before)
    masked = {
        key
        for key in SECRETS.intersection(channel)
        if is_mask(channel[key]) and channel[key] == shown.get(key, MASK)
    }
    plain = {key: value for key, value in channel.items() if key not in masked}
    return plain | {key: before[key] for key in masked if key in before}  # else it was the default


def _masked(before: Mapping[str, Any]) -> Mapping[str, Any]:
    """A channel as it was shown."""
    kind = KINDS.get(str(before.get("type")))
    if kind is None:
        return {}
    return kind.model_validate(dict(before), context=EVERYWHERE).model_dump(by_alias=True)


def _fault(details: ErrorDetails, document: Mapping[str, Any]) -> Fault:
    path = details["loc"]
    if path[:1] != ("channels",) or len(path) < 2 or not isinstance(path[1], int):  # noqa: PLR2004
        is_cap = path[:1] == ("caps",) and len(path) > 2  # noqa: PLR2004  a plan's name, then the key
        return fault(details, path, keys(Cap if is_cap else ProjectSettings))
    if details["type"] in ("union_tag_invalid", "union_tag_not_found"):
        is_object = isinstance(document["channels"][path[1]], dict)
        reason = f"must be one of {', '.join(KINDS)}" if is_object else "must be an object { … }"
        return Fault((*path, "type") if is_object else path, reason)
    kind = KINDS.get(str(path[2])) if len(path) > 2 else None  # noqa: PLR2004  pydantic's loc names the kind
    plain = path if kind is None else (*path[:2], *path[3:])
    return fault(details, plain, keys(kind) if kind is not None else ())


def _between(channels: Any) -> Iterator[Fault]:
    """What is wrong between channels: too many of them, or two of one name."""
    if not isinstance(channels, list):
        return
    if len(channels) > MOST_CHANNELS:
        yield Fault(("channels",), f"must have at most {MOST_CHANNELS} entries", shown=False)
    seen: set[str] = set()
    for index, channel in enumerate(channels):
        key = _key(channel)
        if key is not None and key in seen:
            place: Path = ("channels", index, "id")
            yield Fault(place, f"must be unique: another channel is called {discreet(key)}", shown=False)
        elif key is not None:
            seen.add(key)


def _key(channel: Any) -> str | None:
    key = channel.get("id", channel.get("type")) if isinstance(channel, dict) else None
    return key if isinstance(key, str) else None


def _defect(one: Fault, document: Mapping[str, Any]) -> Defect:
    """The fault with its value, unless that may be a secret or hold one: of a channel, any long text may."""
    value = found(document, one.path)
    is_plain = isinstance(value, str | int | float | list | dict) or value is None
    is_long = isinstance(value, str) and len(value) >= LEAST_SECRET and one.path[:1] == ("channels",)
    is_shown = one.shown and is_plain and not is_long and not SECRETS.intersection(one.path)
    return Defect(one.reason, locus=locus(one.path), value=shown(value) if is_shown else None)
