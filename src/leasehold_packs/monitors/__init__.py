"""Product monitors: prices and stock of shops, watched politely; what changed is told once, with evidence.

Pure       options   reading (page in, facts out)   identity   changes (what is other, is it credible)   rules   timing
           feeds   chart   score (how well pages are read)   shop (one that needs no internet)
Work       visiting (one page, asked for)   store (one check, written)   handlers, discovery, upkeep (the kinds)
Outside    requests (what people ask)   arranging (schedules and rates)   routes   pages   commands

Needs the extra ``monitors``.
"""

from leasehold.feature import Feature

feature = Feature(
    name="monitors",
    package=__name__,
    kinds=("handlers:app", "handlers_discovery:app", "handlers_maintenance:app"),
    routes=("routes:routes",),
    pages=("pages:pages",),
    commands={"monitors": "commands:app"},
)
