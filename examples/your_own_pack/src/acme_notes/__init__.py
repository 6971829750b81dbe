"""Notes of each tenant: a pack with one kind and one table."""

from importlib.resources import files

from acme_notes.handlers import app
from leasehold.packs import Pack

pack = Pack(name="notes", app=app, migrations=files(__name__) / "migrations")
