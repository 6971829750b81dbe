"""Site audits: a crawl of leased page jobs, checks with a reason and a remedy, findings that live through many runs.

Pure       recipe (the checks, as data)   seen (a page as it was met)   checks (page in, evidence out)   score   options
Work       starting (how runs begin)   begun (a run as its jobs need it)   visiting (one page, fetched and read)
           rendering (by a browser without a network)   writing (its rows)
           asking (is it there?)   handlers (the kinds)   again (kept pages judged anew)   ending (the end of a run)
           timing (by the clock)
Outside    requests (start, look, stop, go on)   routes   stream (live)   pages   commands   report
Demo       site (made-up pages with faults)   demo

Needs the extra ``audits``.
"""

from leasehold.feature import Feature

feature = Feature(
    name="audits",
    package=__name__,
    kinds=("handlers:app",),
    routes=("routes:routes",),
    pages=("pages:pages",),
    commands={"audits": "commands:app"},
)
