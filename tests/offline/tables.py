"""Parquet files to scan."""

from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet


def table(path: Path, columns: dict[str, Any], row_group: int = 1_000) -> Path:
    """A file of these columns, in row groups of so many rows."""
    parquet.write_table(pa.table(columns), path, row_group_size=row_group)
    return path
