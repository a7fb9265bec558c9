"""Plans: what each brings, what a user of it may cost, and which model stands in once they cost more."""

from collections.abc import Mapping
from typing import Any

from loopwatch.config.defects import Defect
from loopwatch.config.project import ProjectSettings
from loopwatch.errors import ConfigError
from loopwatch.server.console.desk import Desk
from loopwatch.server.console.figures import figure, typed
from loopwatch.server.pages.forms import Form

SPARE = 2
"""Empty rows below those that are there."""
ARROW = "->"


def rows(settings: ProjectSettings) -> list[dict[str, str]]:
    """One for each plan that has a price or a cap, and some to fill in."""
    names = list(dict.fromkeys((*settings.plans, *settings.caps)))
    found = []
    for name in names:
        cap = settings.caps.get(name)
        found.append(
            {
                "name": name,
                "price": typed(settings.plans.get(name)),
                "cap": "" if cap is None else typed(cap.monthly_usd),
                "action": "block" if cap is None else cap.action,
            }
        )
    return found + [{"name": "", "price": "", "cap": "", "action": "block"} for _ in range(SPARE)]


def lines(downgrades: Mapping[str, str]) -> str:
    """Which model stands in for which, one a line."""
    return "\n".join(f"{model} {ARROW} {cheaper}" for model, cheaper in downgrades.items())


def read(form: Form, desk: Desk) -> dict[str, Any]:
    """Plans, caps and downgrades as they were typed. Raises ConfigError for what is no row or no line."""
    del desk
    defects: list[Defect] = []
    plans: dict[str, Any] = {}
    caps: dict[str, Any] = {}
    columns = (form.every(f"plan_{name}") for name in ("name", "price", "cap", "action"))
    for name, price, cap, action in zip(*columns, strict=False):
        if not name:
            if price or cap:
                defects.append(Defect("a price or a cap needs the name of its plan", locus="plans"))
            continue
        if name in plans or name in caps:
            defects.append(Defect(f"plan {name} comes twice: keep one row", locus="plans"))
        if price:
            plans[name] = figure(price)
        if cap:
            caps[name] = {"monthlyUsd": figure(cap), "action": action}
    downgrades = _downgrades(form.text("downgrades"), defects)
    if defects:
        raise ConfigError(defects)
    return {"plans": plans, "caps": caps, "downgrades": downgrades}


def _downgrades(text: str, defects: list[Defect]) -> dict[str, str]:
    found = {}
    for line in filter(str.strip, text.splitlines()):
        model, arrow, cheaper = (part.strip() for part in line.partition(ARROW))
        if not (model and arrow and cheaper):
            defects.append(Defect(f"each line must be: model {ARROW} cheaper model", locus="downgrades"))
        else:
            found[model] = cheaper
    return found
