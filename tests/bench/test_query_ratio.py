"""One stats by one key over 100,000 runs, against the same aggregate in plain SQL: a ratio, printed."""

import random
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from loopwatch.query.compile import plan
from loopwatch.query.duckdb import Index
from loopwatch.query.values import Document

RUNS = 100_000
PAGE = 5_000
ROUNDS = 15
CHARS = "summary.errors.loopAbortChars"
SEED = f"has.summary:true | stats sum({CHARS}) as thrown by model"


def runs(seed: int) -> list[Document]:
    """As many as a page holds, with some fifty fields each."""
    dice = random.Random(seed)
    return [
        {
            "id": f"{seed:04}-{number:05}",
            "finished": 1.7e12 + seed * 1e6 + number,
            "model": f"maker/model-{dice.randrange(12)}",
            "state": dice.choice(("completed", "exhausted", "limit_exceeded")),
            "has.summary": dice.random() < 0.95,
            "cost": round(dice.random() * 3, 6),
            CHARS: float(dice.randrange(3) * dice.randrange(50_000)),
            **{f"summary.figure{each}": float(dice.randrange(1_000)) for each in range(44)},
        }
        for number in range(PAGE)
    ]


def best(work: Callable[[], object]) -> float:
    """The quickest of some rounds, in seconds."""
    took: list[float] = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        work()
        took.append(time.perf_counter() - began)
    return min(took)


def test_the_seeds_query_against_plain_sql(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = duckdb.connect(tmp_path / "plain.duckdb")
    plain.execute("CREATE TABLE runs (model VARCHAR, summarised BOOLEAN, chars DOUBLE)")
    with Index(tmp_path / "index.duckdb") as index:
        for seed in range(RUNS // PAGE):
            page = runs(seed)
            index.add(page)
            columns = {"m": [each["model"] for each in page], "s": [each["has.summary"] for each in page]}
            plain.execute(
                "INSERT INTO runs SELECT unnest($m), unnest($s), unnest($c)",
                columns | {"c": [each[CHARS] for each in page]},
            )
        asked = plan(SEED, 0.0)
        text = "SELECT model, count(*), count(chars), sum(chars) FROM runs WHERE summarised GROUP BY model ORDER BY 2 DESC"
        rows = plain.execute(text).fetchall()
        found = index.answer(asked)
        assert {(bucket.key[0], bucket.n, bucket.folds[0].value) for bucket in found.buckets} == {
            (model, count, total) for model, count, _, total in rows
        }
        ratio = best(lambda: index.answer(asked)) / best(lambda: plain.execute(text).fetchall())
    with capsys.disabled():
        print(f"\n{RUNS:,} runs, the seed's query against the same in SQL: {ratio:.2f}x (budget 2x)")  # noqa: T201  what `make bench` is for
