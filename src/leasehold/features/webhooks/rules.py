"""What an endpoint of webhooks may be: its format, its URL, and the headers that it is sent."""

from collections.abc import Mapping
from dataclasses import replace

from leasehold.errors import BadInput
from leasehold.features.webhooks.signature import PLAIN, STANDARD, TIMESTAMPED, Scheme
from leasehold.fetch.policy import Policy
from leasehold.fetch.public_addresses import parse_address
from leasehold.fetch.redirects import make_ask
from leasehold.fetch.urls import Url, parse_url
from leasehold.settings import Settings

SCHEMES = {"standard": STANDARD, "stripe": TIMESTAMPED, "sha256": PLAIN, "ed25519": STANDARD}
#: Parts of a scheme whose header may have another name.
_NAMED = ("signature", "message_id", "timestamp")


def scheme_of(format_: str, header_names: Mapping[str, str]) -> Scheme:
    """How an endpoint's events are signed."""
    if format_ not in SCHEMES:
        raise BadInput(f"there is no format {format_!r}", hint=f"known formats: {', '.join(SCHEMES)}")
    if unknown := [name for name in header_names if name not in _NAMED]:
        raise BadInput(f"a signature has no header for {unknown[0]!r}", hint=f"known: {', '.join(_NAMED)}")
    scheme = replace(SCHEMES[format_], **header_names)
    names = [name.lower() for part in _NAMED if (name := getattr(scheme, part))]
    if len(set(names)) < len(names) or "content-type" in names:
        raise BadInput(
            "two headers of a delivery would have one name", hint="give each of header_names a name of its own"
        )
    return scheme


def checked_url(text: str, settings: Settings) -> Url:
    """In the clear only to hosts that the operator allows. What its name leads to is judged each time it is called."""
    url, policy = parse_url(text), Policy.from_settings(settings)
    policy.judge_url(url)
    address = parse_address(url.host)
    named = any(entry.names(url.host, url.port) for entry in policy.allow)
    covered = address is not None and any(entry.covers(address, url.port) for entry in policy.allow)
    if url.scheme == "http" and not (named or covered):
        raise BadInput(
            f"{url} would be sent in the clear",
            hint=f"use https, or let an operator allow it with LEASEHOLD_FETCH_ALLOW={url.host}:{url.port}",
        )
    return url


def check_headers(url: Url, scheme: Scheme, headers: Mapping[str, str]) -> None:
    ours = [name for name in (scheme.signature, scheme.message_id, scheme.timestamp) if name]
    taken = {name.lower() for name in ("Content-Type", *ours)}
    if clash := [name for name in headers if name.lower() in taken]:
        raise BadInput(f"the header {clash[0]} is ours to send")
    make_ask("POST", url, dict.fromkeys(ours, "x") | dict(headers), b"", user_agent="x")
