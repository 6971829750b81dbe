"""The texts of the public page, as data: ``texts/<language>.json``. A new file is a new language."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from importlib.resources import files

_PREFERENCE = re.compile(r"\s*([A-Za-z]{1,8})(?:-[A-Za-z0-9-]+)?\s*(?:;\s*q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?))?\s*")
_FALLBACK = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    language: str
    texts: Mapping[str, str]

    def __call__(self, name: str, /, **values: object) -> str:
        """The text as HTML. Values are escaped, except what is HTML already: those end with an underscore."""
        shown = {key.rstrip("_"): str(each) if key.endswith("_") else escape(str(each)) for key, each in values.items()}
        return escape(self.texts[name]).format(**shown)


_HERE = files("leasehold_packs.passports.texts")
LANGUAGES = {
    file.name.removesuffix(".json"): Texts(
        language=file.name.removesuffix(".json"), texts=json.loads(file.read_text(encoding="utf-8"))
    )
    for file in _HERE.iterdir()
    if file.name.endswith(".json")
}


def preferred(accept_language: str) -> Texts:
    """The language that a reader likes most of those that there are; English if none."""
    best, quality = _FALLBACK, 0.0
    for part in accept_language[:1000].split(","):
        wish = _PREFERENCE.fullmatch(part)
        if wish and wish[1].lower() in LANGUAGES and float(wish[2] or 1) > quality:
            best, quality = wish[1].lower(), float(wish[2] or 1)
    return LANGUAGES[best]
