"""What Alembic runs: the steps, on the connection that ``schema`` hands it."""

from alembic import context

from loopwatch.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
    transaction_per_migration=False,
)
context.run_migrations()
