"""What a leader does for fetching: purge cached responses, robots.txt files and idle hosts."""

from leasehold.features.fetching import store
from leasehold.settings import Settings
from leasehold.worker.maintenance import MaintenanceTask


def tasks(settings: Settings) -> list[MaintenanceTask]:
    return [MaintenanceTask(name="purge fetch cache", work=store.purge_outside, every_s=60.0)]
