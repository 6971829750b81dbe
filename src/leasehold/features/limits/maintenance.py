"""What a leader does for limits: release jobs that were held back, and gates on time."""

from leasehold.engine import maintenance
from leasehold.features.limits.timer import ring
from leasehold.settings import Settings
from leasehold.worker.maintenance import LeaderLoop, MaintenanceTask


def tasks(settings: Settings) -> list[MaintenanceTask | LeaderLoop]:
    pause = min(settings.poll_seconds, 0.25)
    return [
        MaintenanceTask(
            name="release held jobs",
            work=maintenance.unpark,
            is_urgent=True,
            at_least_s=pause,
            share=0.5,
            wakes=True,
        ),
        LeaderLoop(name="ring gates", run=ring),
    ]
