"""Job postings: boards that are asked in turn, postings that open, change and close, and a search for them."""

from leasehold.feature import Feature

feature = Feature(
    name="postings",
    package=__name__,
    kinds=("handlers:app",),
    # The routes and the page of one posting come last: their address would take those of the others.
    routes=("routes_sources:routes", "routes_runs:routes", "routes_people:routes", "routes:routes"),
    pages=("pages_sources:pages", "pages_runs:pages", "pages_people:pages", "pages:pages"),
    commands={"postings": "commands:app"},
)
