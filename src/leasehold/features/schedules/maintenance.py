"""What a leader does for schedules: create the jobs of those that are due."""

from leasehold.features.schedules import store
from leasehold.settings import Settings
from leasehold.worker.maintenance import MaintenanceTask


def tasks(settings: Settings) -> list[MaintenanceTask]:
    fire = MaintenanceTask(name="fire schedules", work=store.fire_due, is_urgent=True, share=1, wakes=True)
    return [fire]
