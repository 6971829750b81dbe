"""Job postings: boards that are asked in turn, postings that open, change, close and come back, and a search for them.

Pure       boards (whose list is it, and what does it say)   posting (facts and differences)   pay   traits   wording
Work       detecting (a pasted address)   handlers (the kinds)   settling (the end of a source)   clusters   vocabulary
           matching (saved searches)
Outside    requests (sources, runs)   search   people (saved searches, board, preferences)   routes   commands
           pages (asked: what the address of a page asks for)

Needs the extra ``postings``.
"""

from leasehold.feature import Feature

feature = Feature(
    name="postings",
    package=__name__,
    kinds=("handlers:app",),
    routes=("routes:routes",),
    pages=("pages:pages",),
    commands={"postings": "commands:app"},
)
