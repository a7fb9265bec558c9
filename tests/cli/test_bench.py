import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from loopwatch.detect.settings import PRESETS
from tests.cli.program import Call, one_line, run

REAL = Path(__file__).parents[2] / "corpus" / "real.jsonl.gz"
LOOP = "la la la la, this is the song that never ends. " * 100
SOUND = "Nothing is said twice here."
KEYS = {
    *("preset", "loops", "caught", "early", "caught_within", "saved_share", "legit", "false_trips"),
    *("undecidable", "undecidable_trips", "median_delay", "p90_delay", "families"),
}


def reply(name: str, label: str, text: str, family: str = "song", **more: Any) -> dict[str, Any]:
    return {"id": name, "family": family, "label": label, "text": text, **more}


REPLIES = [
    reply("caught-1", "loop", SOUND + LOOP, onset_char=len(SOUND)),
    reply("missed-1", "loop", SOUND, onset_char=3),
    reply("early-1", "loop", LOOP, onset_char=4_000, family="late"),
    reply("sound-1", "legit", SOUND, family="prose"),
    reply("false-1", "legit", LOOP, family="prose"),
    reply("unsure-1", "unsure", LOOP, family="prose"),
]


def write(path: Path, replies: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in replies), encoding="utf-8")
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write(tmp_path / "mine.jsonl", REPLIES)


def objects(out: str) -> list[dict[str, Any]]:
    """The JSON objects of an output that has one a line and nothing else."""
    return [json.loads(line) for line in out.splitlines()]


def rows(out: str) -> list[list[str]]:
    """The words of each line."""
    return [line.split() for line in out.splitlines()]


# The tables.


def test_the_overview_has_the_figures_of_the_preset(call: Call, corpus: Path) -> None:
    done = call("bench", corpus)
    assert (done.code, done.err) == (0, "")
    (figures,) = objects(call("bench", corpus, "--json").out)
    saved, delay = f"{figures['saved_share']:.1%}", str(int(figures["median_delay"]))
    assert ["preset", "caught", "<=1k", "<=4k", "<=16k", "saved", "false", "median", "p90"] in rows(done.out)
    assert ["balanced", "1/3", "1", "1", "1", saved, "1/2", delay, delay] in rows(done.out)


def test_each_family_has_its_row(call: Call, corpus: Path) -> None:
    out = rows(call("bench", corpus).out)
    assert ["late", "0", "of", "1"] in out
    assert ["prose", "1", "of", "2", "1", "of", "1"] in out
    assert [line[:4] for line in out if line[:1] == ["song"]] == [["song", "1", "of", "2"]]


def test_missed_early_and_false_replies_are_named(call: Call, corpus: Path) -> None:
    out = call("bench", corpus).out
    assert "Caught by rule: cycle 1\nMissed: missed-1\nEarly: early-1\nFalse trips: false-1\n" in out


def test_where_nothing_tripped_nothing_is_named(call: Call, tmp_path: Path) -> None:
    out = call("bench", write(tmp_path / "sound.jsonl", [reply("sound-1", "legit", SOUND)])).out
    assert out.rstrip().endswith("Caught by rule: none")
    assert ["balanced", "0/0", "0", "0", "0", "0.0%", "0/1"] in rows(out)


def test_all_presets_stand_in_one_overview(call: Call, corpus: Path) -> None:
    out = call("bench", corpus, "--preset", "all").out
    assert [row[0] for row in rows(out) if row[1:2] in (["0/3"], ["1/3"])] == list(PRESETS)
    assert re.findall(r"(\w+), by family", out) == list(PRESETS)


def test_names_with_brackets_and_colons_are_printed_as_they_are(call: Call, tmp_path: Path) -> None:
    hostile = reply("[/b]:smile:", "legit", LOOP, family="[/x]:smile:")
    out = call("bench", write(tmp_path / "hostile.jsonl", [hostile])).out
    assert "False trips: [/b]:smile:\n" in out
    assert ["[/x]:smile:", "1", "of", "1"] in rows(out)


