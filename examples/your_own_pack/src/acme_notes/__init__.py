"""Notes of each tenant: a pack with one kind, one table, three routes, a page and a command."""

from importlib.resources import files

from acme_notes.handlers import app
from leasehold.packs import Pack

pack = Pack(
    name="notes",
    app=app,
    migrations=files(__name__) / "migrations",
    routes="acme_notes.routes:routes",
    addresses=("/n",),
    pages="acme_notes.pages:pages",
)
