"""What a URL says: one parser (WHATWG, ada), and nothing that two parsers could read in two ways. Pure.

The parts, not the text, are handed to the HTTP client, so no second parser has a say.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

import ada_url

from leasehold.errors import FetchRefused

MAX_LENGTH = 2048
DEFAULT_PORT = {"http": 80, "https": 443}

_CONTROL = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029\ud800-\udfff]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_AUTHORITY = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//([^/?#]*)")
_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_-]{1,63})*")
_IPV6 = re.compile(r"\[[0-9a-f:]+\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Url:
    """``host`` is a name, an IPv4 address or an IPv6 address in brackets, in lower case and ASCII."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.authority}"

    @property
    def authority(self) -> str:
        """The host, with its port unless that is the usual one: what the Host header says."""
        return self.host if self.port == DEFAULT_PORT[self.scheme] else f"{self.host}:{self.port}"

    @property
    def bare_host(self) -> str:
        """The host as a resolver or a certificate spells it."""
        return self.host.strip("[]")

    def __str__(self) -> str:
        return self.origin + self.target


@lru_cache(maxsize=4096)  # the same few hooks and pages are asked for again and again
def parse_url(text: str, *, base: Url | None = None) -> Url:
    """The URL, or FetchRefused with what is wrong with it; with a base, also a relative one."""
    _check_text(text, absolute=base is None)
    _check_authority(text)
    try:
        parsed = ada_url.URL(text, None if base is None else str(base))
    except ValueError:
        raise _refused(text, "it is not a valid URL") from None
    scheme = parsed.protocol.removesuffix(":")
    if scheme not in DEFAULT_PORT:
        raise _refused(text, f"{scheme} is not http or https")
    url = Url(
        scheme=scheme,
        host=_checked_host(text, parsed.hostname),
        port=int(parsed.port or DEFAULT_PORT[scheme]),
        target=parsed.pathname + parsed.search,
    )
    if url.port == 0:
        raise _refused(text, "there is no port 0")
    if len(str(url)) > MAX_LENGTH:
        raise _refused(text, f"it is longer than {MAX_LENGTH} characters")
    return url


def _check_text(text: str, *, absolute: bool) -> None:
    if len(text) > MAX_LENGTH:
        raise _refused(text, f"it is longer than {MAX_LENGTH} characters")
    if found := _CONTROL.search(text):
        raise _refused(text, f"it has a space or control character ({found.group()!r})")
    if "\\" in text:
        raise _refused(text, "it has a backslash")
    scheme = _SCHEME.match(text)
    if scheme and scheme.group()[:-1].lower() not in DEFAULT_PORT:
        raise _refused(text, f"{scheme.group()[:-1]} is not http or https")
    if (absolute or scheme) and not _AUTHORITY.match(text):
        raise _refused(text, "it does not begin with http:// or https://")


def _check_authority(text: str) -> None:
    found = _AUTHORITY.match(text)
    if not found:
        return
    authority = found[1]
    if not authority:
        raise _refused(text, "it has no host")
    if "@" in authority:
        raise _refused(text, "it has a user name or password", hint="send credentials in a header")
    if "%" in authority:
        raise _refused(text, "its host has a percent sign")


def _checked_host(text: str, host: str) -> str:
    if host.endswith("."):
        raise _refused(text, "its host ends with a dot", hint="leave the last dot out")
    if not (_NAME.fullmatch(host) or _IPV6.fullmatch(host)):
        raise _refused(text, "its host is not a host name")
    return host


def _refused(text: str, why: str, *, hint: str = "give a whole URL such as https://example.com/page") -> FetchRefused:
    return FetchRefused.because(_shown(text), why, hint=hint)


def _shown(text: str) -> str:
    """As a literal that can be printed anywhere; what looks like credentials is left out."""
    shown = re.sub(r"(?<=//)[^/?#]*@", "***@", text[:200])
    return ascii(shown + "…" if len(text) > 200 else shown)
