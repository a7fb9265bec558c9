"""Rule ``phrases``: nothing new is said any more.

What it sees: loops that are not periodic. Two paragraphs in irregular order, the same words under
shifting punctuation (``refrain``), lines drawn from a small stock, a verification that begins again
and again, a command that grows by a copy of itself. Among the recent words nearly every four-word phrase has
been said three times before, none is new, and no clause is.

What it must not confuse it with, and what keeps it from that:

* a form filled in again and again (forty rooms with the same seven points, a hundred resources, an
  API description): each copy brings a new name or number, and with it four new phrases;
* a passage repeated with care two or three times: it takes a fourth copy;
* cells: names of tiles, yes and no, null after null. They are few, and each stands alone between
  its marks, where clauses have several words;
* numbers written out as words, or a search narrated step by step: few words and few phrases, but
  every clause is new;
* data: words, not numbers, must prevail. Placeholder text from nineteen words has few words and yet
  almost never the same four in a row.

Phrases are kept as fingerprints in tables of a fixed size, where a newer one replaces an older one
of the same place: the memory is bounded, and text made to collide costs nothing but forgetting.
"""

from array import array
from collections import deque
from typing import NamedTuple
from zlib import crc32

from loopwatch.detect.characters import clause_mark, word_or_number
from loopwatch.detect.finding import Approach, Finding
from loopwatch.detect.refrain import Refrain
from loopwatch.detect.settings import PhrasePatience

STRIDE = 256
"""Characters read at a time: two blocks. The rule is patient, so it may be late by a few lines."""

RECYCLED_AT = 3
"""Said three times before: the fourth copy is the first that counts as recycled."""

CLAUSE_WORDS = 16
"""A clause is cut here at the latest; text without any mark would be one clause for ever."""

TOKEN_CAP = 64
"""Characters after which a word is taken as read, so that what waits for its end is bounded."""

TABLE_SLOTS = 16_381
"""A prime just below 2**14: the phrases of the last ten thousand words mostly keep their places."""

COUNT_BITS = 3
PLACE_BITS = 12
COUNT_MASK = (1 << COUNT_BITS) - 1
PLACE_MASK = (1 << PLACE_BITS) - 1
"""An entry holds a phrase's fingerprint, the stride in which it was first said (exact in the first
million characters), and how often it was said (up to 7)."""

MIX = 31
"""Fingerprints are polynomials in this over 32-bit word hashes: four words stay below 2**47."""

PAST_DIGITS = ":"
"""Words that sort behind it are no numbers."""

LATIN = "\u0dff"
"""Beyond this a character alone may be a word: Thai, kana, Han."""

ALMOST = 0.99
"""How near recycled phrases come that are no clauses."""

ONSET_SHARE = 10
"""A tenth of the recycled phrases may be ordinary words of the sound text before the loop."""


class _Taken(NamedTuple):
    """What one stretch added: its words, how many of their phrases were new, where the recycled began."""

    words: list[str]
    new: int
    first_said: list[int]


class _Clause(NamedTuple):
    """A clause, a line or a list entry that has ended."""

    new: bool
    words: int


