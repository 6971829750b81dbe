"""Limits: how many jobs run at once, how often they start, and in which order."""

from leasehold.feature import Feature

feature = Feature(
    name="limits",
    package=__name__,
    maintenance=("maintenance:tasks",),
    routes=("routes_gates:routes", "routes_queues:routes", "routes:routes"),
    pages=("pages_gates:pages", "pages:pages"),
    commands={
        "queues": "commands_queues:app",
        "limits": "commands:app",
        "gates": "commands_gates:app",
    },
    before_ready=("line_up_due_jobs",),
    before_claim=("hold_back",),
    after_claim=("ring_next",),
    after_leave=("leave_groups",),
    after_finish=("tell_gates",),
    explain=("explain_limits",),
)
