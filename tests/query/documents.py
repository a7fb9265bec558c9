"""The corpus of the vectors, and what the tests ask of it."""

from loopwatch.query.answer import Answer
from loopwatch.query.compile import plan
from loopwatch.query.evaluate import evaluate
from loopwatch.query.values import Document

NOW = 1_767_225_600_000.0
"""2026-01-01."""

CHARS = "summary.errors.loopAbortChars"
RUNS: list[Document] = [
    {
        "id": "s1", "finished": 1_767_571_200_000.0, "model": "acme/alpha", "state": "completed", "armed": True,
        "has.summary": True, "cost": 0.8, CHARS: 136_150.0,
    },
    {
        "id": "s2", "finished": 1_767_657_600_000.0, "model": "acme/beta", "state": "completed", "armed": False,
        "has.summary": True, "cost": 0.2, CHARS: 0.0,
    },
    {
        "id": "s3", "finished": 1_767_657_600_000.0, "model": "acme/alpha", "state": "limit_exceeded",
        "has.summary": True, "cost": 1.4, CHARS: 58_400.0,
    },
    {"id": "s4", "model": "zeta/one", "state": "hung", "has.summary": False},
    {
        "id": "s5", "finished": 1_766_966_399_999.0, "model": "zeta/one", "state": "completed", "has.summary": True,
        "cost": 0.05, CHARS: 12_261.0,
    },
]  # fmt: skip


def ask(text: str, documents: list[Document] | None = None) -> Answer:
    """The answer to a query over the corpus, or over other documents."""
    return evaluate(plan(text, NOW), RUNS if documents is None else documents)


def ids(text: str, documents: list[Document] | None = None) -> str:
    """The documents of an answer, in their order."""
    return ",".join(str(document["id"]) for document in ask(text, documents).documents)


def rows(text: str, documents: list[Document] | None = None) -> list[list[object]]:
    """The rows of an answer, as the table shows them."""
    return [list(row) for row in ask(text, documents).table()]
