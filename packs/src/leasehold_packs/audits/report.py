"""A run as a report: JSON, CSV, or a page to read and to print that needs no script."""

from html import escape

from leasehold import csv_line
from leasehold_packs.audits.model_results import AuditReport, CheckSample, Issue, SiteAudit, Term
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
#: Pages that are named with each check.
SHOWN = 20


def as_csv(issues: list[Issue], *, left_out: int = 0) -> str:
    """One line for each issue, and a last one if there are more."""
    lines = [csv_line(["severity", "check", "title", "url", "state", "evidence"])]
    for issue in issues:
        title = checks()[issue.check_id].title
        found = (issue.severity, issue.check_id, title, issue.url, issue.state, issue.evidence)
        lines.append(csv_line(found))
    if left_out:
        lines.append(csv_line(["", "", f"{left_out} more issues are left out", "", "", ""]))
    return "".join(lines)


#: The page has its style within itself, to be kept and printed; nothing else of it may run or be fetched.
PAGE = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"
}


def as_html(run: SiteAudit, url: str, samples: list[CheckSample]) -> str:
    """Each check once, with what, why and how, and the first of the pages that have it."""
    report = run.report
    body = [
        f"<h1>Audit of {escape(url)}</h1>",
        f"<p class=dim>{run.created_at:%Y-%m-%d %H:%M} UTC · {run.pages} pages · recipe {run.recipe}</p>",
        f"<p class=score>{run.score if run.score is not None else '–'}</p>",
        f"<p>{escape((report and report['arithmetic']) or run.reason or '')}</p>",
        _unknown(report) if report else "",
        _terms(report["terms"]) if report else "",
        *[_section(sample) for sample in samples],
    ]
    head = f"<meta charset=utf-8><meta name=viewport content='width=device-width'><title>Audit of {escape(url)}</title>"
    head += f"<style>{_STYLE}</style>"
    return f"<!doctype html><html lang=en><head>{head}</head><body><main>{''.join(body)}</main></body></html>"


def _unknown(report: AuditReport) -> str:
    """What the audit says nothing of."""
    unread = report["unread"]
    words = [f"{unread} pages could not be read: what is known of them stays as it was."] if unread else []
    words += [f"Not read, as {rule}: {n}." for rule, n in report["forbidden"].items()]
    return "".join(f"<p>{escape(one)}</p>" for one in words)


def _section(sample: CheckSample) -> str:
    check = checks()[sample.check_id]
    issues, left = sample.issues, sample.pages - len(sample.issues)
    pages = "".join(f"<li><code>{escape(one.url)}</code>{_accepted(one)}</li>" for one in issues)
    more = f"<p class=dim>and {left} more</p>" if left else ""
    counts = f"{sample.pages}, {sample.accepted} accepted" if sample.accepted else f"{sample.pages}"
    title = f"{escape(check.title)} <span class=tag>{check.severity}</span> <span class=dim>{counts}</span>"
    advice = f"<p>{escape(check.why)}<br>{escape(check.how)}</p>"
    return f"<section id={check.id}><h2>{title}</h2>{advice}<ul>{pages}</ul>{more}</section>"


def _accepted(issue: Issue) -> str:
    return " <span class=dim>accepted</span>" if issue.state == "accepted" else ""


def _terms(terms: list[Term]) -> str:
    rows = "".join(
        f"<tr><td><a href=#{term['check']}>{escape(checks()[term['check']].title)}</a><td class=n>{term['weight']}"
        f"<td class=n>{term['affected']} of {term['pages']}<td class=n>−{term['taken']:.2f}"
        for term in sorted(terms, key=lambda term: -term["taken"])
    )
    return f"<table><tr><th>check<th>weight<th>pages<th>taken{rows}</table>" if rows else ""
