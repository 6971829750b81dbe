"""The one file that a form of ours sends (RFC 7578). Pure."""

import re

from leasehold_packs.passports.errors import invalid

_BOUNDARY = re.compile(r'boundary="?([0-9A-Za-z\'()+_,./:=? -]{1,70})"?\s*(?:;|$)')


def file_of(raw: bytes, content_type: str, *, name: str) -> bytes:
    """What stands in the field of this name."""
    boundary = _BOUNDARY.search(content_type)
    if boundary is None:
        raise invalid("the form does not say where its parts end")
    # The first delimiter has no line end before it.
    for part in (b"\r\n" + raw).split(b"\r\n--" + boundary[1].encode())[1:]:
        headers, blank, content = part.partition(b"\r\n\r\n")
        if blank and f'name="{name}"'.encode() in headers:
            return content
    raise invalid(f"the form has no file {name}")
