"""The job's own secrets, in every encoding they may travel in."""

import base64
import html
import json
import math
import re
from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import quote, quote_plus

from leasehold.redact.mask import MASK, Span

#: A shorter secret would also hit ordinary words.
MIN_LITERAL = 6


def literal_spans(text: str, literals: re.Pattern[str]) -> Iterator[Span]:
    return (match.span() for match in literals.finditer(text) if match.group() != MASK)


@lru_cache(maxsize=32)
def literals_of(secrets: tuple[str, ...]) -> re.Pattern[str] | None:
    forms = {form for secret in secrets if len(secret) >= MIN_LITERAL for form in _encodings(secret)}
    forms = {form for form in forms if len(form) >= MIN_LITERAL and form not in MASK}
    if not forms:
        return None
    # The mask first, as one piece: a secret that spells part of it must not be found in it.
    return re.compile("|".join(map(re.escape, [MASK, *sorted(forms, key=lambda form: (-len(form), form))])))


def _encodings(secret: str) -> Iterator[str]:
    raw = secret.encode("utf-8", "surrogatepass")
    yield secret
    yield raw.decode("latin-1")  # as bytes are read here
    for escaped in (quote(raw, safe=""), quote_plus(raw), quote(raw), html.escape(secret)):
        yield escaped
        yield re.sub("%..", lambda found: found.group().lower(), escaped)
    for ascii_only in (True, False):
        inner = json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
        yield from (inner, inner.replace("/", "\\/"), json.dumps(inner)[1:-1])
    yield repr(secret)[1:-1]
    yield from (raw.hex(), raw.hex().upper())
    for before in range(3):
        yield from _base64_core(raw, before)


def _base64_core(raw: bytes, before: int) -> Iterator[str]:
    """The characters of base64 that depend on the secret alone, with ``before`` bytes of something in front."""
    encoded = base64.b64encode(b"\0" * before + raw).rstrip(b"=").decode()
    first = math.ceil(before * 8 / 6)
    last = (before + len(raw)) * 8 // 6
    core = encoded[first:last]
    if len(core) >= MIN_LITERAL:
        yield from (core, core.replace("+", "-").replace("/", "_"))
