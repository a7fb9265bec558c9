"""Rule ``words``: several words, each over-represented in the recent window, for a long stretch.

What it sees: periods of two to seven words. ``void 0; void 0; …`` is abandoned at word 3,065. What
it must not confuse it with: data. Two or three tile ids fill a third of any window of a map; but a
map ends, so only a run of ``min_saturated_run`` words without one unsaturated word is a loop.

What it cannot see: one word alone (a phrase is two), periods of eight words and more (a word said
once in eight is just not over 32 in 256), and text without blanks, whose 128-character slices take
384,000 characters to fill the run.

The rule and every figure are the first seed's ("The rule", "What a word is"); so is the order in
which a word is counted: push, then evict, then judge.
"""

import re
from array import array
from collections.abc import Iterator

from loopwatch.detect.characters import BLANKS, visible_run
from loopwatch.detect.finding import Approach
from loopwatch.detect.settings import LoopDetection

WORD_CAP = 128
"""Characters at which an unfinished word is cut: above any identifier, URL or base64 line that a
model writes as one run, and what bounds the memory (the seed)."""

odd_separator = re.compile("[\x1c-\x1f]")
"""What ``str.split`` takes for white space though it is none."""


class WordCutter:
    """Cuts a stream into words at white space, wherever its pieces were cut."""

    __slots__ = ("_pending",)

    def __init__(self) -> None:
        """Start at the beginning of a reply."""
        self._pending = ""

    def cut(self, text: str) -> Iterator[tuple[str, int]]:
        """Yield each word that ends in ``text`` with the offset just past what ended it.

        A word ends with the white space after it, or on its 128th character.
        """
        pending = self._pending
        if pending and text and text[0] in BLANKS:
            yield pending, 1
            pending = ""
        for found in visible_run.finditer(text):
            start, stop = found.span()
            while len(pending) + stop - start >= WORD_CAP:
                middle = start + WORD_CAP - len(pending)
                yield pending + text[start:middle], middle
                pending, start = "", middle
            pending += text[start:stop]
            if pending and stop < len(text):
                yield pending, stop + 1
                pending = ""
        self._pending = pending


class WordCount:
    """How many words have ended, by the cutter's rules, without building them."""

    __slots__ = ("_pending", "total")

    def __init__(self) -> None:
        """Start at the beginning of a reply."""
        self._pending = 0
        self.total = 0

    @property
    def open(self) -> bool:
        """Whether a word has begun that has not ended."""
        return self._pending > 0

    def read(self, text: str) -> None:
        """Count the words that end in ``text``."""
        if not text:
            return
        runs = visible_run.findall(text) if odd_separator.search(text) else text.split()
        if self._pending and (not runs or text[0] in BLANKS):
            self.total += 1
            self._pending = 0
        if not runs:
            return
        open_end = text[-1] not in BLANKS
        runs[0] = "x" * self._pending + runs[0]
        self._pending = 0
        self.total += len(runs)
        for run in runs if len(text) >= WORD_CAP or len(runs[0]) >= WORD_CAP else ():
            if len(run) >= WORD_CAP:
                self.total += len(run) // WORD_CAP - (len(run) % WORD_CAP == 0)
        if open_end:
            self._pending = len(runs[-1]) % WORD_CAP
            self.total -= self._pending > 0


class WordSaturation:
    """The window of word hashes, its offenders and the saturated run."""

    __slots__ = (
        "_chars",
        "_counts",
        "_cutter",
        "_min_offenders",
        "_min_run",
        "_oldest",
        "_size",
        "_threshold",
        "_window",
        "offenders",
        "peak_saturated_run",
        "saturated_from",
        "saturated_run",
        "words_seen",
    )

    def __init__(self, settings: LoopDetection) -> None:
        """Take the seed's four knobs from ``settings``."""
        self._size = settings.window_words
        self._threshold = settings.repeat_threshold
        self._min_offenders = settings.min_offenders
        self._min_run = settings.min_saturated_run
        self._window = array("q")  # 64 bits of hash a word; never stored, so the salt of a process is no harm
        self._oldest = 0
        self._counts: dict[int, int] = {}
        self._cutter = WordCutter()
        self._chars = 0
        self.words_seen = 0
        self.offenders = 0
        self.saturated_run = 0
        self.saturated_from = 0
        self.peak_saturated_run = 0

    def read(self, text: str) -> int | None:
        """Count the words that end in ``text``; at a trip stop, and return the offset past the last."""
        counts, window, size, oldest = self._counts, self._window, self._size, self._oldest
        offenders, run, full = self.offenders, self.saturated_run, len(self._window) == self._size
        tripped = None
        for word, stop in self._cutter.cut(text):
            self.words_seen += 1
            key = hash(word)
            count = counts.get(key, 0) + 1
            counts[key] = count
            if count == self._threshold + 1:
                offenders += 1
            if full:
                old = window[oldest]
                window[oldest] = key
                oldest = oldest + 1 if oldest + 1 < size else 0
                left = counts[old] - 1
                if left:
                    counts[old] = left
                else:
                    del counts[old]
                if left == self._threshold:
                    offenders -= 1
            else:
                window.append(key)
                full = len(window) == size
            if offenders < self._min_offenders:
                run = 0
                continue
            run += 1
            if run == 1:
                self.saturated_from = self._chars + stop
            self.peak_saturated_run = max(self.peak_saturated_run, run)
            if full and run >= self._min_run:
                tripped = stop
                break
        self._oldest, self.offenders, self.saturated_run = oldest, offenders, run
        if tripped is None:
            self._chars += len(text)
        return tripped

    @property
    def slack(self) -> int:
        """The least number of characters that may bring a trip: a word has one, and a blank behind it."""
        words = max(1, self._min_run - self.saturated_run, self._size - len(self._window))
        return 2 * words - 1

    @property
    def approach(self) -> Approach:
        """The longest saturated run against the one that trips."""
        share = min(1.0, self.peak_saturated_run / self._min_run) if self._min_run else 0.0
        detail = f"{self.peak_saturated_run} saturated words in a row of {self._min_run}"
        return Approach("words", share, self.saturated_from, detail)

    def occurrences(self, word: str) -> int:
        """How often ``word`` stands in the window."""
        return self._counts.get(hash(word), 0)

    @property
    def window_length(self) -> int:
        """How many words the window holds by now."""
        return len(self._window)

    @property
    def tracked(self) -> int:
        """How many distinct words the window holds; never more than its length."""
        return len(self._counts)
