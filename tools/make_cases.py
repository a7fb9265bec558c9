"""Write corpus/added.jsonl.gz: the cases that the figures of `balanced` were weighed against, made by rule.

Legitimate replies that repeat themselves for good reasons, each of which a lower threshold or a missing
guard would cut, and loops of shapes that the two other files of the corpus have once or not at all.
"""

import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path

ONES = [*"one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split()]
ONES += [*"sixteen seventeen eighteen nineteen".split()]
TENS = [*"twenty thirty forty fifty sixty seventy eighty ninety".split()]
COLOURS = [*"red blue green amber violet silver golden crimson".split()]
PARTS = [*"cart mail user rate item".split()]
HEAD = "Here is what you asked for.\n\n"
TAIL = "\n\nThat is all; tell me if the shape should be another.\n"


def in_words(number: int) -> str:
    """A number from 1 to 9,999, written out."""
    thousands, rest = divmod(number, 1_000)
    hundreds, rest = divmod(rest, 100)
    said = [f"{ONES[thousands - 1]} thousand"] if thousands else []
    said += [f"{ONES[hundreds - 1]} hundred"] if hundreds else []
    if rest:
        ten, one = divmod(rest, 10)
        small = ONES[rest - 1] if rest < 20 else TENS[ten - 2] + (f"-{ONES[one - 1]}" if one else "")
        said.append(("and " if hundreds else "") + small)
    return " ".join(said)


def hanoi(disks: int, source: str, spare: str, target: str) -> Iterator[str]:
    """The moves of the puzzle."""
    if disks:
        yield from hanoi(disks - 1, source, target, spare)
        yield f"Move disk {disks} from peg {source} to peg {target}.\n"
        yield from hanoi(disks - 1, spare, source, target)


def rows(cells: Iterator[str], width: int, height: int) -> str:
    """A literal of so many rows."""
    lines = ("  [" + ", ".join(next(cells) for _ in range(width)) + "]" for _ in range(height))
    return "grid = [\n" + ",\n".join(lines) + "\n]\n"


def data(draw: random.Random) -> Iterator[tuple[str, str, str]]:
    """Legitimate data: family, note, text."""
    yield "grid_added", "a map of 64 by 64 false cells", rows(iter(["false"] * 4_096), 64, 64)
    yield "grid_added", "512 false cells on one line", "flags = [" + ", ".join(["false"] * 512) + "]\n"
    booleans = (draw.choice(["true", "false"]) for _ in range(4_096))
    yield "grid_added", "64 by 64 coins", rows(booleans, 64, 64)
    tiles = (f'"{draw.choice(["grass", "grass", "water", "sand"])}"' for _ in range(4_096))
    yield "grid_added", "tile names, 64 by 64", rows(tiles, 64, 64)
    yield "grid_added", "a map of 128 by 128 zeros", "\n".join(["  " + "0, " * 128] * 128)
    tile = [('"grass"', "false"), ('"grass"', "false"), ('"rock"', "true"), ('"water"', "false")]
    objects = ('  {{"tile": {}, "solid": {}}},\n'.format(*draw.choice(tile)) for _ in range(1_024))
    yield "records_added", "tiles as objects", "".join(objects)
    yield "records_added", "forty empty slots", '  {"item": null, "count": 0},\n' * 40
    yield "records_added", "eighty rows of NULL", "NULL,NULL,NULL,NULL,NULL,NULL\n" * 80
    yield "records_added", "thirty empty rows of a form", "  <tr><td></td><td></td><td></td></tr>\n" * 30
    answers = ("| {} | {} | {} |\n".format(*draw.choices(["yes", "no"], k=3)) for _ in range(600))
    yield "records_added", "yes and no, three columns", "| a | b | c |\n|---|---|---|\n" + "".join(answers)
    yield "records_added", "heads and tails", "\n".join(draw.choices(["heads", "tails"], k=2_000))
    rolls = (
        f"{draw.choice(['Ann', 'Bob'])}: I roll the dice and get {draw.randint(1, 6)}.\n" for _ in range(600)
    )
    yield "records_added", "a game of dice", "".join(rolls)


def work(draw: random.Random) -> Iterator[tuple[str, str, str]]:
    """Legitimate work that says much the same again and again: family, note, text."""
    manifest = (
        "---\napiVersion: v1\nkind: Service\nmetadata:\n  name: {}\n  labels:\n    app: shop\n"
        "    tier: backend\nspec:\n  type: ClusterIP\n  selector:\n    app: shop\n    tier: backend\n"
        "  ports:\n    - name: http\n      port: 80\n      targetPort: 8080\n      protocol: TCP\n"
        "  sessionAffinity: None\n"
    )
    names = (f"{colour}-{part}" for colour in COLOURS for part in PARTS)
    yield "forms_added", "forty manifests, one name apart", "".join(map(manifest.format, names))
    classes = (f".w-{size} {{ width: {size}px; }}\n" for size in range(1, 1_000))
    yield "counting_added", "a thousand utility classes", "".join(classes)
    stubs = (f"def handler_{n}(request):\n    return render(request)\n\n" for n in range(1, 350))
    yield "counting_added", "numbered functions", "".join(stubs)
    song = (f"{n} elephants went out to play, upon a spider's web one day.\n" for n in range(2, 400))
    yield "counting_added", "a song that counts up", "".join(song)
    users = (f"({n}, 'user{n}', 'user{n}@example.test', 'active'),\n" for n in range(1, 450))
    yield "counting_added", "placeholder users", "".join(users)
    yield (
        "counting_added",
        "an enum",
        "enum Item {\n" + "".join(f"    ITEM_{n},\n" for n in range(1, 900)) + "};",
    )
    yield "counting_added", "numbers in words", ", ".join(map(in_words, range(1, 3_000)))
    yield "puzzle_added", "nine disks", "".join(hanoi(9, "A", "B", "C"))
    steps = ["Turn left. ", "Turn right. ", "Go forward one step. ", "Go forward two steps. "]
    yield "puzzle_added", "a walk through a maze", "".join(draw.choices(steps, k=700))
    chorus = (
        "And we will sail the northern sea,\nand we will sail it wide and free,\nand home by morning.\n\n"
    )
    yield "verse_added", "a chorus sung four times", chorus * 4
    yield "verse_added", "a call for the crowd", "Na na na nananana, nananana, hey now. " * 16


def undecidable(draw: random.Random) -> Iterator[tuple[str, str, str]]:
    """What may be either: family, note, text."""
    lines = [
        "INFO the worker took the next job from the queue and began to read it\n",
        "INFO another worker asked for the lock while somebody else still held it\n",
        "WARN a connection was closed by the peer before the whole answer had arrived\n",
        "INFO nothing left for this minute, going back to sleep until the alarm rings\n",
    ]
    yield (
        "logs_added",
        "four kinds of line, no time stamps",
        "".join(draw.choices(lines, [4, 3, 2, 1], k=600)),
    )


def loops(draw: random.Random) -> Iterator[tuple[str, str, str]]:
    """Loops: family, note, text."""
    words = (
        "the queue is drained before the lock is taken so the second worker finds nothing and sleeps".split()
    )
    marks = [" ", " ", " ", ", ", "\n", "! ", " - ", " **", "; "]
    said = (word + draw.choice(marks) for _ in range(400) for word in words)
    yield "marks_added", "the same words, other marks", "".join(said)
    slips = ["harbour", "pasture", "visitor", "weaver"]
    slipped = (draw.choice(slips) if draw.randrange(30) == 0 else word for _ in range(600) for word in words)
    yield "slips_added", "a word in thirty is another one", " ".join(slipped)
    stock = [
        "OK, writing the whole answer now.\n",
        "Alright, the final answer then.\n",
        "I should just write it down.\n\n",
    ]
    yield "stock_added", "three promises in any order", "".join(draw.choices(stock, k=900))
    yield (
        "counting_loop_added",
        "one entry under a label",
        "".join(f"{n}. Check the adapter and note the result in the table.\n" for n in range(1, 900)),
    )
    yield "blank_added", "line breaks written out", '{"answer": "' + "\\n\\n" * 4_000


def cases() -> Iterator[dict[str, object]]:
    """All cases, in a fixed order, drawn from a fixed seed."""
    draw = random.Random(2031)
    for number, (family, note, text) in enumerate([*data(draw), *work(draw)], 1):
        case = {"id": f"G-added-{number:02}", "family": family, "label": "legit", "source": "made by rule"}
        yield case | {"onset_char": None, "loop_end_char": None, "text": HEAD + text + TAIL, "note": note}
    for number, (family, note, text) in enumerate(undecidable(draw), 1):
        case = {"id": f"U-added-{number:02}", "family": family, "label": "unsure", "source": "made by rule"}
        yield case | {"onset_char": None, "loop_end_char": None, "text": HEAD + text + TAIL, "note": note}
    for number, (family, note, text) in enumerate(loops(draw), 1):
        case = {"id": f"L-added-{number:02}", "family": family, "label": "loop", "source": "made by rule"}
        yield case | {"onset_char": len(HEAD), "loop_end_char": None, "text": HEAD + text, "note": note}


if __name__ == "__main__":
    lines = "".join(json.dumps(case, ensure_ascii=False) + "\n" for case in cases())
    target = Path(__file__).parents[1] / "corpus" / "added.jsonl.gz"
    target.write_bytes(gzip.compress(lines.encode(), mtime=0))
    print(f"{lines.count(chr(10))} cases in {target.name}, {len(lines):,} characters")
