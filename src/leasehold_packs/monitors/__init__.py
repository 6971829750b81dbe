"""Product monitors: prices and stock of shops, watched politely; what changed is told once, with evidence.

Pure       options   reading (page in, facts out)   identity   changes (what is other, is it credible)   rules   timing
           feeds   chart   score (how well pages are read)   shop (one that needs no internet)
Work       visiting (one page, asked for)   store (one check, written)   handlers, discovery, upkeep (the kinds)
Outside    requests (what people ask)   arranging (schedules and rates)   routes   pages   commands

Needs the extra ``monitors``.
"""

from importlib.resources import files

from leasehold.packs import Pack
from leasehold_packs.monitors import discovery, upkeep
from leasehold_packs.monitors.handlers import app

__all__ = ["discovery", "pack", "upkeep"]  # their kinds are those of the app

pack = Pack(
    name="monitors",
    app=app,
    migrations=files(__name__) / "migrations",
    routes="leasehold_packs.monitors.routes:routes",
    pages="leasehold_packs.monitors.pages:pages",
)
