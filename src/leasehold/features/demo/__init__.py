"""Kinds and sample data to try Leasehold with."""

from leasehold.feature import Feature

feature = Feature(
    name="demo",
    package=__name__,
    needs=("flows", "webhooks"),
    kinds=("handlers:app",),
    commands={"demo": "commands:demo"},
)
