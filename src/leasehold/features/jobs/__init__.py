"""Jobs as people and programs handle them: create, list, search, cancel, retry, copy."""

from leasehold.feature import Feature

feature = Feature(
    name="jobs",
    package=__name__,
    needs=("flows", "limits"),
    kinds=("handlers:app",),
    routes=("routes:routes",),
    pages=("pages:pages", "pages_job:pages", "pages_failures:pages"),
    commands={"jobs": "commands:app", "run": "commands_run:run"},
)
