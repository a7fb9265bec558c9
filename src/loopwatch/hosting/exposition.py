"""Prometheus' text format, as far as we write it: https://prometheus.io/docs/instrumenting/exposition_formats/."""

from collections.abc import Iterator

KIND = "text/plain; version=0.0.4; charset=utf-8"
"""The content type."""


def heading(metric: str, kind: str, meaning: str) -> Iterator[str]:
    """The two lines before a metric's values; ``kind`` is ``counter`` or ``gauge``."""
    yield f"# HELP {metric} {meaning}"
    yield f"# TYPE {metric} {kind}"
