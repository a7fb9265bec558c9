"""Logs: for people on a terminal, one JSON object a line elsewhere. Never a body, a key or a prompt."""

import logging
import sys

import structlog


def configure(*, people: bool, level: int = logging.INFO) -> None:
    """Send every log of this process to standard error, for ``people`` or for programs."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    rendering: list[structlog.typing.Processor] = (
        [structlog.dev.ConsoleRenderer()]
        if people
        else [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *rendering],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    logging.getLogger("alembic").setLevel(logging.WARNING)  # every step of every start is too much
