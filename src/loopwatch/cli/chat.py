"""``loopwatch chat``: one prompt through the model client, guarded, retried and priced."""

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from loopwatch.cli import options
from loopwatch.cli.terminal import CONTROLS, is_terminal, say
from loopwatch.errors import InputError, ModelError

if TYPE_CHECKING:
    from loopwatch.cli.live import Live
    from loopwatch.cli.losses import Losses
    from loopwatch.client.items import Reply
    from loopwatch.client.model import ModelClient
    from loopwatch.client.tally import Tally


@click.command(
    epilog='Example: loopwatch chat -m gpt-4o-mini "Why is the sky blue?" Any OpenAI-compatible endpoint'
    " will do: --base-url http://127.0.0.1:8080/v1"
)
@click.option("-m", "--model", required=True, metavar="MODEL", help="The model, as its provider spells it.")
@click.option(
    "--base-url", metavar="URL", help="Where its API begins. [default: $OPENAI_BASE_URL, else OpenAI's]"
)
@click.option(
    "--api-key-env",
    metavar="NAME",
    help="The variable that holds the key. [default: OPENAI_API_KEY; at OpenRouter OPENROUTER_API_KEY]",
)
@click.option("--system", metavar="TEXT", help="A system prompt before it.")
@click.option("--temperature", type=click.FloatRange(min=0), metavar="T", help="How freely it chooses.")
@click.option("--max-tokens", type=click.IntRange(min=1), metavar="N", help="The most tokens it may answer.")
@click.option(
    "--retries",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    metavar="N",
    help="Attempts after the first.",
)
@click.option(
    "--idle",
    type=click.FloatRange(min=0, min_open=True),
    default=60,
    show_default=True,
    metavar="SECONDS",
    help="How long an attempt may be silent.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=900,
    show_default=True,
    metavar="SECONDS",
    help="How long an attempt may take in all.",
)
@click.option(
    "--stop-on-same-loop/--no-stop-on-same-loop",
    default=True,
    show_default=True,
    help="End the retries where the same loop comes again at the same place.",
)
@click.option(
    "--generation-lookup/--no-generation-lookup",
    default=None,
    help="Ask the provider what discarded replies cost, for up to half a minute. [default: at OpenRouter]",
)
@options.preset
@options.channels
@click.option(
    "--json", "as_json", is_flag=True, help="Print the reply, its usage and its cost as one JSON object."
)
@click.argument("prompt")
def chat(
    *,
    model: str,
    base_url: str | None,
    api_key_env: str | None,
    system: str | None,
    temperature: float | None,
    max_tokens: int | None,
    retries: int,
    idle: float,
    timeout: float,
    stop_on_same_loop: bool,
    generation_lookup: bool | None,
    preset: str,
    channels: str,
    as_json: bool,
    prompt: str,
) -> None:
    """Ask a model one PROMPT (- reads it from standard input).

    A reply that loops is dropped and asked for again, and so is one that stalls or fails. A terminal
    shows the reply as it comes, and takes it back where it is discarded; a pipe gets only the one that
    was accepted. What it cost is said on standard error. Exit code 3 where the model only looped.
    """
    import asyncio
    from dataclasses import replace

    from loopwatch.client.model import ModelClient

    if sys.stdout is None:
        raise InputError("standard output is closed: there is nowhere to put the reply")
    client = ModelClient(
        model,
        base_url=base_url,
        api_key_env=api_key_env,
        loop_detection=replace(options.settings(preset, channels), stop_on_same_loop=stop_on_same_loop),
        retries=retries,
        idle_secs=idle,
        call_timeout_secs=timeout,
        generation_lookup=generation_lookup,
    )
    messages = [{"role": "system", "content": system}] if system is not None else []
    messages.append({"role": "user", "content": _prompt(prompt)})
    # OpenAI's reasoning models refuse max_tokens, the others take either; elsewhere it is the other way.
    most = "max_completion_tokens" if client.provider == "openai" else "max_tokens"
    sampling = {"temperature": temperature, most: max_tokens}
    request = {"messages": messages, **{name: value for name, value in sampling.items() if value is not None}}
    asyncio.run(_ask(client, request, Asked(messages, max_tokens, as_json=as_json)))


def _prompt(given: str) -> str:
    """The prompt, from standard input where it is asked for. Raises InputError where there is none."""
    if given == "-":
        if sys.stdin is None:
            raise InputError("standard input is closed: echo ... | loopwatch chat -m MODEL -")
        given = sys.stdin.buffer.read().decode("utf-8", "replace")
    if not given.strip():
        raise InputError("the prompt is empty: there is nothing to ask")
    return given


class Asked(NamedTuple):
    """What was asked, and how its answer is to be told."""

    messages: list[dict[str, str]]
    max_tokens: int | None
    as_json: bool


async def _ask(client: "ModelClient", request: dict[str, Any], asked: Asked) -> None:
    """Ask, tell the reply on standard output, and what else there is to say on standard error."""
    from loopwatch.cli.bill import bill_for, failure_as_json
    from loopwatch.cli.live import Live
    from loopwatch.cli.notes import Notes
    from loopwatch.cli.remarks import remarks

    with Notes("loopwatch.client") as notes, Live(notes, wanted=not asked.as_json) as live:
        async with client:
            try:
                reply = await live.follow(client.stream(request))
            except ModelError as error:
                live.settle()
                losses = await _losses(client, error.tally, asked, live)
                if asked.as_json:
                    click.echo(failure_as_json(error, losses))
                elif losses.known:
                    say(f"loopwatch: {losses}")
                raise
            if not asked.as_json and live.screen is None:
                _print(reply)
            losses = await _losses(client, reply.tally, asked, live, reply)
    bill = bill_for(client, reply, losses)
    if asked.as_json:
        click.echo(bill.as_json())
        return
    for line in (*remarks(reply, max_tokens=asked.max_tokens), bill):
        say(f"loopwatch: {line}")


def _print(reply: "Reply") -> None:
    """The accepted reply and nothing else; its last line is ended where it has not done so."""
    text = reply.text.translate(CONTROLS) if is_terminal(sys.stdout) else reply.text
    # color: a pipe gets the text as it is, click would take colours out of it
    click.echo(text, nl=bool(text) and not text.endswith("\n"), color=True)


async def _losses(
    client: "ModelClient", tally: "Tally", asked: Asked, live: "Live", reply: "Reply | None" = None
) -> "Losses":
    """What was lost; the provider may take its time to tell."""
    from loopwatch.cli.losses import losses_of
    from loopwatch.pricing.tokens import estimate_tokens

    usage = reply.usage if reply is not None else None
    tokens = usage.input_tokens if usage is not None else None
    if tokens is None:
        tokens = sum(estimate_tokens(one["content"], client.provider) for one in asked.messages)
    live.waiting.begin("asking what the discarded replies cost")
    try:
        return await losses_of(client, tally.discarded, tokens)
    finally:
        live.waiting.end()
