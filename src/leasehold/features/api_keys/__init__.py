"""API keys of tenants and of the installation, and tickets for streams."""

from leasehold.feature import Feature

feature = Feature(
    name="api_keys",
    package=__name__,
    needs=("flows",),
    maintenance=("maintenance:tasks",),
    authenticate=("caller:authenticate",),
    routes=("routes:routes", "routes_tickets:routes"),
    pages=("pages:pages",),
    commands={"keys": "commands:app"},
)
