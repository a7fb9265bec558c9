"""``loopwatch watch``: guard a stream that somebody else fetches."""

import os
import sys
from typing import TYPE_CHECKING, NoReturn

import click

from loopwatch.cli import options
from loopwatch.cli.terminal import CONTROLS, is_terminal

if TYPE_CHECKING:
    from loopwatch.detect.engine import LoopDetector
    from loopwatch.detect.settings import LoopDetection
    from loopwatch.detect.trip import Trip
    from loopwatch.wire.pieces import Piece
    from loopwatch.wire.reader import Fault

FAILED = 1
LOOPED = 3
READ = 1 << 16


@click.command(
    epilog="Example: loopwatch watch < capture.sse. Live: curl -sN $URL -d @request.json | loopwatch watch"
)
@options.preset
@options.channels
@click.option(
    "--json", "as_json", is_flag=True, help="Say a trip as one JSON object on standard output, no text."
)
def watch(*, preset: str, channels: str, as_json: bool) -> None:
    """Print the text of the stream on standard input as it comes; stop at a loop, with exit code 3.

    The stream is OpenAI's, Anthropic's, Gemini's or Ollama's, as curl -N prints it. Ending before it does
    closes the pipe, so that curl drops the connection and the provider stops sending. An event that cannot
    be read is named on standard error and the rest goes on; the exit code is 1 then.
    """
    from loopwatch.errors import InputError
    from loopwatch.wire.reader import StreamReader

    if sys.stdin is None:
        raise InputError("standard input is closed: curl -N ... | loopwatch watch")
    guard = Guard(options.settings(preset, channels), as_json=as_json)
    reader = StreamReader()
    source = sys.stdin.fileno()
    while data := os.read(source, READ):
        guard.take(reader.feed(data))
    guard.take(reader.finish())
    if guard.failed:
        raise click.exceptions.Exit(FAILED)


class Guard:
    """Prints the pieces of a stream and reads along; the first loop ends the program."""

    def __init__(self, settings: "LoopDetection", *, as_json: bool) -> None:
        """Start at the beginning of a stream."""
        self._settings = settings
        self._as_json = as_json
        self._on_terminal = is_terminal(sys.stdout)
        self._detectors: dict[tuple[int, str], LoopDetector] = {}
        self.failed = False

    def take(self, read: "list[Piece | Fault]") -> None:
        """Take what a read of the stream completed."""
        from loopwatch.wire.pieces import Piece

        for piece in read:
            if isinstance(piece, Piece):
                self._print(piece)
                self._judge(piece)
                continue
            click.echo(f"loopwatch: {piece.reason}", err=True)
            self.failed = True
            if piece.final:
                raise click.exceptions.Exit(FAILED)

    def _print(self, piece: "Piece") -> None:
        if piece.channel == "content" and not self._as_json:
            text = piece.text.translate(CONTROLS) if self._on_terminal else piece.text
            click.echo(text, nl=False, color=True)  # colours in it are part of the text

    def _judge(self, piece: "Piece") -> None:
        from loopwatch.detect.engine import LoopDetector

        if piece.channel not in self._settings.channels:
            return
        key = (piece.reply, piece.channel)
        if key not in self._detectors:
            self._detectors[key] = LoopDetector(self._settings)
        trip = self._detectors[key].push(piece.text)
        if trip is not None:
            _stop(trip, piece.channel, as_json=self._as_json)


def _stop(trip: "Trip", channel: str, *, as_json: bool) -> NoReturn:
    where = "" if channel == "content" else f" in {channel}"
    if as_json:
        import msgspec

        click.echo(msgspec.json.encode({"channel": channel, **_fields(trip)}).decode())
    else:
        if is_terminal(sys.stdout):
            click.echo()  # the text may have stopped in the middle of a line
        click.echo(f"loopwatch: the model looped{where}: {trip}", err=True)
    raise click.exceptions.Exit(LOOPED)


def _fields(trip: "Trip") -> dict[str, object]:
    names = ("rule", "words", "chars", "onset", "period", "repeats", "offenders", "saturated_run")
    return {name: getattr(trip, name) for name in names}
