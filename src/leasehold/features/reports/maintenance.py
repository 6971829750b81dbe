"""What a leader does for reports: remove those that have expired."""

from leasehold.features.reports import store
from leasehold.settings import Settings
from leasehold.worker.maintenance import MaintenanceTask


def tasks(settings: Settings) -> list[MaintenanceTask]:
    return [MaintenanceTask(name="purge reports", work=store.purge_reports, every_s=60.0)]
