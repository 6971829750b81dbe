"""Notes of each tenant: a pack with one kind, one table, three routes, a page and a command."""

from leasehold.feature import Feature

feature = Feature(
    name="notes",
    package=__name__,
    kinds=("handlers:app",),
    routes=("routes:routes",),
    addresses=("/n",),
    pages=("pages:pages",),
    commands={"notes": "commands:app"},
)
