"""A run as a report: JSON, CSV, or a page to read and to print that needs no script."""

import csv
import io
from html import escape
from typing import Any

from leasehold_packs.audits.recipe import checks

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --dim: #595959; font: 16px/1.5 system-ui, sans-serif }
html { background: #fff; color: #111 } a { color: inherit }
@media (prefers-color-scheme: dark) { :root { --dim: #b5b5b5 } html { background: #111; color: #eee } }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere } h1 { margin-bottom: 0 }
.score { font-size: 3rem; font-variant-numeric: tabular-nums } .dim { color: var(--dim) }
section { border-top: 1px solid var(--line); padding: 1rem 0; break-inside: avoid } h2 { margin: 0; font-size: 1.1rem }
.tag { border: 1px solid var(--line); border-radius: 1rem; padding: 0 .6rem; font-size: .8rem } ul { margin: .5rem 0 0 }
table { border-collapse: collapse } td, th { text-align: left; padding: .2rem .8rem .2rem 0 } td.n { text-align: right }
@media print { :root { --dim: #595959 } html { background: #fff; color: #111 }
body { margin: 0; max-width: none } a { text-decoration: none } }
"""
_SHOWN = 20


def as_csv(issues: list[dict[str, Any]]) -> str:
    """One line for each issue. A cell never begins like a formula."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["severity", "check", "title", "url", "evidence"])
    for issue in issues:
        title = checks()[issue["check_id"]].title
        row = [issue["severity"], issue["check_id"], title, issue["url"], str(issue["evidence"])]
        writer.writerow([f"'{cell}" if cell[:1] in "=+-@\t\r" else cell for cell in row])
    return out.getvalue()


#: The page has its style within itself, to be kept and printed; nothing else of it may run or be fetched.
PAGE = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"
}


def as_html(run: dict[str, Any], url: str, issues: list[dict[str, Any]]) -> str:
    """Each check once, with what, why and how, and the pages that have it."""
    report = run["report"] or {}
    by_check: dict[str, list[dict[str, Any]]] = {}
    for issue in issues:
        by_check.setdefault(issue["check_id"], []).append(issue)
    body = [
        f"<h1>Audit of {escape(url)}</h1>",
        f"<p class=dim>{run['created_at']:%Y-%m-%d %H:%M} UTC · {run['pages']} pages · recipe {run['recipe']}</p>",
        f"<p class=score>{run['score'] if run['score'] is not None else '–'}</p>",
        f"<p>{escape(report.get('arithmetic', ''))}</p>",
        _terms(report.get("terms", [])),
        *[_section(name, found) for name, found in by_check.items()],
    ]
    head = f"<meta charset=utf-8><meta name=viewport content='width=device-width'><title>Audit of {escape(url)}</title>"
    head += f"<style>{_STYLE}</style>"
    return f"<!doctype html><html lang=en><head>{head}</head><body><main>{''.join(body)}</main></body></html>"


def _section(name: str, found: list[dict[str, Any]]) -> str:
    check = checks()[name]
    pages = "".join(f"<li><code>{escape(issue['url'])}</code></li>" for issue in found[:_SHOWN])
    more = f"<p class=dim>and {len(found) - _SHOWN} more</p>" if len(found) > _SHOWN else ""
    title = f"{escape(check.title)} <span class=tag>{check.severity}</span> <span class=dim>{len(found)}</span>"
    advice = f"<p>{escape(check.why)}<br>{escape(check.how)}</p>"
    return f"<section id={name}><h2>{title}</h2>{advice}<ul>{pages}</ul>{more}</section>"


def _terms(terms: list[dict[str, Any]]) -> str:
    rows = "".join(
        f"<tr><td><a href=#{term['check']}>{escape(checks()[term['check']].title)}</a><td class=n>{term['weight']}"
        f"<td class=n>{term['affected']} of {term['pages']}<td class=n>−{term['taken']:.2f}"
        for term in sorted(terms, key=lambda term: -term["taken"])
    )
    return f"<table><tr><th>check<th>weight<th>pages<th>taken{rows}</table>" if rows else ""
