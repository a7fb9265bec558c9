import pytest
from sqlalchemy import text

from loopwatch.errors import InputError
from loopwatch.store.engines import parse
from loopwatch.store.opening import Store


@pytest.mark.parametrize(
    ("url", "driver", "database"),
    [
        ("sqlite:////var/lib/x.db", "sqlite+aiosqlite", "/var/lib/x.db"),
        ("sqlite:///x.db", "sqlite+aiosqlite", "x.db"),
        ("postgresql://ann:pw@db:5433/loops", "postgresql+asyncpg", "loops"),
        ("postgres://ann@db/loops", "postgresql+asyncpg", "loops"),
    ],
)
def test_an_address_gets_its_driver(url: str, driver: str, database: str) -> None:
    assert (parse(url).drivername, parse(url).database) == (driver, database)


@pytest.mark.parametrize(
    "url", ["", "x.db", "sqlite://", "sqlite:///:memory:", "mysql://ann:CANARY@db/x", "postgresql:/x", "://"]
)
def test_what_is_no_database_is_refused_without_being_shown(url: str) -> None:
    with pytest.raises(InputError, match="must be sqlite:///PATH or postgresql://") as refused:
        parse(url)
    assert "CANARY" not in str(refused.value)


async def test_sqlite_syncs_its_log_with_every_commit(store: Store) -> None:
    if not store.database.is_sqlite:
        return
    async with store.database.reading() as connection:
        assert (await connection.execute(text("PRAGMA journal_mode"))).scalar_one() == "wal"
        assert (await connection.execute(text("PRAGMA synchronous"))).scalar_one() == 2  # FULL
