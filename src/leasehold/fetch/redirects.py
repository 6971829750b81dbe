"""Requests, and what becomes of one when it is redirected. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from leasehold.errors import BadInput, BadResponse, FetchRefused
from leasehold.fetch.decompress import ACCEPT_ENCODING
from leasehold.fetch.urls import Url, parse_url

_REDIRECTS = (301, 302, 303, 307, 308)
_FOLLOWED = ("GET", "HEAD")
#: What may go on to another origin. Every other header could be a secret.
_HARMLESS = frozenset(("accept", "accept-encoding", "accept-language", "user-agent"))
#: Who frames the message decides where the next one on the same connection begins: not the caller.
_OURS = frozenset(
    ("connection", "content-length", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade")
)
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"(?:[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?)?")
_FORBIDDEN_METHODS = ("CONNECT", "TRACE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request; ``headers`` are all but Host and Content-Length."""

    method: str
    url: Url
    headers: tuple[tuple[str, str], ...]
    body: bytes = b""

    def wire_headers(self) -> list[tuple[bytes, bytes]]:
        headers = [("Host", self.url.authority), *self.headers]
        if self.body or self.method not in (*_FOLLOWED, "DELETE", "OPTIONS"):
            headers.append(("Content-Length", str(len(self.body))))
        return [(name.encode(), value.encode()) for name, value in headers]


def make_ask(method: str, url: Url, headers: Mapping[str, str], body: bytes, *, user_agent: str) -> Ask:
    """The request as it will be sent, or BadInput."""
    method = method.upper()
    if not _TOKEN.fullmatch(method) or method in _FORBIDDEN_METHODS:
        raise BadInput(f"{method!r} is not a method for requests", hint="GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
    usual = {"User-Agent": user_agent, "Accept": "*/*", "Accept-Encoding": ACCEPT_ENCODING}
    given = {name.lower() for name in headers}
    kept = {name: value for name, value in usual.items() if name.lower() not in given}
    return Ask(method=method, url=url, headers=tuple(_checked({**kept, **headers}).items()), body=body)


def _checked(headers: dict[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name) or not _VALUE.fullmatch(value):
            raise BadInput(f"the header {name!r} has characters that headers cannot have", hint="use visible ASCII")
        if name.lower() in _OURS or name.lower().startswith("proxy-"):
            raise BadInput(f"the header {name} cannot be set: it follows from the URL and the body")
    return headers


def redirect_target(ask: Ask, status: int, location: str | None) -> Url | None:
    """Where the answer sends the request; None where it is not to be followed."""
    if status not in _REDIRECTS or location is None or ask.method not in _FOLLOWED:
        return None
    return parse_url(location, base=ask.url)


def redirected(ask: Ask, target: Url, *, past: list[Url], limit: int) -> Ask:
    """The next request, without what another origin must not see."""
    if ask.url.scheme == "https" and target.scheme == "http":
        raise FetchRefused.because(str(target), "it leads from https to http")
    if target in past:
        raise BadResponse(f"{past[0]} redirects in a circle")
    if len(past) > limit:
        raise BadResponse(f"{past[0]} redirects more than {limit} times")
    if target.origin == ask.url.origin:
        return replace(ask, url=target)
    kept = tuple((name, value) for name, value in ask.headers if name.lower() in _HARMLESS)
    return replace(ask, url=target, headers=kept, body=b"")
