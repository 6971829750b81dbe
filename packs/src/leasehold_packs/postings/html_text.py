"""Markup of job boards as text: one line for each paragraph, and nothing that a reader does not see."""

import html
import re
from urllib.parse import urlsplit

from leasehold_packs.webfacts.dom import parse

#: Longer descriptions are cut; real ones have some 5,000 characters.
MOST = 60_000
_BREAK = re.compile(r"(?i)<br\s*/?>|</(?:p|div|li|ul|ol|h[1-6]|tr|section|article|table)\s*>")
_INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")


def from_html(markup: object) -> str:
    """The text of a description; empty for what is no text."""
    if not isinstance(markup, str) or not markup:
        return ""
    tree = parse(_BREAK.sub("\n\\g<0>", markup[: 4 * MOST]))
    tree.strip_tags(["script", "style", "noscript", "template", "svg", "iframe", "object"])
    return plain(tree.body.text() if tree.body else "")


def from_escaped(markup: object) -> str:
    """The same where the markup was escaped once more, as Greenhouse does."""
    return from_html(html.unescape(markup)) if isinstance(markup, str) else ""


def plain(text: object) -> str:
    """Lines of single spaces, without empty ones and without characters that nobody sees."""
    lines = (" ".join(line.split()) for line in _INVISIBLE.sub("", text if isinstance(text, str) else "").splitlines())
    return "\n".join(line for line in lines if line)[:MOST]


def web_address(url: str) -> str:
    """The address, if it is a whole one of the web; else nothing."""
    try:
        parsed = urlsplit(url)
    except ValueError:
        return ""
    is_whole = parsed.scheme in ("http", "https") and parsed.hostname and not (parsed.username or parsed.password)
    return url if is_whole and url == "".join(url.split()) else ""


def short(value: object, most: int = 300) -> str | None:
    """One line of at most so many characters; None for what is no text or has no words."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return " ".join(_INVISIBLE.sub("", str(value)).split())[:most] or None
