import re
from html.parser import HTMLParser
from typing import Literal

import pytest

from loopwatch.detect.settings import PRESETS
from loopwatch.detect.trip import Trip
from loopwatch.offline.bench import Outcome, Score
from loopwatch.offline.corpus import Case
from loopwatch.offline.report import page

VOID = {"meta", "br", "hr", "img", "input", "link"}
FETCHING = {"script", "link", "img", "image", "iframe", "object", "embed", "use", "base", "audio", "video"}
HOSTILE = "\"'><script src=//x>&amp;</title></svg>"


def outcome(
    trip_at: int | None, label: Literal["loop", "legit"] = "loop", family: str = "songs", name: str = "a"
) -> Outcome:
    case = Case(id=name, family=family, label=label, text="x" * 9_000, onset_char=1_000)
    return Outcome(case, None if trip_at is None else Trip(rule="cycle", words=1, chars=trip_at))


def scores(*outcomes: Outcome) -> list[Score]:
    """Every preset with the same outcomes."""
    return [Score(preset, list(outcomes)) for preset in PRESETS]


class Page(HTMLParser):
    """Reads a page and refuses one whose tags do not close in their order."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def test_the_reader_of_these_tests_refuses_what_does_not_close() -> None:
    with pytest.raises(AssertionError):
        Page("<table><tr></table>")
    with pytest.raises(AssertionError):
        Page("<table>")


MIXED = [outcome(2_000), outcome(None, family="tales"), outcome(500, "legit", "maps"), outcome(None, "legit")]


def test_a_page_is_whole_html() -> None:
    html = page("corpus", scores(*MIXED))
    read = Page(html)
    assert html.startswith("<!doctype html>\n")
    assert [name for name, _ in read.tags][:3] == ["html", "head", "meta"]
    assert read.all("meta")[0] == {"charset": "utf-8"}


def test_a_page_fetches_nothing_and_runs_nothing() -> None:
    html = page("corpus", scores(*MIXED))
    read = Page(html)
    assert not FETCHING & {name for name, _ in read.tags}
    attributes = {key for _, one in read.tags for key in one}
    assert not {"src", "href", "xlink:href", "srcset", "style", "data", "action"} & attributes
    assert not [key for key in attributes if key.startswith("on")]
    assert not re.search(r"https?:|url\(|@import|//", html)


def test_every_preset_has_its_row_its_mark_and_its_bars() -> None:
    read = Page(page("corpus", scores(*MIXED)))
    assert len(read.all("tr")) == 1 + len(PRESETS)
    assert len(read.all("circle")) == len(PRESETS)
    for preset in PRESETS:
        assert read.texts.count(preset) == 2  # its row and its mark
        assert f"{preset}: loops caught by family" in read.texts


def test_the_table_has_the_figures_of_each_preset() -> None:
    different = [
        Score("seed", [outcome(None), outcome(4_000), outcome(99, "legit")]),
        Score("balanced", [outcome(2_000), outcome(3_000), outcome(None, "legit")]),
    ]
    cells = re.findall(r"<td>(.*?)</td>", page("corpus", different))
    assert cells[:9] == ["seed", "1 of 2", "0", "1", "1", "31.2%", "1 of 1", "3,000", "3,000"]
    assert cells[9:] == ["balanced", "2 of 2", "1", "2", "2", "81.2%", "0 of 1", "1,500", "1,900"]


def test_the_mark_of_a_preset_is_lower_and_more_to_the_left_the_better_it_is() -> None:
    better = Score("balanced", [outcome(1_500), outcome(None, "legit")])
    worse = Score("eager", [outcome(3_000), outcome(99, "legit")])
    left, right = Page(page("corpus", [better, worse])).all("circle")
    assert float(left["cx"] or 0) < float(right["cx"] or 0)
    assert float(left["cy"] or 0) > float(right["cy"] or 0)  # y grows downwards


def test_a_bar_is_as_long_as_the_share_caught() -> None:
    loops = [outcome(2_000, family="half"), outcome(None, family="half"), outcome(None, family="none")]
    read = Page(page("corpus", [Score("balanced", loops)]))
    widths = [one["width"] for one in read.all("rect") if one.get("class") != "track"]
    tracks = [one["width"] for one in read.all("rect") if one.get("class") == "track"]
    assert (widths, tracks) == (["210", "0"], ["420", "420"])
    assert "1 of 2, median 1,000" in read.texts
    assert "0 of 1" in read.texts


def test_a_family_without_loops_has_no_bar() -> None:
    read = Page(page("corpus", [Score("balanced", [outcome(2_000), outcome(None, "legit", "maps")])]))
    assert "songs" in read.texts
    assert "maps" not in read.texts


def test_hostile_names_are_text() -> None:
    some = [
        outcome(2_000, family=HOSTILE, name=HOSTILE),
        outcome(9, "legit", HOSTILE, HOSTILE),
        outcome(None, family=HOSTILE, name=HOSTILE),
    ]
    html = page(HOSTILE, [*scores(*some), Score(HOSTILE, some)])
    read = Page(html)
    assert "<script" not in html
    assert f"loopwatch bench: {HOSTILE}" in read.texts
    assert f"Loops caught, and at what price: {HOSTILE}" in read.texts
    assert HOSTILE in read.texts
    assert f"Loops that {HOSTILE} caught, by family" in [one.get("aria-label") for one in read.all("svg")]


@pytest.mark.parametrize(
    "some",
    [[outcome(99, "legit"), outcome(None, "legit")], [outcome(2_000), outcome(None)], [outcome(None)], []],
    ids=["no loops", "no legitimate replies", "none caught", "nothing"],
)
def test_a_page_needs_neither_loops_nor_legitimate_replies(some: list[Outcome]) -> None:
    assert len(Page(page("corpus", scores(*some))).all("tr")) == 1 + len(PRESETS)


def test_where_nothing_was_caught_the_delay_is_none_and_there_is_no_mark() -> None:
    html = page("corpus", [Score("balanced", [outcome(None)])])
    assert not Page(html).all("circle")
    assert re.findall(r"<td>(.*?)</td>", html)[-2:] == ["none", "none"]


def test_a_delay_of_zero_everywhere_divides_by_nothing() -> None:
    (mark,) = Page(page("corpus", [Score("balanced", [outcome(1_000)])])).all("circle")
    assert (mark["cx"], mark["cy"]) == ("60", "250")
