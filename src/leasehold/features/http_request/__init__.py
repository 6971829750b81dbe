"""The kind ``http.request``: one safe HTTP request as a job."""

from leasehold.feature import Feature

feature = Feature(
    name="http_request",
    package=__name__,
    kinds=("handlers:app",),
)
