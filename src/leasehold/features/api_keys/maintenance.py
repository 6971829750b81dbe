"""What a leader does for API keys: remove expired tickets."""

from leasehold.features.api_keys import store
from leasehold.settings import Settings
from leasehold.worker.maintenance import MaintenanceTask


def tasks(settings: Settings) -> list[MaintenanceTask]:
    return [MaintenanceTask(name="purge tickets", work=store.purge_tickets, every_s=60.0)]
