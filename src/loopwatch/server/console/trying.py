"""Trying a reply on what stands in the editor. The text goes back to whoever sent it and nowhere else."""

import asyncio
from collections.abc import Callable
from functools import partial

from loopwatch.config.draft import Draft
from loopwatch.config.loading import Config
from loopwatch.detect.settings import CHANNELS
from loopwatch.errors import InputError
from loopwatch.server.configs.samples import samples
from loopwatch.server.configs.trial import Trial, tried
from loopwatch.server.console.sheet import Sheet, Trying
from loopwatch.server.pages.forms import Form

SAMPLE = "sample."
"""How the buttons of samples are called, before the sample's id."""
UNSOUND = "what stands in the editor is refused as it is: change what is listed above first"


async def trial(sheet: Sheet, form: Form, turns: asyncio.Semaphore) -> Trying:
    """Try what was pasted, uploaded or chosen, once it is its turn.

    What is wrong is said where the result would stand.
    """
    trying = _given(sheet.draft, form)
    config = sheet.found.config
    if config is None:
        trying.error = UNSOUND
        return trying
    try:
        async with turns:
            trying.result = await asyncio.to_thread(_work(config, sheet.draft, trying))
    except InputError as error:
        trying.error = str(error)
    return trying


def _given(draft: Draft, form: Form) -> Trying:
    asked = form.text("do")
    sample = samples().get(asked.removeprefix(SAMPLE)) if asked.startswith(SAMPLE) else None
    agent = _agent(form.text("try.agent"), draft)
    if sample is not None:
        return Trying(agent, sample.channel, sample.text, sample.title)
    channel = next((one for one in CHANNELS if one == form.text("try.channel")), CHANNELS[0])
    given = Trying(agent, channel, form.whole("try.text"))
    file = form.files.get("try.file")
    if file is not None and file.content:
        given.text, given.source = file.content.decode("utf-8-sig", "replace"), file.name
    return given


def _agent(asked: str, draft: Draft) -> int:
    if asked.isascii() and asked.isdigit() and len(asked) < 5 and int(asked) < len(draft.agents):  # noqa: PLR2004
        return int(asked)
    return draft.root or 0


def _work(config: Config, draft: Draft, trying: Trying) -> Callable[[], Trial]:
    profile = config.document.agents[draft.order().index(trying.agent)]
    return partial(tried, profile, trying.text, trying.channel)
