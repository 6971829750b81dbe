"""Job postings: boards that are asked in turn, postings that open, change and close, and a search for them."""

from leasehold.feature import Feature

feature = Feature(
    name="postings",
    package=__name__,
    kinds=("handlers:app",),
    routes=("routes:routes",),
    pages=("pages:pages",),
    commands={"postings": "commands:app"},
)
