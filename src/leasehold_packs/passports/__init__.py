"""Battery passports: documents become facts, facts become a signed passport that anybody can check.

    documents → facts → completeness (attributes) → compile (rules) → receipt, Merkle roots → proof → QR → verify

Those parts are pure: no socket, no database, no clock; JSON Schemas alone are asked in a process that ends
(``bounded``, ``schemas``). Around them stand ``handlers``, ``many`` and ``export`` (the kinds), ``store_*`` (the pack's
own tables), ``routes``, ``public``, ``checking`` and ``pages`` (HTTP) and ``commands``. What runs in a browser is in
``assets``. Needs the extra ``passports``.
"""

from importlib.resources import files

from leasehold.packs import Pack
from leasehold_packs.passports.many import kinds

pack = Pack(
    name="passports",
    app=kinds,
    migrations=files(__name__) / "migrations",
    routes="leasehold_packs.passports.routes:routes",
    public_hosts="leasehold_packs.passports.public:is_public_host",
    pages="leasehold_packs.passports.pages:pages",
    addresses=("/p", "/01", "/verify", "/.well-known/gs1resolver"),
)
