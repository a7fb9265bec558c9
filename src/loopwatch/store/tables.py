"""The tables. Money columns end in ``_nano`` (nano-USD), times in ``_us`` (microseconds since 1970, UTC).

The primary keys of the sums lead with the project, so that nothing is read across projects by accident.
User "" stands for everybody anonymous, feature "" for none: NULL would not be unique in a key.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
)

metadata = MetaData()

_BIG_ID = BigInteger().with_variant(Integer, "sqlite")
"""SQLite numbers rows by itself only where the column is INTEGER, which holds 64 bits too."""


def _number(name: str) -> Column[int]:
    """A sum or a count: 0 where nothing was added."""
    return Column(name, BigInteger, nullable=False, server_default=text("0"))


def _key(name: str) -> Column[str]:
    return Column(name, Text, primary_key=True)


def _flag(name: str) -> Column[bool]:
    return Column(name, Boolean, nullable=False, server_default=false())


def _sums() -> list[Column[int]]:
    """What is summed over calls; ``unpriced`` counts those whose cost is unknown and not in the sum."""
    return [_number(name) for name in SUMMED]


SUMMED = (
    "calls",
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
    "cost_nano",
    "unpriced",
    "latency_ms",
    "loop_aborts",
    "loop_abort_words",
    "loop_abort_chars",
)

projects = Table(
    "projects",
    metadata,
    _key("id"),
    Column("name", Text, nullable=False),
    Column("created_us", BigInteger, nullable=False),
    Column("settings", Text, nullable=False),
    Column("settings_version", BigInteger, nullable=False),
    Column("pseudonym_key", Text, nullable=False),
)

settings_audit = Table(
    "settings_audit",
    metadata,
    _key("project_id"),
    Column("version", BigInteger, primary_key=True),
    Column("at_us", BigInteger, nullable=False),
    Column("actor", Text, nullable=False),
    Column("changed", Text, nullable=False),
)

keys = Table(
    "keys",
    metadata,
    _key("id"),
    Column("project_id", Text, nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("prefix", Text, nullable=False),
    Column("digest", Text, nullable=False, unique=True),
    _flag("admin"),
    Column("created_us", BigInteger, nullable=False),
    Column("expires_us", BigInteger),
    Column("revoked_us", BigInteger),
)

LOOPED = text("loop_aborts > 0")
"""The few calls on whose way loops were cut. A text, since a parameter would not let their index be used."""

calls = Table(
    "calls",
    metadata,
    Column("id", _BIG_ID, primary_key=True),
    Column("project_id", Text, nullable=False),
    Column("event_id", Text, nullable=False),
    Column("at_us", BigInteger, nullable=False),
    Column("received_us", BigInteger, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("feature", Text, nullable=False),
    Column("plan", Text),
    Column("plan_revenue_nano", BigInteger),
    Column("provider", Text, nullable=False),
    Column("request_model", Text, nullable=False),
    Column("response_model", Text),
    Column("input_tokens", BigInteger, nullable=False),
    Column("cache_read_input_tokens", BigInteger, nullable=False),
    Column("cache_creation_input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("reasoning_output_tokens", BigInteger, nullable=False),
    Column("usage_source", Text, nullable=False),
    Column("estimate_method", Text),
    Column("latency_ms", BigInteger),
    Column("cost_nano", BigInteger),
    Column("loop_aborts", BigInteger, nullable=False),
    Column("loop_abort_words", BigInteger, nullable=False),
    Column("loop_abort_chars", BigInteger, nullable=False),
    Column("loop_rule", Text),
    Column("generation_ids", Text),
    UniqueConstraint("project_id", "event_id", name="uq_calls_event"),
    Index("ix_calls_user", "project_id", "user_id", "at_us"),
    Index("ix_calls_at", "project_id", "at_us"),
    Index("ix_calls_loops", "project_id", "at_us", sqlite_where=LOOPED, postgresql_where=LOOPED),
)

hourly = Table(
    "hourly",
    metadata,
    _key("project_id"),
    Column("hour_us", BigInteger, primary_key=True),
    _key("feature"),
    _key("provider"),
    _key("model"),
    *_sums(),
)

user_months = Table(
    "user_months",
    metadata,
    _key("project_id"),
    Column("month", Integer, primary_key=True, autoincrement=False),
    _key("user_id"),
    _key("feature"),
    _key("provider"),
    _key("model"),
    *_sums(),
    Column("plan_revenue_nano", BigInteger),
    Column("last_us", BigInteger, nullable=False),
)

users = Table(
    "users",
    metadata,
    _key("project_id"),
    _key("user_id"),
    Column("plan", Text),
    Column("plan_revenue_nano", BigInteger),
    Column("first_us", BigInteger, nullable=False),
    Column("last_us", BigInteger, nullable=False),
    _number("revision"),
    _flag("blocked"),
    Column("blocked_reason", Text),
    _flag("muted"),
    Column("last_alert_us", BigInteger),
    _number("suppressed"),
)

window_buckets = Table(
    "window_buckets",
    metadata,
    _key("project_id"),
    _key("user_id"),
    Column("start_us", BigInteger, primary_key=True),
    _number("calls"),
    _number("fresh_tokens"),
    _number("cached_tokens"),
    _number("cost_nano"),
    _number("unpriced"),
    Index("ix_window_buckets_start", "start_us"),
)

alerts = Table(
    "alerts",
    metadata,
    _key("id"),
    Column("project_id", Text, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("rule", Text, nullable=False),
    Column("observed", BigInteger, nullable=False),
    Column("threshold", BigInteger, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("window_us", BigInteger, nullable=False),
    Column("window_cost_nano", BigInteger, nullable=False),
    Column("window_calls", BigInteger, nullable=False),
    Column("window_unpriced", BigInteger, nullable=False),
    Column("month_cost_nano", BigInteger, nullable=False),
    Column("month_unpriced", BigInteger, nullable=False),
    Column("feature", Text),
    Column("provider", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("plan", Text),
    Column("at_us", BigInteger, nullable=False),
    Column("suppressed", BigInteger, nullable=False),
    Index("ix_alerts_at", "project_id", "at_us"),
    Index("ix_alerts_user", "project_id", "user_id", "at_us"),
)

outbox = Table(
    "outbox",
    metadata,
    _key("id"),
    Column("project_id", Text, nullable=False),
    Column("alert_id", Text, index=True),
    Column("channel", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("created_us", BigInteger, nullable=False),
    Column("due_us", BigInteger, nullable=False),
    _number("attempts"),
    Index("ix_outbox_due", "state", "due_us"),
    Index("ix_outbox_project", "project_id", "created_us"),
)

deliveries = Table(
    "deliveries",
    metadata,
    Column("id", _BIG_ID, primary_key=True),
    Column("outbox_id", Text, nullable=False, index=True),
    Column("at_us", BigInteger, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("detail", Text, nullable=False),
)

claims = Table("claims", metadata, _key("name"), Column("at_us", BigInteger, nullable=False))

members = Table(
    "members",
    metadata,
    _key("id"),
    Column("name", Text, nullable=False, unique=True),
    Column("role", Text, nullable=False),
    Column("password", Text, nullable=False),
    Column("created_us", BigInteger, nullable=False),
)

sessions = Table(
    "sessions",
    metadata,
    _key("digest"),
    Column("member_id", Text, nullable=False, index=True),
    Column("created_us", BigInteger, nullable=False),
    Column("seen_us", BigInteger, nullable=False),
    Column("expires_us", BigInteger, nullable=False),
    Column("browser", Text, nullable=False),
)

invitations = Table(
    "invitations",
    metadata,
    _key("digest"),
    Column("role", Text, nullable=False),
    Column("invited_by", Text, nullable=False),
    Column("created_us", BigInteger, nullable=False),
    Column("expires_us", BigInteger, nullable=False),
)

attempts = Table(
    "attempts",
    metadata,
    _key("name"),
    _number("count"),
    Column("since_us", BigInteger, nullable=False),
)

secrets = Table("secrets", metadata, _key("name"), Column("value", Text, nullable=False))

configurations = Table(
    "configurations",
    metadata,
    _key("id"),
    Column("project_id", Text, nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("document", Text, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("created_us", BigInteger, nullable=False),
    Column("updated_us", BigInteger, nullable=False),
    Column("updated_by", Text, nullable=False),
)

configuration_changes = Table(
    "configuration_changes",
    metadata,
    _key("project_id"),
    _key("configuration_id"),
    Column("version", BigInteger, primary_key=True),
    Column("name", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("at_us", BigInteger, nullable=False),
    Column("actor", Text, nullable=False),
    Index("ix_configuration_changes_at", "project_id", "at_us"),
)

audit = Table(
    "audit",
    metadata,
    Column("id", _BIG_ID, primary_key=True),
    Column("project_id", Text, nullable=False),
    Column("at_us", BigInteger, nullable=False),
    Column("actor", Text, nullable=False),
    Column("what", Text, nullable=False),
    Column("user_id", Text, nullable=False),
    Index("ix_audit_project", "project_id", "id"),
)
