"""Battery passports: documents become facts, facts become a signed passport that anybody can check.

    documents → facts → completeness (attributes) → compile (rules) → receipt, Merkle roots → proof → QR → verify

Those parts are pure: no socket, no database, no clock; JSON Schemas alone are asked in a process that ends
(``schema_sandbox``, ``json_schema``). Around them stand ``handlers*`` (the kinds), ``store_*`` (the pack's
own tables), ``routes``, ``public``, ``checking`` and ``pages`` (HTTP) and ``commands``. What runs in a browser is in
``assets``. Needs the extra ``passports``.
"""

from leasehold.feature import Feature

feature = Feature(
    name="passports",
    package=__name__,
    kinds=("handlers_bulk:kinds",),
    routes=("routes:routes",),
    pages=("pages:pages",),
    commands={"passports": "commands:app"},
    addresses=("/p", "/01", "/verify", "/.well-known/gs1resolver"),
    public_hosts="routes_public:is_public_host",
)
