"""``loopwatch watch``: guard a stream that somebody else fetches."""

import os
import sys
from typing import TYPE_CHECKING, NoReturn

import click

from loopwatch.cli import options

if TYPE_CHECKING:
    from loopwatch.detect.trip import Trip

LOOPED = 3
READ = 1 << 16


@click.command(epilog="Example: curl -sN $URL -d @request.json | loopwatch watch")
@options.preset
@options.channels
@click.option(
    "--json", "as_json", is_flag=True, help="Say a trip as one JSON object on standard output, no text."
)
def watch(*, preset: str, channels: str, as_json: bool) -> None:
    """Print the text of the stream on standard input as it comes; stop at a loop, with exit code 3.

    The stream is OpenAI's, Anthropic's, Gemini's or Ollama's, as curl -N prints it. Ending before it does
    closes the pipe, so that curl drops the connection and the provider stops sending.
    """
    from dataclasses import replace

    from loopwatch.detect.detector import LoopDetector
    from loopwatch.detect.settings import LoopDetection
    from loopwatch.wire.reader import StreamReader

    settings = replace(LoopDetection.preset(preset), channels=options.split_channels(channels))
    reader = StreamReader()
    detectors: dict[tuple[int, str], LoopDetector] = {}
    source = sys.stdin.buffer
    while True:
        data = os.read(source.fileno(), READ)
        for piece in reader.feed(data) if data else reader.finish():
            if piece.channel == "content" and not as_json:
                click.echo(piece.text, nl=False)
            if piece.channel not in settings.channels:
                continue
            key = (piece.reply, piece.channel)
            if key not in detectors:
                detectors[key] = LoopDetector(settings)
            trip = detectors[key].push(piece.text)
            if trip is not None:
                _stop(trip, piece.channel, as_json=as_json)
        if not data:
            break


def _stop(trip: "Trip", channel: str, *, as_json: bool) -> NoReturn:
    where = "" if channel == "content" else f" in {channel}"
    if as_json:
        import msgspec

        click.echo(msgspec.json.encode({"channel": channel, **_fields(trip)}).decode())
    else:
        click.echo()
        click.echo(f"loopwatch: the model looped{where}: {trip}", err=True)
    raise click.exceptions.Exit(LOOPED)


def _fields(trip: "Trip") -> dict[str, object]:
    names = ("rule", "words", "chars", "onset", "period", "repeats", "offenders", "saturated_run")
    return {name: getattr(trip, name) for name in names}
