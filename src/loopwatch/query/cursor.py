"""Where the parser stands among the tokens, and the diagnostics that it has made."""

from loopwatch.query.aggregates import AGGREGATES
from loopwatch.query.diagnostics import Diagnostic, Span
from loopwatch.query.lex import Token, lex
from loopwatch.query.syntax import Field, Word

DEEPEST = 60
"""Parentheses within each other. More is no query that anybody wrote, and Python's stack ends."""


class Cursor:
    """The tokens of one query, read from left to right."""

    def __init__(self, text: str) -> None:
        self.tokens, self.diagnostics = lex(text)
        self.at = 0
        self.depth = 0

    @property
    def token(self) -> Token:
        """The next token; the last one stays."""
        return self.tokens[self.at]

    @property
    def following(self) -> Token:
        """The one after it."""
        return self.tokens[min(self.at + 1, len(self.tokens) - 1)]

    @property
    def behind(self) -> Span:
        """What was read last."""
        return self.tokens[max(0, self.at - 1)].span

    def take(self) -> Token:
        """The next token, and past it."""
        token = self.token
        self.at = min(self.at + 1, len(self.tokens) - 1)
        return token

    def takes(self, *signs: str) -> bool:
        """Whether one of these signs was next; then it is passed."""
        if not self.token.signs(*signs):
            return False
        self.take()
        return True

    def says(self, *words: str) -> bool:
        """Whether one of these keywords was next; then it is passed."""
        if not self.keyword(*words):
            return False
        self.take()
        return True

    def keyword(self, *words: str) -> bool:
        """Whether one of these keywords is next: a word before an operator is a field, not a keyword."""
        return self.token.says(*words) and not self.following.signs(*COMPARING)

    def ends(self) -> bool:
        """Whether nothing is left of this stage."""
        return self.token.kind == "end" or self.token.signs("|", "||")

    def tell(
        self,
        message: str,
        span: Span | None = None,
        *expected: str,
        suggestion: str = "",
        warning: bool = False,
    ) -> None:
        """Note what is wrong, at the next token where no place is given."""
        self.diagnostics.append(
            Diagnostic(
                message,
                self.token.span if span is None else span,
                expected,
                suggestion,
                "warning" if warning else "error",
            )
        )

    def skip_stage(self) -> None:
        """On to the next ``|``."""
        while not self.ends():
            self.take()

    def skip_joint(self) -> None:
        """Past a ``||`` that no condition can use."""
        self.takes("||")

    def literal(self) -> Word | None:
        """The next word or string, where one is."""
        if self.token.kind not in ("word", "string"):
            return None
        token = self.take()
        return Word(token.text, token.kind == "string", token.span)

    def field(self) -> Field | None:
        """The name of a field: words and strings without space between them, so that ``cap."x-y"`` is one.

        A column's own name, such as ``count()`` or ``p90(cost)``, is one too.
        """
        if self.token.kind not in ("word", "string"):
            return None
        first = last = self.take()
        name = first.text
        if first.kind == "word" and name.lower() in AGGREGATES and self.token.signs("("):
            return self._column(first)
        while self.token.kind in ("word", "string") and self._joins(last, self.token):
            last = self.take()
            name += last.text
        return Field(name, first.span.to(last.span))

    def _column(self, function: Token) -> Field:
        """The rest of ``p90(cost)``; where it is no such thing, the word alone."""
        before = self.at
        self.take()
        field = None if self.token.signs(")") else self.field()
        name = f"{function.text.lower()}({field.name if field else ''})"
        if self.takes(")"):
            return Field(name, function.span.to(self.behind))
        self.at = before
        return Field(function.text, function.span)

    @staticmethod
    def _joins(left: Token, right: Token) -> bool:
        """Whether two tokens are pieces of one name: they touch, and a dot stands between them."""
        touches = left.span.end == right.span.start
        return touches and (
            (left.kind == "word" and left.text.endswith("."))
            or (right.kind == "word" and right.text.startswith("."))
        )


COMPARING = (":", "!=", ">", ">=", "<", "<=", "=", "==", "=~", "!~")
"""What makes a field of the word before it. The last four are other languages'."""
