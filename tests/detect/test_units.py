"""What repeats, by class."""

import pytest

from loopwatch.detect.units import SAMPLED, Kind, classify

UNITS: list[tuple[str, Kind]] = [
    ("Let me check that again. ", "text"),
    ("        self.boat = boat\n        self.keeper = keeper\n        self.paid = paid\n", "text"),
    ("กรุณารอสักครู่แล้วลองใหม่อีกครั้ง", "text"),
    ("我需要先检查账本，然后再继续。", "text"),
    ("😀😃😄😁😆😅", "text"),
    ("    if (err < 0)\n        goto out;\n", "code"),
    ('<input type="text" maxlength="1" class="cell">\n', "code"),
    ("so we do ", "phrase"),
    ("/store/rows", "phrase"),
    ("moss ", "phrase"),
    ("好的", "phrase"),
    ("[illegible] ", "phrase"),
    ("_value", "phrase"),
    ("鶴", "mark"),
    ("!", "mark"),
    ("-", "mark"),
    ('{"id": 31, "name": "Quaymouth", "wet": false, "depth": null}, ', "record"),
    ('  {"tile": "grass", "solid": false},\n', "record"),
    ("<tr><td></td><td></td></tr>", "markup"),
    ("void 0;\n", "token"),
    ("false, ", "token"),
    ("&nbsp;", "token"),
    ("0, ", "data"),
    ("c0,2.4,1.9,4.3", "data"),
    ("CAG", "data"),
    ("Oat", "data"),
    ("AQID", "data"),
    ("JB2", "data"),
    ("x-", "data"),
    (" ", "data"),
    ("G", "mark"),
    ("A", "fill"),
    ("0", "fill"),
    ("........\n", "grid"),
    ("0 0 0 1\n", "grid"),
    ("|  |  |\n", "grid"),
    ("false, false, false, false,\n", "grid"),
    ("true false true false true false true false\n", "grid"),
]


@pytest.mark.parametrize(("unit", "kind"), UNITS)
def test_the_class_of_a_unit(unit: str, kind: Kind) -> None:
    assert classify(unit) == kind


@pytest.mark.parametrize(
    "unit", ["Let me check that again. ", "so we do ", "moss ", "void 0;\n", "0, ", "<tr><td></td></tr>"]
)
def test_the_class_does_not_hang_on_where_the_unit_was_cut(unit: str) -> None:
    assert {classify(unit[cut:] + unit[:cut]) for cut in range(len(unit))} == {classify(unit)}


def test_a_long_unit_is_known_by_its_beginning() -> None:
    assert classify("a b c 1 2 3 " * 1_000) == "data"
    assert classify("Some words of prose stand here. " * (SAMPLED // 32) + "0" * 10_000) == "text"


def test_lone_surrogates_are_no_words() -> None:
    assert classify("\ud800 ") == "data"
