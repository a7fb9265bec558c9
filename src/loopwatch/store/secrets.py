"""The secret that all servers of a database sign with: made once, by whichever comes first."""

import secrets as random

from sqlalchemy import select

from loopwatch.store.dialect import insert
from loopwatch.store.engines import Database
from loopwatch.store.tables import secrets

SIGNING = "signing"


class Secrets:
    """The secrets of a database. Whoever can read it could forge what is signed; they have it all anyway."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def signing(self) -> bytes:
        """The secret that sessions, forms and links are signed with."""
        wanted = select(secrets.c.value).where(secrets.c.name == SIGNING)
        async with self._database.reading() as connection:
            found = (await connection.execute(wanted)).scalar_one_or_none()
        if found is None:
            made = insert(self._database.dialect, secrets).values(name=SIGNING, value=random.token_hex(32))
            async with self._database.writing() as connection:
                await connection.execute(made.on_conflict_do_nothing())
                found = (await connection.execute(wanted)).scalar_one()
        return str(found).encode()
