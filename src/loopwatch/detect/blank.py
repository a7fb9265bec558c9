r"""Rule ``blank``: white space without end.

What it sees: the tail is nothing but white space. A model held to a JSON grammar that has nothing
left to say may write blanks and line breaks for ever, since the grammar allows them anywhere. Inside
a JSON string, and in tool arguments, the same appears as ``\n\n\n…`` written out, in HTML as
``&nbsp;``; these count as white space too.

What it must not confuse it with: the gaps of a form or a letterhead laid out with blanks, 900 of
them at the longest in the corpus.
"""

from loopwatch.detect.characters import BLANKS
from loopwatch.detect.finding import Approach, Finding

WRITTEN_BLANKS = ("\\n", "\\t", "\\r", "&nbsp;")
BEGINNINGS = ("&nbsp", "&nbs", "&nb", "&n", "&", "\\")
"""What a block may end in and the next complete to a written blank, the longest first."""


class Blank:
    """Reads a reply block by block and keeps where its last visible character stands."""

    __slots__ = ("_limit", "_pending", "_visible_end", "approach")

    def __init__(self, limit: int) -> None:
        """Take the number of characters of white space at which a reply is a loop."""
        self._limit = limit
        self._pending = ""
        self._visible_end = 0
        self.approach = Approach("blank", 0.0, 0, "no white space")

    def read(self, block: str, end: int) -> Finding | None:
        """Take the block that ends at character ``end``; return the loop, if it is one by now."""
        settled_end = end
        if self._pending or "\\" in block or "&" in block:
            block, self._pending = _settled(self._pending + block)
            settled_end -= len(self._pending)
        visible = block.rstrip(BLANKS)
        if visible:
            self._visible_end = settled_end - len(block) + len(visible)
        run = settled_end - self._visible_end
        if run > self.approach.share * self._limit:
            detail = f"{run} characters of white space of {self._limit}"
            self.approach = Approach("blank", run / self._limit, end, detail)
        return Finding(self._visible_end) if run >= self._limit else None


def _settled(text: str) -> tuple[str, str]:
    """``text`` with each written blank as that many real ones, and the end of it that is not decided yet."""
    for written in WRITTEN_BLANKS:
        text = text.replace(written, " " * len(written))
    undecided = next((beginning for beginning in BEGINNINGS if text.endswith(beginning)), "")
    return text[: len(text) - len(undecided)], undecided
