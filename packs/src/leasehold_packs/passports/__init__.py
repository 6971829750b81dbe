"""Battery passports: documents become facts, and facts a signed passport that anybody can check."""

from leasehold.feature import Feature

feature = Feature(
    name="passports",
    package=__name__,
    kinds=("handlers_bulk:kinds",),
    routes=(
        "routes_public:routes",
        "routes_check:routes",
        "routes_issuer:routes",
        "routes_packages:routes",
        "routes_versions:routes",
        "routes_documents:routes",
        "routes:routes",
    ),
    pages=("pages:pages",),
    commands={"passports": "commands:app"},
    addresses=("/p", "/01", "/verify", "/.well-known/gs1resolver"),
    public_hosts="routes_public:is_public_host",
)
