"""The audit log: who did what to an installation and its tenants."""

from leasehold.feature import Feature

feature = Feature(
    name="audit_log",
    package=__name__,
    routes=("routes:routes",),
    pages=("pages:pages",),
)
