"""Write docs/reference/query-language.md from the language itself: its operators, stages and functions."""

import re
from collections.abc import Callable
from inspect import cleandoc
from pathlib import Path

from loopwatch.query import syntax
from loopwatch.query.aggregates import AGGREGATES
from loopwatch.query.cursor import DEEPEST
from loopwatch.query.duckdb import MEMORY, SECONDS
from loopwatch.query.literals import SIZES, UNITS
from loopwatch.query.parse import LONGEST
from loopwatch.query.plan import MOST_ROWS, TIMES
from loopwatch.query.stages import STAGES
from loopwatch.query.stats import INTERVAL, MOST_KEYS

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "query-language.md"
CONDITIONS = (
    syntax.Exists,
    syntax.Compares,
    syntax.OneOf,
    syntax.Within,
    syntax.Says,
    syntax.Not,
    syntax.All,
    syntax.Any,
)


def page() -> str:
    """The page."""
    return TEXT.format(
        conditions=table(("form", "meaning"), [form(each) for each in CONDITIONS]),
        stages=table(("stage", "meaning"), [form(each) for each in STAGES.values()]),
        functions=table(
            ("function", "figure", "example"),
            [(f"`{name}`", said(each), f"`{each.example}`") for name, each in AGGREGATES.items()],
        ),
        keys=MOST_KEYS,
        intervals=", ".join(sorted(set(re.findall(r"[a-z]", INTERVAL.pattern)), key="mhdw".index)),
        units=", ".join(f"`{unit}`" for unit in UNITS),
        sizes=", ".join(f"`{size}`" for size in SIZES),
        runs=TIMES["runs"],
        calls=TIMES["calls"],
        rows=MOST_ROWS,
        longest=LONGEST,
        deepest=DEEPEST,
        seconds=SECONDS,
        memory=MEMORY,
    )


def said(thing: object) -> str:
    """The first paragraph of a docstring in one line of Markdown."""
    paragraph = cleandoc(thing.__doc__ or "").split("\n\n")[0]
    return " ".join(paragraph.split()).replace("``", "`").replace("|", "\\|")


def form(thing: type | Callable[..., object]) -> tuple[str, str]:
    """A docstring that begins with the form it is about: the form, and what is said of it."""
    shown, _, meaning = said(thing).partition("`: ")
    shown += "`"
    return shown, meaning[:1].upper() + meaning[1:]


def table(titles: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A table of Markdown."""
    lines = [titles, tuple("---" for _ in titles), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


TEXT = """\
# The query language

One line asks thousands of recorded runs, or a project's logged calls: a filter, then stages after `|`.

```
has.summary:true | stats sum(summary.errors.loopAbortChars) as thrown by model
```

reads: of the runs that have a summary, sum the characters of replies that were thrown away, by model.
Every figure tells how many documents contributed to it, so a sum over three of a thousand runs cannot
be mistaken.

## What is asked

`from runs` (the default) asks recorded runs, `from calls` the calls that the server has logged; either
may open a query, and `--from` says which is meant where none does. Runs are ordered by `{runs[0]}`,
calls by `{calls[0]}`, newest first, then by `id`. `loopwatch query --fields` lists the fields that
there are.

A document is flat: names with dots, each a string, a number or a boolean; dates are milliseconds since
1970 in UTC. A list counts only: `summary.slotCosts.count`. What is not known is absent, never zero;
only `has.*`, `cap.*`, `armed` and `alert` say no by being false.

| of a run | is |
| --- | --- |
| `id`, `folder`, `started`, `finished` | its place in the folder of the runs, and when it was |
| `state`, `status`, `limit`, `exitCode` | how it ended; the ceiling that ended it, or `none` |
| `model`, `armed`, `preset`, `mode` | the root agent's model; whether its loop detection was armed |
| `cost`, `model.<id>.cost`, `model.<id>.tokens` | dollars and tokens, in all and for each model |
| `summary.…` | the whole summary, under its own names |
| `limits.…` | the ceilings as they were resolved |
| `root.…`, `agent.<id>.…` | the profiles: `root.loopDetection.enabled:true` separates two arms |
| `cap.<id>`, `cap.<id>.<param>`, `tool.<name>` | what the root may do, and with which tools |

| of a call | is |
| --- | --- |
| `id`, `at`, `user`, `feature`, `plan` | whose it is |
| `provider`, `model`, `responseModel`, `usageSource`, `latencyMs` | what was asked; who says what it used |
| `tokens`, `inputTokens`, `outputTokens`, `reasoningOutputTokens`, … | what was used |
| `cost` | dollars, where the price is known (`has.cost`) |
| `margin` | the user's for that month: the plan's price, once, less all that the month cost |
| `loopAborts`, `loopAbortWords`, `loopAbortChars`, `loopRule` | loops that were cut in it |
| `alert` | whether it lies in a window that raised an alert |

## Filter

{conditions}

`or` binds loosest, then `and` or mere juxtaposition, then `not`; parentheses group. A field that is
absent passes no comparison, not even `!=`; only `not` lets it through. `f:>5` is `f > 5`.

A stored number or boolean is compared as a number with whatever reads as one: `armed:1`, `cost:"1.40"`.
Anything else is compared as it is written: equality whatever the case, with `*` for anything
(`model:acme/*`), order by code point. A stored string is never a number.

## Values

Quoted, a value is a string. Else it is, in this order: `true` or `false`; a number; a moment relative
to now, such as `now-7d` (units {units}); a day in UTC, such as `2026-01-31`, which as an upper bound
means its last millisecond; a string. A full time is quoted, since `:` ends a word. After `>`, `>=`,
`<`, `<=` and in ranges a number may have a size: {sizes}.

A word holds letters, digits and marks of any script and `_ . / * + -`. Anything else is quoted, in
names as well: `"cost in $":*`, `cap."x y":true`.

## Stages

{stages}

Stages may be written in any order but for `where`, which speaks of documents before `stats` and of its
rows after it: sorting comes before the choice of columns, and the limit last.

## Functions of stats

{functions}

A function may have a condition of its own: `count() if (state:completed) as done`. Booleans count as 1
and 0; strings are no numbers, and only `distinct` counts them. Of nothing there is no figure, not zero.

Up to {keys} keys group: fields, or `bucket(field, 1d)` for steps of time ({intervals}; weeks begin on
Monday, everything in UTC). Groups are ordered by their size, then by key; by time where the first key
is a bucket. Documents without a key's field make a group of their own, which comes last.

## Bounds

{rows:,} rows an answer, {longest:,} characters a query, {deepest} parentheses within each other,
{seconds:g} seconds and {memory} of memory. What was cut off is said. A query reads its documents and
nothing else, and writes nothing.
"""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
