"""Words of others in our messages: user ids, features and models come from a customer's own users.

Whatever they hold (markup, line breaks, right-to-left overrides, ten kilobytes) becomes one short line of
visible characters here; escaping for HTML, Slack or Markdown is each rendering's own.
"""

from pydantic.alias_generators import to_camel

MOST_CHARS = 200
"""Characters of somebody else's text that a message shows; the rest is in the console."""

NOTHING = "-"
"""What stands where there is nothing to show."""


def one_line(text: str | None, most: int = MOST_CHARS) -> str:
    """``text`` on one line, what is invisible or steers a display escaped, cut after ``most`` characters.

    Escaped are line breaks and other controls, the marks that turn the direction of writing, zero-width
    characters and halves of surrogate pairs.
    """
    if not text:
        return NOTHING
    visible = "".join(char if char.isprintable() else _escaped(char) for char in text[: most + 1])
    return cut(visible, most)


def _escaped(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"  # noqa: PLR2004  4 digits


def cut(text: str, most: int) -> str:
    """``text``, its end replaced by … where it has more than ``most`` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def camel(values: dict[str, object]) -> dict[str, object]:
    """The same with its keys as the wire spells them: ``window_minutes`` is ``windowMinutes``."""
    return {to_camel(key): value for key, value in values.items()}
