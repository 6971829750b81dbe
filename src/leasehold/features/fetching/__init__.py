"""Fetching: robots.txt, rates for each host, and responses that are cached."""

from leasehold.feature import Feature

feature = Feature(
    name="fetching",
    package=__name__,
    needs=("blobs",),
    maintenance=("maintenance:tasks",),
    commands={"fetch": "commands:fetch"},
)
