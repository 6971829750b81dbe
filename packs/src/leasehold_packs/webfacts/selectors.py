"""CSS selectors that people give us: tried, unless they would look at a page for longer than anybody waits.

Siblings are counted anew for each element, and ``:has`` looks for all that is in it from each element: the steps are a
power of the number of elements.
"""

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from leasehold.errors import BadInput

_STEPS = 400_000_000
_SIBLINGS = re.compile(r"~(?!=)|:nth-", re.IGNORECASE)
#: Letters may be written as numbers.
_INSIDE = re.compile(r":has\(|\\[0-9a-f]", re.IGNORECASE)


def select_first(tree: LexborHTMLParser, selector: str, *, text: str) -> LexborNode | None:
    """The first element of a page, whose ``text`` this is, that a selector finds."""
    if (text.count("<") + 1) ** _power(selector) > _STEPS:
        raise BadInput(
            f"{selector[:200]!a} takes too long on a page of this size",
            hint="leave out :has, ~ or :nth-…, or use fewer of them; classes are quick",
        )
    try:
        found: LexborNode | None = tree.css_first(selector)
    except SelectolaxError:
        raise BadInput(f"{selector[:200]!a} is not a CSS selector", hint="such as .product .price") from None
    return found


def _power(selector: str) -> int:
    siblings, inside = len(_SIBLINGS.findall(selector)), len(_INSIDE.findall(selector))
    return 1 + inside + siblings if inside else 1 + min(1, siblings)