class Phrases:
    """Reads a reply block by block and says when its recent words are nothing but recycled phrases."""

    __slots__ = (
        "_clause",
        "_clauses",
        "_last",
        "_lasted",
        "_new",
        "_patience",
        "_phrases",
        "_recent_clauses",
        "_recycled",
        "_refrain",
        "_size",
        "_text",
        "_unread",
        "_window",
        "approach",
    )

    def __init__(self, patience: PhrasePatience) -> None:
        """Start at the beginning of a reply."""
        self._patience = patience
        self._text = ""
        self._unread = 0
        self._phrases = array("Q", bytes(8 * TABLE_SLOTS))
        self._clauses = array("Q", bytes(8 * TABLE_SLOTS))
        self._last = [0, 0, 0]
        self._window: deque[_Taken] = deque()
        self._size = self._new = self._recycled = self._lasted = 0
        self._recent_clauses: deque[_Clause] = deque(maxlen=patience.clauses)
        self._clause: list[str] = []
        self._refrain: Refrain | None = None
        self.approach = Approach("phrases", 0.0, 0, "no phrase came back")

    def read(self, block: str, end: int) -> Finding | None:
        """Take the block that ends at character ``end``; return the loop, if it is one by now."""
        self._text += block
        self._unread += len(block)
        if self._unread < STRIDE:
            return None
        text = self._text
        words = word_or_number.findall(text)
        self._text = ""
        if words and len(words[-1]) < TOKEN_CAP and text.endswith(words[-1]):
            self._text = words.pop()
            text = text[: len(text) - len(self._text)]
        taken = self._take(words, end - self._unread)
        self._unread = 0
        self._slide(taken)
        lexical = sum(map(PAST_DIGITS.__lt__, words))
        if 2 * taken.new > len(words) or lexical < self._patience.lexical * len(words):
            # Something is being said, or it is data: clauses and refrains can wait.
            self._clause.clear()
            self._refrain = None
            self._lasted //= 2
            return None
        self._take_clauses(text)
        self._refrain = self._refrain or Refrain()
        onset = self._refrain.read(words, end - len(self._text), self._patience.refrain_chars)
        if onset is not None:
            return Finding(onset)
        return self._judge(end) if 2 * self._recycled >= self._size >= self._patience.window else None

    def _take(self, words: list[str], at: int) -> _Taken:
        """Look up the phrases that end in ``words``, of which the first is near character ``at``."""
        table = self._phrases
        keys = self._last + list(map(crc32, map(str.encode, words)))
        self._last = keys[-3:]
        fresh = min(at // STRIDE, PLACE_MASK) << COUNT_BITS | 1
        first_said: list[int] = []
        known = 0
        for one, two, three, four in zip(keys, keys[1:], keys[2:], keys[3:], strict=False):
            phrase = ((one * MIX + two) * MIX + three) * MIX + four
            slot = phrase % TABLE_SLOTS
            entry = table[slot]
            if entry >> PLACE_BITS + COUNT_BITS != phrase:
                table[slot] = phrase << PLACE_BITS + COUNT_BITS | fresh
                continue
            known += 1
            times = entry & COUNT_MASK
            if times < COUNT_MASK:
                table[slot] = entry + 1
            if times >= RECYCLED_AT:
                first_said.append((entry >> COUNT_BITS & PLACE_MASK) * STRIDE)
        return _Taken(words, len(words) - known, first_said)

    def _take_clauses(self, text: str) -> None:
        """Look up the clauses that end in ``text``. Text full of new phrases is spared this."""
        *ended, rest = clause_mark.split(text)
        clause = self._clause
        for piece in ended:
            clause += word_or_number.findall(piece)
            self._cut_long(clause)
            self._end_clause(clause)
        clause += word_or_number.findall(rest)
        self._cut_long(clause)

    def _cut_long(self, clause: list[str]) -> None:
        """Cut what is too long for one clause."""
        while len(clause) > CLAUSE_WORDS:
            self._end_clause(clause[:CLAUSE_WORDS])
            del clause[:CLAUSE_WORDS]

    def _end_clause(self, clause: list[str]) -> None:
        if clause:
            key = crc32(" ".join(clause).encode()) + 1
            slot = key % TABLE_SLOTS
            self._recent_clauses.append(_Clause(self._clauses[slot] != key, len(clause)))
            self._clauses[slot] = key
            clause.clear()

    def _slide(self, taken: _Taken) -> None:
        """Put a stretch into the window, which holds as few stretches as have the words it needs."""
        window = self._window
        if not taken.words:
            return  # marks alone neither say nor repeat anything
        window.append(taken)
        self._size += len(taken.words)
        self._new += taken.new
        self._recycled += len(taken.first_said)
        while self._size - len(window[0].words) >= self._patience.window:
            gone = window.popleft()
            self._size -= len(gone.words)
            self._new -= gone.new
            self._recycled -= len(gone.first_said)

    def _judge(self, end: int) -> Finding | None:
        patience, size = self._patience, self._size
        if len(self._recent_clauses) < patience.clauses:
            return None
        new_clauses = sum(clause.new for clause in self._recent_clauses)
        share = min(
            self._recycled / (patience.recycled * size),
            _within(self._new, patience.new_phrases * size),
            _within(new_clauses, patience.new_clauses * patience.clauses),
        )
        holds = share >= 1 and not self._is_data()
        self._lasted = self._lasted + len(self._window[-1].words) if holds else self._lasted // 2
        if holds:
            share = self._lasted / max(patience.lasting, self._lasted)
        elif share >= 1:
            share = ALMOST
        if share > self.approach.share:
            said = (
                f"{self._recycled} of {size} phrases said before, {self._new} new, {new_clauses} new clauses"
            )
            self.approach = Approach("phrases", share, end, f"{said}, for {self._lasted} words")
        return Finding(self._onset()) if holds and self._lasted >= patience.lasting else None

    def _is_data(self) -> bool:
        """Whether the recent words are numbers, single letters or cells rather than clauses."""
        lexical = [
            word
            for taken in self._window
            for word in taken.words
            if word > PAST_DIGITS and (len(word) > 1 or word > LATIN)
        ]
        clause_words = sum(clause.words for clause in self._recent_clauses)
        return (
            len(lexical) < self._patience.lexical * self._size
            or len(set(lexical)) < self._patience.distinct
            or clause_words < self._patience.clause_words * len(self._recent_clauses)
        )

    def _onset(self) -> int:
        """Where the first tenth of the recycled phrases had been said for the first time."""
        said = sorted(at for taken in self._window for at in taken.first_said)
        return said[len(said) // ONSET_SHARE]


def _within(count: int, limit: float) -> float:
    """1 where ``count`` keeps to ``limit``, less the further it is above."""
    return 1.0 if count <= limit else limit / count
