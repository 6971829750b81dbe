"""What a leader does for people: remove expired sessions, login links and invitations."""

from leasehold.features.people import store
from leasehold.settings import Settings
from leasehold.worker.maintenance import MaintenanceTask


def tasks(settings: Settings) -> list[MaintenanceTask]:
    return [MaintenanceTask(name="purge sessions", work=store.purge_sessions, every_s=60.0)]