def test_a_long_family_name_leaves_the_figures_room(call: Call, tmp_path: Path) -> None:
    long = reply("a", "legit", LOOP, family="f" * 200)
    out = call("bench", write(tmp_path / "long.jsonl", [long])).out
    assert [row[1:] for row in rows(out) if row[:1] == ["f" * 19 + "…"]] == [["1", "of", "1"]]
    assert max(map(len, out.splitlines())) <= 80


# One JSON object a preset.


def test_json_has_the_promised_keys_and_the_figures(call: Call, corpus: Path) -> None:
    done = call("bench", corpus, "--json")
    assert (done.code, done.err) == (0, "")
    (figures,) = objects(done.out)
    assert figures.keys() >= KEYS
    assert figures["preset"] == "balanced"
    assert (figures["loops"], figures["caught"], figures["early"]) == (3, 1, 1)
    assert (figures["legit"], figures["false_trips"]) == (2, 1)
    assert (figures["undecidable"], figures["undecidable_trips"]) == (1, 1)
    assert figures["caught_within"] == {"1000": 1, "4000": 1, "16000": 1}
    assert figures["median_delay"] == figures["p90_delay"]
    assert 0 < figures["saved_share"] < 1
    assert figures["families"].keys() == {"late", "prose", "song"}


def test_json_of_all_presets_is_one_object_a_line(call: Call, corpus: Path) -> None:
    found = objects(call("bench", corpus, "--json", "--preset", "all").out)
    assert [figures["preset"] for figures in found] == list(PRESETS)
    assert found[0]["caught"] == 0
    assert found[0]["median_delay"] is None


@pytest.mark.parametrize("preset", PRESETS)
def test_one_preset_is_scored_when_it_is_named(call: Call, corpus: Path, preset: str) -> None:
    assert [one["preset"] for one in objects(call("bench", corpus, "--json", "--preset", preset).out)] == [
        preset
    ]


