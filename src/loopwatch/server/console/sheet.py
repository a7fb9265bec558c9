"""What the editor of a configuration shows: the draft, what is wrong with it, and what was tried on it."""

from dataclasses import dataclass, field, replace
from typing import Any

from loopwatch.config import entries
from loopwatch.config.defects import looks_like_key
from loopwatch.config.draft import ON, Draft, draft_of, fresh
from loopwatch.config.launch import launch_lines
from loopwatch.config.posted import posted
from loopwatch.config.reading import read
from loopwatch.config.written import Remark, Written, written
from loopwatch.detect.settings import Channel
from loopwatch.server.configs.colours import Line, lines
from loopwatch.server.configs.samples import samples
from loopwatch.server.configs.trial import MOST_CHARS, RULES, Trial
from loopwatch.server.console.desk import Desk
from loopwatch.store.configurations import Configuration, ConfigurationChange

NAMELESS = "New configuration"


@dataclass(slots=True)
class Trying:
    """The part of the page where a reply is tried: what was given, and what came of it."""

    agent: int = 0
    channel: Channel = "content"
    text: str = ""
    source: str = ""
    """What was tried, where it was not pasted: the title of a sample, the name of a file."""
    error: str = ""
    result: Trial | None = None


@dataclass(slots=True)
class Sheet:
    """One configuration in the editor. ``stored`` is None until it is saved for the first time.

    ``version`` is the one that is edited. ``strict``: what is refused is said beside its field, as it is
    once somebody has tried to save. ``newer`` is what somebody else saved meanwhile; ``gone``: deleted.
    """

    draft: Draft
    found: Written
    name: str = ""
    stored: Configuration | None = None
    version: int = 0
    strict: bool = False
    name_error: str = ""
    newer: Configuration | None = None
    gone: bool = False
    file_defects: tuple[str, ...] = ()
    trying: Trying = field(default_factory=Trying)
    changes: tuple[ConfigurationChange, ...] = ()
    focus: str = ""
    """The field to go on with: that of what was just added."""

    @property
    def errors(self) -> dict[str, str]:
        """What is said beside each field."""
        told: dict[str, str] = {}
        for refusal in self.found.refusals if self.strict else ():
            before = told.get(refusal.field)
            told[refusal.field] = f"{before}; {refusal.beside}" if before else refusal.beside
        return told | ({"name": self.name_error} if self.name_error else {})

    @property
    def warned(self) -> dict[str, str]:
        """What is warned of beside each field."""
        return {warning.field: warning.beside for warning in self.found.warnings}

    @property
    def lines(self) -> list[Line]:
        """The document, with what is wrong at each line."""
        remarks = {
            remark.defect.line: str(remark)
            for remark in (*self.found.refusals, *self.found.warnings)
            if remark.defect.line is not None
        }
        return lines(self.found.text, remarks)

    @property
    def launch(self) -> list[str]:
        """What a run would say at its launch."""
        return launch_lines(self.found.config) if self.found.config is not None else []

    def context(self, desk: Desk) -> dict[str, Any]:
        """For the template."""
        return {
            "sheet": self,
            "draft": self.draft,
            "errors": self.errors,
            "entries": entries,
            "on": ON,
            "base": address(desk, self.stored.id if self.stored is not None else "new"),
            "title": self.stored.name if self.stored is not None else NAMELESS,
            "configs": address(desk),
            "count": len(self.found.refusals) + bool(self.name_error),
            "samples": samples().values(),
            "rules": RULES,
            "most_chars": MOST_CHARS,
        }


def opened(stored: Configuration | None) -> Sheet:
    """The editor as it opens: on what is stored, or on what a new configuration begins with."""
    if stored is None:
        draft = fresh()
        return Sheet(draft, written(draft))
    draft = draft_of(read(stored.document))
    return Sheet(draft, written(draft), stored.name, stored, stored.version)


def sent(desk: Desk, stored: Configuration | None) -> Sheet:
    """The editor as its form was sent; a form without the editor's fields is one that only tries a reply."""
    version = desk.form.text("version")
    if not version.isascii() or not version.isdigit() or len(version) > len(str(2**62)):
        return opened(stored)
    draft = posted(desk.form.fields)
    return Sheet(
        draft, judged(draft), desk.form.text("name"), stored, int(version), desk.form.ticked("strict")
    )


def judged(draft: Draft) -> Written:
    """Judge a draft; a key in the place of a variable's name is refused, and not shown back."""
    before = written(draft)
    fields = set()
    for index, slot in enumerate(draft.slots):
        if looks_like_key(slot.get("apiKeyEnv", "")):
            slot["apiKeyEnv"] = ""
            fields.add(f"slots.{index}.apiKeyEnv")
    if not fields:
        return before
    after = written(draft)
    kept = [
        Remark(one.field, replace(one.defect, line=None)) for one in before.refusals if one.field in fields
    ]
    return Written(after.text, None, (*kept, *after.refusals), ())


def address(desk: Desk, path: str = "") -> str:
    """A link below the configurations, which the demo has its own of."""
    base = "/demo/configs" if desk.is_demo else "/configs"
    return f"{base}/{path}" if path else base
