"""Product monitors: prices and stock of shops, read politely, and each change told once, with evidence."""

from leasehold.feature import Feature

feature = Feature(
    name="monitors",
    package=__name__,
    kinds=("handlers:app", "handlers_discovery:app", "handlers_maintenance:app"),
    routes=("routes:routes", "routes_products:routes", "routes_changes:routes"),
    pages=("pages:pages", "pages_rules:pages"),
    commands={"monitors": "commands:app"},
)