def test_a_program_scores_the_corpus_that_ships() -> None:
    done = run("bench", REAL, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    (figures,) = objects(done.stdout)
    assert (figures["loops"], figures["legit"], figures["undecidable"]) == (29, 51, 8)


def test_a_program_prints_tables_without_colours() -> None:
    done = run("bench", REAL)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    assert re.search(r"^ *balanced +\d+/29 ", done.stdout, re.MULTILINE)


# Explaining one reply.


def test_explain_says_how_near_each_rule_came(call: Call, corpus: Path) -> None:
    done = call("bench", corpus, "--explain", "caught-1")
    assert (done.code, done.err) == (0, "")
    head, blank, verdict, *near = done.out.splitlines()
    chars = f"{len(SOUND + LOOP):,}"
    assert head == f"caught-1: loop, family song, {chars} characters, onset {len(SOUND)}"
    assert blank == ""
    assert verdict.startswith("balanced: a passage of 47 characters repeated ")
    assert [line.split()[0] for line in near] == ["cycle", "phrases", "blank", "length"]
    assert re.fullmatch(r"  cycle +1\d\d%  at +[\d,]+  text of 47 characters for .*", near[0])


def test_explain_of_a_sound_reply_names_no_onset_and_no_trip(call: Call, corpus: Path) -> None:
    out = call("bench", corpus, "--explain", "sound-1").out
    assert out.startswith("sound-1: legit, family prose, 27 characters\n\nbalanced: no trip\n")


def test_explain_with_all_presets_has_a_paragraph_each(call: Call, corpus: Path) -> None:
    out = call("bench", corpus, "--explain", "caught-1", "--preset", "all").out
    assert re.findall(r"^(\w+): (?:no trip|a passage)", out, re.MULTILINE) == list(PRESETS)


def test_explain_as_json_is_one_object_a_preset(call: Call, corpus: Path) -> None:
    found = objects(call("bench", corpus, "--explain", "caught-1", "--preset", "all", "--json").out)
    assert [(one["id"], one["preset"]) for one in found] == [("caught-1", preset) for preset in PRESETS]
    assert found[0]["trip"] is None
    assert found[1]["trip"].startswith("a passage of 47 characters repeated ")
    assert [near["rule"] for near in found[1]["rules"]] == ["cycle", "phrases", "blank", "length"]
    assert found[1]["rules"][0].keys() == {"rule", "share", "at_char", "detail"}
    assert found[1]["rules"][0]["share"] >= 1


def test_explain_shows_nothing_of_the_reply_s_text(call: Call, corpus: Path) -> None:
    for options in ([], ["--json"]):
        out = call("bench", corpus, "--explain", "caught-1", "--preset", "all", *options).out
        assert "never ends" not in out


def test_explain_of_an_unknown_id_is_one_line_and_the_code_2(call: Call, corpus: Path) -> None:
    done = call("bench", corpus, "--explain", "no\nsuch")
    assert (done.code, done.out) == (2, "")
    expected = r"loopwatch: no reply in the corpus has the id 'no\nsuch': the first is 'caught-1'"
    assert one_line(done.err) == expected


# A corpus that cannot be read.


def test_a_bad_line_is_named_in_one_line(call: Call, corpus: Path) -> None:
    corpus.write_text(corpus.read_text(encoding="utf-8") + "not JSON\n", encoding="utf-8")
    done = call("bench", corpus)
    assert (done.code, done.out) == (2, "")
    assert one_line(done.err).startswith(f"loopwatch: {corpus}:7: not a labelled reply: ")


def test_a_file_name_of_two_lines_does_not_make_two_of_the_message(call: Call, tmp_path: Path) -> None:
    done = call("bench", write(tmp_path / "two\nlines.jsonl", []))
    assert done.code == 2
    assert one_line(done.err).endswith("two lines.jsonl: no labelled replies in it")


def test_a_missing_corpus_is_one_line_and_the_code_2(call: Call, tmp_path: Path) -> None:
    done = call("bench", tmp_path / "none.jsonl")
    assert (done.code, done.out) == (2, "")
    assert "none.jsonl' does not exist" in one_line(done.err)


def test_a_folder_without_replies_is_one_line_and_the_code_2() -> None:
    folder = Path(__file__).parent
    done = run("bench", folder)
    assert (done.returncode, done.stdout) == (2, "")
    expected = f"loopwatch: {folder}: no replies.jsonl (or .gz, .zst) in this folder"
    assert one_line(done.stderr) == expected


# The report.


def test_the_report_has_every_preset_whatever_was_asked_for(call: Call, corpus: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    done = call("bench", corpus, "--json", "--preset", "eager", "--report", report)
    assert (done.code, one_line(done.err)) == (0, f"Report written to {report}")
    assert [one["preset"] for one in objects(done.out)] == ["eager"]
    html = report.read_text(encoding="utf-8")
    assert "<title>loopwatch bench: mine.jsonl</title>" in html
    for preset in PRESETS:
        assert f"<td>{preset}</td>" in html


def test_the_report_does_not_name_the_folders_of_the_machine(
    call: Call, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "replies.jsonl", REPLIES)
    monkeypatch.chdir(tmp_path)
    for named in (".", corpus):
        assert call("bench", named, "--report", "report.html").code == 0
        html = Path("report.html").read_text(encoding="utf-8")
        assert str(tmp_path.parent) not in html
    assert call("bench", ".", "--report", "report.html").code == 0
    assert f"<title>loopwatch bench: {tmp_path.name}</title>" in Path("report.html").read_text(
        encoding="utf-8"
    )


def test_a_corpus_whose_name_is_no_text_has_a_report_all_the_same(call: Call, tmp_path: Path) -> None:
    corpus = tmp_path / os.fsdecode(b"caf\xe9.jsonl")
    try:
        write(corpus, REPLIES)
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    report = tmp_path / "report.html"
    assert call("bench", corpus, "--report", report).code == 0
    assert "loopwatch bench: caf?.jsonl" in report.read_text(encoding="utf-8")


@pytest.mark.parametrize("place", ["no/such/folder/report.html", "."])
def test_a_report_that_cannot_be_written_is_one_line_and_the_code_2(
    call: Call, corpus: Path, tmp_path: Path, place: str
) -> None:
    done = call("bench", corpus, "--report", tmp_path / place)
    assert done.code == 2
    assert str(tmp_path) in one_line(done.err)
    assert "Report written" not in done.err
