"""Flows: jobs that wait for each other, for people, for signals and for time."""

from leasehold.feature import Feature

feature = Feature(
    name="flows",
    package=__name__,
    maintenance=("maintenance:tasks",),
    routes=("routes:routes",),
    pages=("pages:pages", "pages_approvals:pages"),
    commands={
        "flows": "commands:app",
        "approvals": "commands_approvals:app",
        "signals": "commands_signals:app",
    },
    after_finish=("update_flow_of_ended_jobs",),
    explain=("explain_flow",),
)
