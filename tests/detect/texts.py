"""Texts that more than one test of the detector reads."""

from collections.abc import Iterator

from loopwatch.detect.detector import LoopDetector
from loopwatch.detect.settings import LoopDetection
from loopwatch.detect.trip import Trip


def pieces(text: str, size: int) -> Iterator[str]:
    """``text`` in deltas of ``size`` characters."""
    return (text[start : start + size] for start in range(0, len(text), size))


def read(text: str, settings: LoopDetection, size: int = 7) -> tuple[Trip | None, LoopDetector]:
    """Push ``text`` in deltas of ``size`` until it trips; the verdict and the detector."""
    detector = LoopDetector(settings)
    for piece in pieces(text, size):
        if detector.push(piece) is not None:
            break
    return detector.trip, detector


def seed(
    window: int = 256, threshold: int = 32, offenders: int = 2, run: int = 3_000, ceiling: int = 250_000
) -> LoopDetection:
    """The seed's rule with these five knobs."""
    return LoopDetection(
        window_words=window,
        repeat_threshold=threshold,
        min_offenders=offenders,
        min_saturated_run=run,
        max_response_chars=ceiling,
    )


def novel(words: int) -> str:
    """So many words of which no two are equal."""
    return " ".join(f"n{number}x" for number in range(words)) + "\n"


def tilemap(columns: int, rows: int) -> str:
    """The seed's kind of level: a literal of tile ids from a generator with a fixed seed."""
    state = 0x5EED1337
    lines = []
    for row in range(rows):
        cells = []
        for column in range(columns):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            draw = (state >> 33) % 20
            tile = 0 if draw <= 10 else 1 if draw <= 16 else 2 if draw <= 18 else 3
            last = row == rows - 1 and column == columns - 1
            cells.append(f"{tile}" if last else f"{tile},")
        lines.append("  " + " ".join(cells))
    return "const NAME = [\n" + "\n".join(lines) + "\n];\n"


def grid(entries: int, shares: tuple[int, int, int, int]) -> str:
    """Entries ``0,`` to ``3,`` in these shares of a hundred, from another fixed generator."""
    state = 2024
    limits = [sum(shares[: index + 1]) for index in range(4)]
    words = []
    for _ in range(entries):
        state = (1103515245 * state + 12345) % 2**31
        draw = (state >> 16) % 100
        words.append(f"{next(tile for tile, limit in enumerate(limits) if draw < limit)},")
    return " ".join(words) + " "
