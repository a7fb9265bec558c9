"""The first schema: every table. Written out, so that it stays as it was when ``tables`` goes on."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    _alerts()
    _calls()
    _claims()
    _deliveries()
    _hourly()
    _keys()
    _outbox()
    _projects()
    _settings_audit()
    _user_months()
    _users()
    _window_buckets()


def _alerts() -> None:
    op.create_table(
        "alerts",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("observed", sa.BigInteger(), nullable=False),
        sa.Column("threshold", sa.BigInteger(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.Column("window_us", sa.BigInteger(), nullable=False),
        sa.Column("window_cost_nano", sa.BigInteger(), nullable=False),
        sa.Column("window_calls", sa.BigInteger(), nullable=False),
        sa.Column("window_unpriced", sa.BigInteger(), nullable=False),
        sa.Column("month_cost_nano", sa.BigInteger(), nullable=False),
        sa.Column("month_unpriced", sa.BigInteger(), nullable=False),
        sa.Column("feature", sa.Text(), nullable=True),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("plan", sa.Text(), nullable=True),
        sa.Column("at_us", sa.BigInteger(), nullable=False),
        sa.Column("suppressed", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_alerts_at", "alerts", ["project_id", "at_us"], unique=False)
    op.create_index("ix_alerts_user", "alerts", ["project_id", "user_id", "at_us"], unique=False)


def _calls() -> None:
    op.create_table(
        "calls",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("event_id", sa.Text(), nullable=False),
        sa.Column("at_us", sa.BigInteger(), nullable=False),
        sa.Column("received_us", sa.BigInteger(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("feature", sa.Text(), nullable=False),
        sa.Column("plan", sa.Text(), nullable=True),
        sa.Column("plan_revenue_nano", sa.BigInteger(), nullable=True),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("request_model", sa.Text(), nullable=False),
        sa.Column("response_model", sa.Text(), nullable=True),
        sa.Column("input_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cache_read_input_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cache_creation_input_tokens", sa.BigInteger(), nullable=False),
        sa.Column("output_tokens", sa.BigInteger(), nullable=False),
        sa.Column("reasoning_output_tokens", sa.BigInteger(), nullable=False),
        sa.Column("usage_source", sa.Text(), nullable=False),
        sa.Column("estimate_method", sa.Text(), nullable=True),
        sa.Column("latency_ms", sa.BigInteger(), nullable=True),
        sa.Column("cost_nano", sa.BigInteger(), nullable=True),
        sa.Column("loop_aborts", sa.BigInteger(), nullable=False),
        sa.Column("loop_abort_words", sa.BigInteger(), nullable=False),
        sa.Column("loop_abort_chars", sa.BigInteger(), nullable=False),
        sa.Column("loop_rule", sa.Text(), nullable=True),
        sa.Column("generation_ids", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("project_id", "event_id", name="uq_calls_event"),
    )
    op.create_index("ix_calls_at", "calls", ["project_id", "at_us"], unique=False)
    op.create_index("ix_calls_user", "calls", ["project_id", "user_id", "at_us"], unique=False)


def _claims() -> None:
    op.create_table(
        "claims",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("at_us", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )


def _deliveries() -> None:
    op.create_table(
        "deliveries",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("outbox_id", sa.Text(), nullable=False),
        sa.Column("at_us", sa.BigInteger(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_deliveries_outbox_id"), "deliveries", ["outbox_id"], unique=False)


def _hourly() -> None:
    op.create_table(
        "hourly",
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("hour_us", sa.BigInteger(), nullable=False),
        sa.Column("feature", sa.Text(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("calls", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("input_tokens", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("cache_read_input_tokens", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column(
            "cache_creation_input_tokens", sa.BigInteger(), server_default=sa.text("0"), nullable=False
        ),
        sa.Column("output_tokens", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("reasoning_output_tokens", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("cost_nano", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("unpriced", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("latency_ms", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("loop_aborts", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("loop_abort_words", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("loop_abort_chars", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "hour_us", "feature", "provider", "model"),
    )


def _keys() -> None:
    op.create_table(
        "keys",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("prefix", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("admin", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("created_us", sa.BigInteger(), nullable=False),
        sa.Column("expires_us", sa.BigInteger(), nullable=True),
        sa.Column("revoked_us", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("digest"),
    )
    op.create_index(op.f("ix_keys_project_id"), "keys", ["project_id"], unique=False)


def _outbox() -> None:
    op.create_table(
        "outbox",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("alert_id", sa.Text(), nullable=True),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("created_us", sa.BigInteger(), nullable=False),
        sa.Column("due_us", sa.BigInteger(), nullable=False),
        sa.Column("attempts", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_outbox_alert_id"), "outbox", ["alert_id"], unique=False)
    op.create_index("ix_outbox_due", "outbox", ["state", "due_us"], unique=False)
    op.create_index("ix_outbox_project", "outbox", ["project_id", "created_us"], unique=False)


def _projects() -> None:
    op.create_table(
        "projects",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_us", sa.BigInteger(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("settings_version", sa.BigInteger(), nullable=False),
        sa.Column("pseudonym_key", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )


def _settings_audit() -> None:
    op.create_table(
        "settings_audit",
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("at_us", sa.BigInteger(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("changed", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "version"),
    )


def _user_months() -> None:
    op.create_table(
        "user_months",
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("month", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("feature", sa.Text(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("calls", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("input_tokens", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("cache_read_input_tokens", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column(
            "cache_creation_input_tokens", sa.BigInteger(), server_default=sa.text("0"), nullable=False
        ),
        sa.Column("output_tokens", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("reasoning_output_tokens", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("cost_nano", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("unpriced", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("latency_ms", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("loop_aborts", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("loop_abort_words", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("loop_abort_chars", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("plan_revenue_nano", sa.BigInteger(), nullable=True),
        sa.Column("last_us", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "month", "user_id", "feature", "provider", "model"),
    )


def _users() -> None:
    op.create_table(
        "users",
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("plan", sa.Text(), nullable=True),
        sa.Column("plan_revenue_nano", sa.BigInteger(), nullable=True),
        sa.Column("first_us", sa.BigInteger(), nullable=False),
        sa.Column("last_us", sa.BigInteger(), nullable=False),
        sa.Column("revision", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("blocked", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("blocked_reason", sa.Text(), nullable=True),
        sa.Column("muted", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("last_alert_us", sa.BigInteger(), nullable=True),
        sa.Column("suppressed", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "user_id"),
    )


def _window_buckets() -> None:
    op.create_table(
        "window_buckets",
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("start_us", sa.BigInteger(), nullable=False),
        sa.Column("calls", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("fresh_tokens", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("cached_tokens", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("cost_nano", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("unpriced", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "user_id", "start_us"),
    )
    op.create_index("ix_window_buckets_start", "window_buckets", ["start_us"], unique=False)
