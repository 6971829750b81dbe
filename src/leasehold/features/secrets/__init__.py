"""Secrets of tenants, sealed at rest and read by handlers."""

from leasehold.feature import Feature

feature = Feature(
    name="secrets",
    package=__name__,
    routes=("routes:routes",),
    commands={"secrets": "commands:app"},
)
