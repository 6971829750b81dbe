"""Bytes to text as browsers do it: mark, header, meta, then a guess. Never an error."""

import codecs
import re

# How far a declaration is looked for. Browsers stop at 1,024 bytes, real pages do not.
_HEAD = 4096

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:+-]+)", re.IGNORECASE | re.ASCII)
_META = re.compile(rb"<meta[^>]{0,500}?charset\s*=\s*[\"']?\s*([\w.:+-]+)", re.IGNORECASE)
_XML = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:+-]+)", re.IGNORECASE)

# What the web means by a label, where Python means less (Encoding Standard, "names and labels").
_WEB = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
# Beyond these Python also knows codecs that are no encoding of web pages: utf-7, punycode, unicode-escape, zip.
_ALLOWED = re.compile(
    r"utf-8|cp125[0-8]|cp874|cp932|cp949|cp866|mac-(?:roman|cyrillic)|iso8859-\d{1,2}|iso2022_jp|koi8-[ru]"
    r"|gb18030|big5hkscs|euc_jp"
)


def decode(body: bytes, *, content_type: str | None = None) -> str:
    """The text of an HTML or XML body; what cannot be read becomes U+FFFD."""
    encoding = encoding_of(body, content_type=content_type)
    text = body.decode(encoding, "replace").removeprefix("\ufeff")
    return text.replace("\x00", "\ufffd")


def encoding_of(body: bytes, *, content_type: str | None = None) -> str:
    """The name of the encoding to read a body with, as Python calls it."""
    for mark, encoding in _BOMS:
        if body.startswith(mark):
            return encoding
    return _from_header(content_type) or _from_markup(body[:_HEAD]) or _guess(body)


def _from_header(content_type: str | None) -> str | None:
    found = _CHARSET.search(content_type or "")
    return _known(found[1]) if found else None


def _from_markup(head: bytes) -> str | None:
    found = _META.search(head) or _XML.search(head)
    if not found:
        return None
    label = found[1].decode("ascii")
    # A page that could be read this far is not UTF-16, whatever it says.
    return "utf-8" if label.lower().startswith("utf-16") else _known(label)


def _known(label: str) -> str | None:
    try:
        name = codecs.lookup(label).name
    except (LookupError, ValueError):
        return None
    name = _WEB.get(name, name)
    return name if _ALLOWED.fullmatch(name) else None


def _guess(body: bytes) -> str:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"
