"""``loopwatch db``: the schema brought up to date, and a copy of SQLite while it is in use."""

from pathlib import Path

import click

from loopwatch.cli.database import address, db_option, run


@click.group(epilog="Example: loopwatch db backup /var/backups/loopwatch.db")
def db() -> None:
    """Upgrade or back up the database."""


@db.command(epilog="Example: loopwatch db upgrade --db postgresql://loopwatch@db.internal/loopwatch")
@db_option
def upgrade(database: str | None) -> None:
    """Bring the schema up to date; nothing happens where it is."""
    run(_upgrade(address(database)))


async def _upgrade(url: str) -> None:
    from loopwatch.clock import SystemClock
    from loopwatch.store import schema
    from loopwatch.store.engines import open_database

    opened = open_database(url, SystemClock())
    try:
        before = await schema.version(opened)
        await schema.upgrade(opened)
    finally:
        await opened.engine.dispose()
    done = "is up to date" if before == schema.NEWEST else "was brought up to date"
    click.echo(f"The database {done}: version {schema.NEWEST}", err=True)


@db.command(epilog="Example: loopwatch db backup /var/backups/loopwatch.db")
@click.argument("target", type=click.Path(path_type=Path))
@db_option
def backup(target: Path, database: str | None) -> None:
    """Copy a SQLite database to TARGET, whole and consistent, while it is in use."""
    run(_backup(target, database))
    click.echo(f"Copied to {target}", err=True)


async def _backup(target: Path, database: str | None) -> None:
    from loopwatch.cli.database import opened

    async with opened(database) as store:
        await store.upkeep.backup(target)
