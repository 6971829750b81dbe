"""Kinds and sample data to try Leasehold with."""

from leasehold.feature import Feature

feature = Feature(
    name="demo",
    package=__name__,
    kinds=("handlers:app",),
    commands={"demo": "commands:demo"},
)
