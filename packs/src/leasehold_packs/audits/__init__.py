"""Site audits: a crawl by jobs, checks with a reason and a remedy, and findings that live through many runs."""

from leasehold.feature import Feature

feature = Feature(
    name="audits",
    package=__name__,
    kinds=("handlers:app",),
    routes=("routes:routes",),
    pages=("pages:pages",),
    commands={"audits": "commands:app"},
)
