"""Schedules: jobs that are created by the clock."""

from leasehold.feature import Feature

feature = Feature(
    name="schedules",
    package=__name__,
    maintenance=("maintenance:tasks",),
    routes=("routes:routes",),
    pages=("pages:pages",),
    commands={"schedules": "commands:app"},
    due=("due_for_schedules",),
    metrics=("collect_schedule_metrics",),
)
