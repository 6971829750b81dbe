"""Tenants: the customers of an installation, and what each may use."""

from leasehold.feature import Feature

feature = Feature(
    name="tenants",
    package=__name__,
    needs=("limits",),
    routes=("routes:routes",),
    pages=("pages:pages",),
    commands={"tenants": "commands:app"},
)
