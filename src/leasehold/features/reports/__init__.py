"""Reports: tables and files that a job makes and that expire."""

from leasehold.feature import Feature

feature = Feature(
    name="reports",
    package=__name__,
    needs=("blobs", "webhooks"),
    maintenance=("maintenance:tasks",),
    kinds=("handlers:app",),
    server=("routes:open_objects",),
    routes=("routes:routes",),
    commands={"reports": "commands:app"},
)
