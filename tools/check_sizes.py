"""Print the modules over 400 lines and the functions over 50, and fail if there are any."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

MODULE_LINES = 400
FUNCTION_LINES = 50


def offenders(path: Path) -> Iterator[str]:
    """What is too long in one file."""
    source = path.read_text(encoding="utf-8")
    lines = source.count("\n")
    if lines > MODULE_LINES:
        yield f"{path}: {lines} lines, more than {MODULE_LINES}"
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LINES:
                yield f"{path}:{node.lineno}: {node.name} has {length} lines, more than {FUNCTION_LINES}"


if __name__ == "__main__":
    found = [line for path in sorted(Path("src").rglob("*.py")) for line in offenders(path)]
    print("\n".join(found) or "Sizes: every module and function within its limit.")
    sys.exit(bool(found))
