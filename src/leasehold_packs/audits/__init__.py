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

from importlib.resources import files

from leasehold.packs import Pack
from leasehold_packs.audits.handlers import app

pack = Pack(
    name="audits",
    app=app,
    migrations=files(__name__) / "migrations",
    routes="leasehold_packs.audits.routes:routes",
    pages="leasehold_packs.audits.pages:pages",
)
