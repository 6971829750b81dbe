"""The page that a scan opens: plain HTML that needs no script, and prints. A script can check it once more. Pure."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from typing import Any

from leasehold_packs.passports.attributes import ATTRIBUTES, Tier
from leasehold_packs.passports.model import ShownVersion
from leasehold_packs.passports.pointers import leaves, tokens
from leasehold_packs.passports.translations import Texts
from leasehold_packs.passports.verify import Verdict

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
header { display: flex; flex-wrap: wrap; gap: 1rem; justify-content: space-between; }
header img { width: 10rem; height: 10rem; background: #fff; }
.active, .good { border-left: .4rem solid #2a7a2a; padding-left: .6rem; }
.superseded { border-left: .4rem solid #b58900; padding-left: .6rem; }
.revoked, .bad { border-left: .4rem solid #b00020; padding-left: .6rem; font-weight: bold; }
table { border-collapse: collapse; width: 100%; margin-bottom: 1.5rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #8884;
  overflow-wrap: anywhere; }
th { width: 45%; font-weight: normal; }
form { border: 2px dashed #8888; border-radius: .5rem; padding: 1.5rem; }
input, button { font: inherit; margin: .3rem .6rem .3rem 0; max-width: 100%; }
code { font: .85em ui-monospace, monospace; overflow-wrap: anywhere; }
@media print {
  nav, #check { display: none; } body { margin: 0; max-width: none; font-size: 11px; } tr { break-inside: avoid; }
}
"""
#: Nothing from elsewhere: the style is told by its hash, the QR code and the script come from here.
POLICY = (
    f"default-src 'none'; style-src 'sha256-{base64.b64encode(sha256(STYLE.encode()).digest()).decode()}';"
    " script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'"
)
_NAMES = {at: attribute.name for attribute in reversed(ATTRIBUTES) for at in attribute.at}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What the page says. ``query`` keeps a reader's invitation and version in the links."""

    passport: ShownVersion
    payload: Any
    receipt: Mapping[str, Any]
    verdict: Verdict
    query: str
    log: Mapping[str, Any] | None
    words: Texts


def page(shown: Shown) -> str:
    passport, words = shown.passport, shown.words
    return (
        f"{head(words, words('title', name=passport.name), script='passport.js')}<body>"
        f"<header><div><h1>{escape(passport.name)}</h1>{_identity(passport, words)}</div>"
        f'<img src="/p/{passport.passport_id}/qr.svg{escape(shown.query)}" alt="{words("qr")}"></header>'
        f"<main>{_state(passport, words)}{_verdict(shown)}{_sections(shown.payload, words)}"
        f"{_hidden(shown)}{_check(shown)}{_links(shown)}</main></body></html>"
    )


def head(words: Texts, title: str, *, script: str) -> str:
    """What every public page begins with; ``title`` is HTML already."""
    return (
        f'<!doctype html><html lang="{words.language}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">'
        f'<title>{title}</title><link rel="icon" href="/verify/icon.svg"><style>{STYLE}</style>'
        f'<script type="module" src="/verify/{script}"></script></head>'
    )


def _identity(passport: ShownVersion, words: Texts) -> str:
    issued = words("issued", number=passport.number, date=f"{passport.issued_at:%Y-%m-%d}")
    rows = [
        (words("issued_by"), escape(passport.issuer_name)),
        (words("gtin"), escape(passport.gtin or "")),
        (words("serial"), escape(passport.serial)),
        (words("category"), words(f"category.{passport.category}")),
        (words("version"), issued),
    ]
    return _table([(name, value) for name, value in rows if value])


def _state(passport: ShownVersion, words: Texts) -> str:
    reason = f" {words('reason', reason=passport.reason)}" if passport.reason else ""
    return f'<p class="{passport.state}">{words(passport.state)}{reason}</p>'


def _verdict(shown: Shown) -> str:
    words = shown.words
    if shown.verdict.ok:
        said = words("good", issuer_=f"<code>{escape(str(shown.receipt['issuer']))}</code>")
        place = words("logged", place=shown.log["index"] + 1, size=shown.log["head"]["size"]) if shown.log else ""
        return f'<p class="good">{said} {place}</p>'
    findings = "; ".join(f"{each.at} {each.message}" for each in shown.verdict.findings[:5])
    return f'<p class="bad">{words("bad", findings=findings)}</p>'


def _sections(payload: Any, words: Texts) -> str:
    sections: dict[str, list[tuple[str, str]]] = {}
    for pointer, value in leaves(payload):
        if value is None or pointer.endswith("/unit"):
            continue
        sections.setdefault(tokens(pointer)[0] if pointer else "", []).append(
            (escape(_label(pointer)), escape(_text(payload, pointer, value, words)))
        )
    return "".join(f"<h2>{escape(_words(name))}</h2>{_table(rows)}" for name, rows in sections.items())


def _label(pointer: str) -> str:
    """The name of the attribute, or the last words of the pointer."""
    for at in (pointer, pointer.rpartition("/")[0]):
        if at in _NAMES:
            return _NAMES[at]
    path = [part for part in tokens(pointer)[1:] if part != "value"] or list(tokens(pointer))
    return " › ".join(_words(part) if not part.isdigit() else str(int(part) + 1) for part in path)


def _words(name: str) -> str:
    """batteryMass as Battery mass."""
    spaced = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name).strip()
    return spaced[:1].upper() + spaced[1:]


def _text(payload: Any, pointer: str, value: Any, words: Texts) -> str:
    if isinstance(value, bool):
        return words("yes" if value else "no")
    if value in ({}, []):
        return "–"
    if not pointer.endswith("/value"):
        return str(value)
    around = payload
    for part in tokens(pointer)[:-1]:
        around = around[int(part)] if isinstance(around, list) else around[part]
    return f"{value} {around.get('unit', '')}".strip()


def _hidden(shown: Shown) -> str:
    hidden = [
        shown.words(f"tier.{tier}", count=fields)
        for tier in Tier
        if tier not in shown.verdict.shown and (fields := shown.receipt["tiers"][tier]["fields"])
    ]
    return f"<p>{shown.words('hidden', fields_='; '.join(hidden))}</p>" if hidden else ""


def _check(shown: Shown) -> str:
    """Hidden until the script has seen that this browser can check."""
    words, passport = shown.words, shown.passport
    bundle = f"/p/{passport.passport_id}/json{shown.query}"
    keys = f"/v1/passports/issuers/{passport.issuer_slug}/did.json"
    return (
        f'<p id="check" hidden><button type="button" data-bundle="{escape(bundle)}" data-keys="{escape(keys)}"'
        f' data-good="{words("checked_here")}" data-bad="{words("check_failed")}">{words("check_here")}</button>'
        " <output></output></p>"
    )


def _links(shown: Shown) -> str:
    at, query, words = f"/p/{shown.passport.passport_id}", escape(shown.query), shown.words
    return (
        f'<nav><p><a href="{at}/bundle.zip{query}">{words("bundle")}</a> · '
        f'<a href="{at}/json{query}">JSON-LD</a> · <a href="/verify">{words("check_other")}</a></p></nav>'
        f"<p>{words('receipt')} <code>{sha256(shown.passport.receipt).hexdigest()}</code></p>"
    )


def _table(rows: list[tuple[str, str]]) -> str:
    """Of names and values that are HTML already."""
    lines = "".join(f'<tr><th scope="row">{name}</th><td>{value}</td></tr>' for name, value in rows)
    return f"<table>{lines}</table>"
