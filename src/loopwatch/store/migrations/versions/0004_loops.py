"""Calls on whose way loops were cut are found by an index of their own: it holds no others."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the index."""
    few = sa.text("loop_aborts > 0")
    op.create_index(
        "ix_calls_loops", "calls", ["project_id", "at_us"], sqlite_where=few, postgresql_where=few
    )
