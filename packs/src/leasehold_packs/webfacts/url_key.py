"""Which URLs are the same page: one key for all spellings of a URL, and never one key for two pages.

Dropped: fragments, default ports, session ids and the marks that advertisers add. Kept: the order of repeated
parameters, empty ones, the case and the last slash of the path, and every parameter that may choose a variant.
"""

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from urllib.parse import quote_plus, unquote_to_bytes

import ada_url

from leasehold.errors import BadInput

# Stored beside the keys, so that they can be made anew when the rules change.
VERSION = 1

_TRACKING = """
    gclid gbraid wbraid dclid gad_source gclsrc fbclid msclkid ttclid twclid yclid igshid mc_cid mc_eid _ga _gl srsltid
    vero_id _hsenc _hsmi mkt_tok
"""
_SESSIONS = "sessionid sid phpsessid jsessionid"
_MEANINGLESS = frozenset(f"{_TRACKING} {_SESSIONS}".split())
_START = re.compile(r"https?://", re.IGNORECASE)
_SESSION = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/;]*", re.IGNORECASE)
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_AMAZON = re.compile(r"(?:.*\.)?amazon\.(?:com?\.)?[a-z]{2,3}")
_AMAZON_ITEM = re.compile(r"/(?:dp|gp/product|gp/aw/d)/([A-Z0-9]{10})(?![A-Z0-9])")


def url_key(url: str, *, drop: Collection[str] = (), keep_hashbang: bool = False) -> str:
    """The key of a whole http(s) URL; ``drop`` names further parameters that mean nothing on this site."""
    parsed = _parsed(url)
    parsed.pathname = _SESSION.sub("", parsed.pathname)
    path = _unescaped(parsed.pathname)
    origin = f"{parsed.protocol}//{parsed.host}"
    if _AMAZON.fullmatch(parsed.hostname) and (item := _AMAZON_ITEM.search(path)):
        return f"{origin}/dp/{item[1]}"
    query = "&".join(_parameters(parsed.search.removeprefix("?"), _MEANINGLESS.union(map(str.lower, drop))))
    fragment = parsed.hash if keep_hashbang and parsed.hash.startswith("#!") else ""
    return origin + path + (f"?{query}" if query else "") + fragment


@lru_cache(maxsize=20_000)  # the pages of a site lead to each other
def plain_url(url: str | None) -> str | None:
    """The one spelling of a page's address; None for what is no page."""
    try:
        return url_key(url) if url else None
    except BadInput:
        return None


def _parsed(url: str) -> ada_url.URL:
    try:
        if not _START.match(url):
            raise ValueError
        parsed = ada_url.URL(url)
    except ValueError:
        raise BadInput(f"{_shown(url)} is not a whole http or https URL", hint="begin it with https://") from None
    if parsed.username or parsed.password:
        raise BadInput("a URL with a user name or password has no key", hint="send credentials in a header")
    return parsed


def _shown(url: str) -> str:
    """As a literal, without what looks like credentials."""
    return ascii(re.sub(r"(?<=//)[^/?#]*@", "***@", url[:200]))


def _unescaped(path: str) -> str:
    """Escapes in one spelling, and none where none is needed."""
    return _ESCAPE.sub(_letter, _STRAY_PERCENT.sub("%25", path))


def _letter(escape: re.Match[str]) -> str:
    byte = int(escape[1], 16)
    return chr(byte) if byte in _UNRESERVED else f"%{escape[1].upper()}"


def _parameters(query: str, dropped: frozenset[str]) -> Iterator[str]:
    """Sorted by name; those of one name stay in order."""
    pairs = [_pair(part) for part in query.split("&") if part]
    for name, value in sorted(pairs, key=lambda pair: pair[0]):
        plain = name.decode("utf-8", "replace").lower()
        if not plain.startswith("utm_") and plain not in dropped:
            yield f"{quote_plus(name)}={quote_plus(value)}"


def _pair(part: str) -> tuple[bytes, bytes]:
    """As bytes: a value that is not UTF-8 must not become equal to another one."""
    name, _, value = part.replace("+", " ").partition("=")
    return unquote_to_bytes(name), unquote_to_bytes(value)
