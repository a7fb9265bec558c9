"""The bench as one self-contained page: no script, nothing fetched."""

from collections.abc import Iterable
from html import escape
from math import log10

from loopwatch.offline.bench import WITHIN, Score

COLOURS = {"seed": "#b45309", "balanced": "#0f766e", "eager": "#6d28d9"}

DECADES = (100, 1_000, 10_000, 100_000)

STYLE = """
:root { color-scheme: light dark; --soft: color-mix(in srgb, currentColor 18%, transparent); }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.5rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .3rem .6rem; border-bottom: 1px solid var(--soft); }
th:first-child, td:first-child { text-align: left; }
svg { width: 100%; height: auto; } svg text { fill: currentColor; font: 13px system-ui, sans-serif; }
.axis { stroke: currentColor; stroke-opacity: .4; } .track { fill: var(--soft); }
p.note { opacity: .75; }
"""

NOTE = """<p class="note">Delays and savings in characters. A loop is caught where the trip lies between its
onset and its end; a false trip is a legitimate reply cut. Replies that the text alone cannot decide are left
out.</p>"""


def page(corpus: str, scores: list[Score]) -> str:
    """The HTML of the report on ``corpus``: every preset side by side, its families as bars."""
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>loopwatch bench: {escape(corpus)}</title><style>{STYLE}</style></head><body>",
            f"<h1>Loops caught, and at what price: {escape(corpus)}</h1>",
            NOTE,
            _table(scores),
            "<h2>Delay against false trips</h2>",
            _scatter(scores),
            *(_bars(score) for score in scores),
            "</body></html>",
            "",
        ]
    )


def _table(scores: list[Score]) -> str:
    head = [
        "preset",
        "caught",
        *(f"within {chars:,}" for chars in WITHIN),
        "saved",
        "false trips",
        "median",
        "p90",
    ]
    rows = [
        [
            score.preset,
            f"{len(score.caught)} of {len(score.loops)}",
            *(str(score.within(chars)) for chars in WITHIN),
            f"{score.saved_share:.1%}",
            f"{len(score.false)} of {len(score.legit)}",
            _chars(score.median_delay),
            _chars(score.p90_delay),
        ]
        for score in scores
    ]
    return f"<table><tr>{_cells(head, 'th')}</tr>{''.join(f'<tr>{_cells(row)}</tr>' for row in rows)}</table>"


def _cells(values: Iterable[str], tag: str = "td") -> str:
    return "".join(f"<{tag}>{escape(value)}</{tag}>" for value in values)


def _scatter(scores: list[Score]) -> str:
    """Median delay to the right, in decades; false trips upwards: the lower left corner is where to be."""
    width, height, left, bottom = 760, 310, 60, 250
    decade = (width - left - 100) / len(DECADES)
    most_false = max((len(score.false) for score in scores), default=0) or 1
    marks = [
        f'<text x="{left + index * decade:.0f}" y="{bottom + 20}" text-anchor="middle">{chars:,}</text>'
        for index, chars in enumerate(DECADES)
    ]
    for index, score in enumerate(scores):
        if score.median_delay is None:
            continue
        x = left + log10(max(score.median_delay, DECADES[0]) / DECADES[0]) * decade
        y = bottom - len(score.false) / most_false * (bottom - 40)
        marks.append(
            f'<circle cx="{x:.0f}" cy="{y:.0f}" r="7" fill="{COLOURS.get(score.preset, "gray")}"/>'
            f'<text x="{x + 10:.0f}" y="{y - 8 - 16 * (index % 2):.0f}">{escape(score.preset)}</text>'
        )
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="Median delay against false trips">'
        f'<path class="axis" fill="none" d="M{left} 20 V{bottom} H{width - 20}"/>'
        f'<text x="{width - 20}" y="{bottom + 42}" text-anchor="end">median delay in characters</text>'
        f'<text x="{left - 10}" y="16">false trips (up to {most_false})</text>{"".join(marks)}</svg>'
    )


def _bars(score: Score) -> str:
    """Each family of loops: the share caught."""
    families = [(name, family) for name, family in score.families.items() if family.loops]
    step, left, span = 22, 190, 420
    colour = COLOURS.get(score.preset, "gray")
    rows = []
    for index, (name, family) in enumerate(families):
        y = index * step
        share = len(family.caught) / len(family.loops)
        delay = f", median {_chars(family.median_delay)}" if family.caught else ""
        figures = f"{len(family.caught)} of {len(family.loops)}{delay}"
        rows.append(
            f'<text x="{left - 8}" y="{y + 14}" text-anchor="end">{escape(name)}</text>'
            f'<rect class="track" x="{left}" y="{y + 3}" width="{span}" height="14"/>'
            f'<rect x="{left}" y="{y + 3}" width="{span * share:.0f}" height="14" fill="{colour}"/>'
            f'<text x="{left + span + 8}" y="{y + 14}">{figures}</text>'
        )
    title = f"<h2>{escape(score.preset)}: loops caught by family</h2>"
    label = escape(f"Loops that {score.preset} caught, by family")
    view = f"0 0 800 {len(families) * step + 6}"
    return f'{title}<svg viewBox="{view}" role="img" aria-label="{label}">{"".join(rows)}</svg>'


def _chars(value: float | None) -> str:
    return "none" if value is None else f"{value:,.0f}"
