"""``loopwatch config``: check, begin or describe a configuration document."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from loopwatch.errors import ConfigError, InputError

if TYPE_CHECKING:
    from loopwatch.config.defects import Defect

INVALID = 2
STDIN = Path("-")


@click.group(
    epilog="Example: loopwatch config init loopwatch.json, then loopwatch config check loopwatch.json."
)
def config() -> None:
    """Check, begin or describe a configuration document."""


@config.command(
    epilog="Example: loopwatch config check loopwatch.json. Defects go to standard error, one a line, and the"
    " exit code is 2. A sound document may have warnings; what its launch would say follows them."
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--json", "as_json", is_flag=True, help="One JSON object a defect or warning, and nothing else."
)
@click.pass_context
def check(ctx: click.Context, file: Path, *, as_json: bool) -> None:
    """Every defect of a configuration.

    Reads FILE (- is standard input) and names each thing to change, with its agent and its line.
    """
    from loopwatch.config.launch import launch_lines
    from loopwatch.config.loading import load_config

    try:
        found = load_config(_stdin() if file == STDIN else file)
    except ConfigError as error:
        for defect in error.defects:
            click.echo(_object("defect", defect) if as_json else defect.placed, err=not as_json)
        ctx.exit(INVALID)
    if as_json:
        for warning in found.warnings:
            click.echo(_object("warning", warning))
        return
    click.echo(f"{'standard input' if file == STDIN else click.format_filename(file)}: sound")
    for warning in found.warnings:
        click.echo(f"warning: {warning.placed}")
    for line in launch_lines(found):
        click.echo(line)


def _stdin() -> bytes:
    from loopwatch.config.reading import MOST_BYTES

    return sys.stdin.buffer.read(MOST_BYTES + 1)  # one more, to see that it is too large


def _object(kind: str, defect: "Defect") -> str:
    return json.dumps({"kind": kind, **defect.as_dict()})


@config.command(
    epilog="Example: loopwatch config init loopwatch.json. Without FILE the document is printed; a FILE that"
    " exists is left as it is."
)
@click.argument("file", type=click.Path(path_type=Path), required=False)
def init(file: Path | None) -> None:
    """A commented document to begin with, printed or written to FILE."""
    from loopwatch.config.starter import STARTER

    if file is None or file == STDIN:
        click.echo(STARTER, nl=False)
        return
    try:
        with file.open("x", encoding="utf-8") as new:
            new.write(STARTER)
    except FileExistsError:
        raise InputError(f"{file} exists and was left as it is: choose another name") from None
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}") from None
    click.echo(f"Written to {file}", err=True)


@config.command(
    epilog="Example: loopwatch config schema > loopwatch.schema.json, then begin the document with"
    ' "$schema": "./loopwatch.schema.json".'
)
def schema() -> None:
    """The JSON Schema of the document, for an editor."""
    from loopwatch.config.schema import schema as json_schema

    click.echo(json.dumps(json_schema(), indent=2))
