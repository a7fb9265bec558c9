"""Where ``loopwatch query`` gets its answers: an index of the runs, or the calls of a project."""

from pathlib import Path
from typing import TYPE_CHECKING

from loopwatch.cli.database import opened, run, the_project
from loopwatch.cli.terminal import say
from loopwatch.errors import InputError
from loopwatch.query.catalog import Catalog, catalog
from loopwatch.query.evaluate import evaluate
from loopwatch.query.runs import INDEX, RunFolders

if TYPE_CHECKING:
    from loopwatch.query.answer import Answer
    from loopwatch.query.corpus import Corpus
    from loopwatch.query.duckdb import Index
    from loopwatch.query.plan import Plan

Found = tuple["Answer", Catalog]


def ask(plan: "Plan", runs: Path, database: str | None, project: str | None) -> Found:
    """The answer, and the fields that there are to ask of."""
    if plan.source == "runs":
        return _ask_runs(plan, RunFolders(runs), runs / INDEX)
    return run(_ask_calls(plan, database, project))


def _ask_runs(plan: "Plan", folders: RunFolders, path: Path) -> Found:
    try:
        index = _index(path)
    except ModuleNotFoundError:  # the plain evaluator is as right, and slower
        found = list(folders.documents())
        answer = evaluate(plan, found), catalog(found)
    else:
        with index:
            folders.refresh(index)
            answer = index.answer(plan), index.catalog()
    for problem in folders.problems:
        say(f"left out: {problem}")
    return answer


def _index(path: Path | None) -> "Index":
    """The index at ``path``; one in memory without, and where that cannot be used: read-only, or in use."""
    from loopwatch.query.duckdb import Index

    try:
        return Index(path)
    except InputError:
        return Index()


async def _ask_calls(plan: "Plan", database: str | None, project: str | None) -> Found:
    from loopwatch.store.corpus import CallCorpus

    async with opened(database) as store:
        corpus: Corpus = CallCorpus(store.database, (await the_project(store, project)).id)
        pages = corpus.pages()
        try:
            index = _index(None)
        except ModuleNotFoundError:
            found = [document async for page in pages for document in page]
            return evaluate(plan, found), catalog(found)
        with index:
            async for page in pages:
                index.add(page)
            return index.answer(plan), index.catalog()
