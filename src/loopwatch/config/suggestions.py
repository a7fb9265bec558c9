"""What a misspelt name was probably meant to be."""

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

from loopwatch.config.defects import discreet, looks_like_key, printable

MOST_KNOWN = 50
"""Known names that a misspelt one is compared with: a hostile document may have thousands of each."""
MOST_LISTED = 20


def nearest(name: str, known: Iterable[str]) -> str:
    """``": did you mean `…`?"``, else the known names; "" where there are none. Case and `_` do not count."""
    names = [one for one in islice(dict.fromkeys(known), MOST_KNOWN) if not looks_like_key(one)]
    plain = {_plain(one): one for one in names}
    close = get_close_matches(_plain(name), plain, n=1)
    if close:
        return f": did you mean `{printable(discreet(plain[close[0]]))}`?"
    if not names:
        return ""
    return f": there is {', '.join(printable(discreet(one)) for one in names[:MOST_LISTED])}"


def _plain(name: str) -> str:
    return name[:100].casefold().replace("_", "").replace("-", "")
